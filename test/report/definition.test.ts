import { expect, it } from 'vitest'
import { LeadsheetError } from '../../src/errors.ts'
import { parseDefinition } from '../../src/report/definition.ts'

const TEXTS = [
  // A day, every block, always sent.
  '',
  '# nothing yet',
  'queries:\n  # all: of them',
  `title: Industries
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
    sql: SELECT 1`,
  'period: weeks\nblocks:\n  - headline\n  - kpi',
  'titel: Mine\nqueries:\n  one:\n    sql: SELECT 1\n    cut: 3',
  'send_when: never',
  'queries:\n  one: { title: One }',
  'queries:\n  One!: { sql: SELECT 1 }',
  '- one',
  'title: [',
]

/** Returns the definition, or the mistakes. */
function told(text: string): string {
  try {
    return JSON.stringify(parseDefinition({ path: 'templates/mine/report.yaml', text: `${text}\n` }), null, 1)
  } catch (error) {
    if (!(error instanceof LeadsheetError)) throw error
    return `${error.code}: ${error.message}`
  }
}

it('a report.yaml says what a report is made of, and its mistakes are told with their place, what was found, and what there is', async () => {
  const parts = TEXTS.map((text) => `${text}\n----\n${told(text)}\n`)
  await expect(parts.join('\n')).toMatchFileSnapshot('golden/definitions.txt')
})
