/** The README tells of every check that opens alerts. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ALERTING_IDS, CHECKS } from '../src/checks/table.ts'

it('the README lists every check that opens alerts with its words, and no other', () => {
  const lines = readFileSync('README.md', 'utf8').split('\n')
  const start = lines.findIndex((line) => line.startsWith('| Check |'))
  const rows = lines.slice(start + 2)
  const table = rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith('|')),
  )
  const announced = { at_once: 'at once', after_failures: 'after failures', once: 'once' }
  expect(table).toEqual(
    ALERTING_IDS.map((id) => {
      const { title, alert = 'at_once', meaning } = CHECKS[id]
      return `| \`${id}\` | ${title} | ${announced[alert]} | ${meaning} |`
    }),
  )
})
