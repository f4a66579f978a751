import { describe, expect, it } from 'vitest'
import { BLOCKS } from '../../src/domain/choices.ts'
import { parseDefinition } from '../../src/report/definition.ts'

const parse = (text: string) => parseDefinition({ path: 'templates/mine/report.yaml', text })

/** Returns the lines of the mistakes after the first. */
function mistakesIn(text: string): string[] {
  try {
    parse(text)
  } catch (error) {
    expect(error).toMatchObject({ code: 'report_template' })
    return (error as Error).message.split('\n').slice(1)
  }
  return []
}

describe('a report.yaml', () => {
  it('may be empty: a day, every block, always sent', () => {
    const definition = { title: null, period: 'day', blocks: BLOCKS, sendWhen: 'always', queries: [] }
    expect(parse('')).toEqual(definition)
    expect(parse('# nothing yet\n')).toEqual(definition)
    expect(parse('queries:\n  # all: of them\n')).toEqual(definition)
  })

  it('says all that a report is made of', () => {
    const definition = parse(`
title: Industries
period: week
blocks: [headline, queries]
send_when: { if_threshold: stalled > 20 }
queries:
  by-industry:
    title: New leads by industry
    note: Most first
    sql: |
      SELECT company_industry, count(*) AS leads
      FROM lead
  won:
    sql: SELECT 1
`)
    expect(definition).toEqual({
      title: 'Industries',
      period: 'week',
      blocks: ['headline', 'queries'],
      sendWhen: { if_threshold: 'stalled > 20' },
      queries: [
        {
          name: 'by-industry',
          title: 'New leads by industry',
          note: 'Most first',
          sql: 'SELECT company_industry, count(*) AS leads\nFROM lead',
          place: 'templates/mine/report.yaml:10:10',
        },
        { name: 'won', title: 'Won', note: null, sql: 'SELECT 1', place: 'templates/mine/report.yaml:14:10' },
      ],
    })
  })
})

it('a mistake in a report.yaml is told with its place, what was found, and what there is', async () => {
  const texts = [
    'period: weeks\nblocks:\n  - headline\n  - kpi\n',
    'titel: Mine\nqueries:\n  one:\n    sql: SELECT 1\n    cut: 3\n',
    'send_when: never',
    'queries:\n  one: { title: One }',
    'queries:\n  One!: { sql: SELECT 1 }',
    '- one',
    'title: [',
  ]
  const told = texts.map((text) => `${text.trimEnd()}\n----\n${mistakesIn(text).join('\n')}\n`)
  await expect(told.join('\n')).toMatchFileSnapshot('golden/definition-mistakes.txt')
})
