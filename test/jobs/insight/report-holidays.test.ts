// @both-stores
/** The holidays that a report knows of, and how a week that has some is judged. */
import { expect, it } from 'vitest'
import type { PeriodKind } from '../../../src/domain/figures.ts'
import type { Insight } from '../../../src/domain/insight.ts'
import { tryInsight } from '../../../src/jobs/insight/report-insight.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { COVERED, requestOf } from '../../support/reports/request.ts'
import { openEmptyStore } from '../../support/store.ts'

const ZONE = 'Europe/Berlin'

async function insightOf(
  store: Store,
  kind: PeriodKind,
  at: string,
  holidays: readonly string[],
): Promise<Insight> {
  const now = new Date(`${at}T07:00:00Z`)
  const request = requestOf(kind, now, ZONE, { holidays })
  const report = { ...COVERED, holidays }
  const { insight, failed } = await tryInsight({ store, now: () => now }, request, null, report)
  expect(failed).toEqual([])
  if (insight === null) throw new Error('there is no insight')
  return insight
}

it.each([
  // The trend of 30 days has Veterans Day too.
  ['day', '2026-11-27', ['US'], ['2026-11-11', '2026-11-26'], 1],
  ['day', '2026-11-28', ['US'], ['2026-11-11', '2026-11-26'], 0],
  // The last working day and the day off after it.
  ['working_day', '2026-11-27', ['US'], ['2026-11-11', '2026-11-26'], 1],
  // The second day of Christmas is a Saturday.
  ['week', '2026-12-28', ['DE'], ['2026-12-25', '2026-12-26'], 1],
  ['week', '2026-12-28', ['DE', '2026-12-24: Betriebsferien'], ['2026-12-24', '2026-12-25', '2026-12-26'], 2],
  ['day', '2026-11-27', [], [], 0],
] as const)('a report of the %s before %s with %j names %j', async (kind, at, holidays, days, count) => {
  await using store = await openEmptyStore()
  const insight = await insightOf(store, kind, at, holidays)
  expect(insight.holidays?.map(({ day }) => day)).toEqual(days)
  expect(insight.holidayCount).toBe(count)
})

it('a report has the names of its holidays in each language', async () => {
  await using store = await openEmptyStore()
  const { holidays } = await insightOf(store, 'week', '2026-12-28', [
    'DE-BY',
    '2026-12-24: Betriebsferien',
    '2026-12-23',
  ])
  expect(holidays?.slice(-4)).toEqual([
    { day: '2026-12-23', names: {} },
    { day: '2026-12-24', names: { en: 'Betriebsferien', de: 'Betriebsferien' } },
    { day: '2026-12-25', names: { en: 'Christmas Day', de: '1. Weihnachtstag' } },
    { day: '2026-12-26', names: { en: 'Boxing Day', de: '2. Weihnachtstag' } },
  ])
})
