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

describe('a mistake in a report.yaml', () => {
  it('is told with its place, what was found, and what there is', () => {
    expect(mistakesIn('period: weeks\nblocks:\n  - headline\n  - kpi\n')).toEqual([
      '  templates/mine/report.yaml:1:9  period: found "weeks", expected one of day, working_day, week, month, quarter, since_last',
      `  templates/mine/report.yaml:4:5  blocks[1]: found "kpi", expected one of ${BLOCKS.join(', ')}`,
    ])
  })

  it('of a name is told with the names that there are', () => {
    expect(mistakesIn('titel: Mine\nqueries:\n  one:\n    sql: SELECT 1\n    cut: 3\n')).toEqual([
      '  templates/mine/report.yaml:5:5  queries.one.cut: there is no such setting; known here: title, note, sql',
      '  templates/mine/report.yaml:1:1  titel: there is no such setting; known here: title, period, blocks, send_when, queries',
    ])
  })

  it.each([
    [
      'send_when: never',
      '1:12  send_when: found "never", expected always, if_rows, or if_threshold with a condition',
    ],
    ['queries:\n  one: { title: One }', '2:3  queries.one.sql: not set, expected a SELECT'],
    [
      'queries:\n  One!: { sql: SELECT 1 }',
      '2:3  queries.One!: expected a name of lower-case letters, digits and hyphens',
    ],
    ['- one', '1:1  report.yaml: found ["one"], expected names and values, indented below'],
    ['title: [', '1:9  '],
  ])('%j is told', (text, told) => {
    expect(mistakesIn(text)[0]).toMatch(`  templates/mine/report.yaml:${told}`)
  })
})
