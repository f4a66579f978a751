/** The README tells of every reason for which operators are told something. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { REASONS, type ReasonFacts } from '../src/jobs/notice-reasons.ts'

it('the README lists every reason with its words, and no other', () => {
  const lines = readFileSync('README.md', 'utf8').split('\n')
  const start = lines.findIndex((line) => line.startsWith('| Reason |'))
  const rows = lines.slice(start + 2)
  const table = rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith('|')),
  )
  const told = ({ isEvent, counts }: ReasonFacts) =>
    isEvent ? 'once' : counts === 'at_once' ? 'at once' : 'after failures'
  expect(table).toEqual(
    Object.entries(REASONS).map(
      ([reason, facts]) => `| \`${reason}\` | ${facts.title} | ${told(facts)} | ${facts.meaning} |`,
    ),
  )
})
