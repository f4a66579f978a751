/** The documentation tells of every check that opens alerts. */
import { expect, it } from 'vitest'
import { ALERTING_IDS, CHECKS } from '../../src/checks/table.ts'
import { rowsUnder } from '../support/docs.ts'

it('lists every check that opens alerts with its words, and no other', () => {
  const announced = { at_once: 'at once', after_failures: 'after failures', once: 'once' }
  expect(rowsUnder('Check')).toEqual(
    ALERTING_IDS.map((id) => {
      const { title, alert = 'at_once', meaning } = CHECKS[id]
      return `| \`${id}\` | ${title} | ${announced[alert]} | ${meaning} |`
    }),
  )
})
