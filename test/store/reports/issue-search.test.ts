// @both-stores
/** The search finds the same in both databases, although each has its own index. */
import { expect, it } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { findIssues } from '../../../src/store/reports/issue-search.ts'
import { busyDay } from '../../support/reports/figures.ts'
import { openEmptyStore } from '../../support/store.ts'

const LONG = 'x'.repeat(5_000)

const TEXTS = [
  ['Thursday', 'Leads in the copy: 5,706\nMüller & Söhne is new; Straße 7'],
  ['Friday', 'Acme Corp, O’Neil and "Quoted" won 100% of 2026-11'],
  ['Москва', `東京 ${LONG} 각`],
] as const

it.each([
  ['muller', ['Thursday']],
  ['MÜLLER SOHNE', ['Thursday']],
  ['sohne muller', []],
  ['straße', ['Thursday']],
  ['5,7', ['Thursday']],
  ['lead', ['Thursday']],
  ['eads', []],
  ['acme co', ['Friday']],
  ['acme o', []],
  ["o'neil", ['Friday']],
  ['"quoted"', ['Friday']],
  ['100%', ['Friday']],
  ['1_0', []],
  ['2026-1', ['Friday']],
  ['friday', ['Friday']],
  ['friday acme', []],
  ['daily', ['Thursday', 'Friday', 'Москва']],
  ['germany', ['Friday']],
  ['МОСК', ['Москва']],
  ['東', ['Москва']],
  ['가', []],
  ['각', ['Москва']],
  [LONG, ['Москва']],
  ['!', []],
])('%.20s finds %j', async (words, found) => {
  await using store = await openEmptyStore()
  for (const [index, [subject, text]] of TEXTS.entries()) {
    await store.write((trx) =>
      saveIssue(trx, {
        ...{ report: 'daily', subject, text, html: '', programVersion: '1.2.3', figures: busyDay() },
        variant: subject === 'Friday' ? '{"conditions":[{"field":"company_country","in":["Germany"]}]}' : '',
        period: periodBetween(`2026-11-1${index}`, `2026-11-1${index + 1}`, 'UTC'),
        renderedAt: '2026-11-21T07:00:00.000Z',
      }),
    )
  }
  const question = { report: null, state: null, terms: [{ words }], after: null }
  const ids = await findIssues(store.db, question, 10)
  const subjects = await store.db.selectFrom('report_issue').select(['id', 'subject']).execute()
  const names = ids.map((id) => subjects.find((each) => each.id === id)?.subject)
  expect(names.toSorted()).toEqual([...found].sort())
})
