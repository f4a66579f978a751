// @both-stores
/** The holidays that a report knows of, and how a week that has some is judged. */
import { expect, it } from 'vitest'
import type { PeriodKind } from '../../../src/domain/figures.ts'
import type { Insight } from '../../../src/domain/insight.ts'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo, localDates, periodOf, priorOf } from '../../../src/domain/period.ts'
import { tryInsight } from '../../../src/jobs/insight/report-insight.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

const ZONE = 'Europe/Berlin'

async function insightOf(
  store: Store,
  kind: PeriodKind,
  at: string,
  holidays: readonly string[],
): Promise<Insight> {
  const now = new Date(`${at}T07:00:00Z`)
  const period = periodOf(kind, now, ZONE, { holidays, lastEnd: null })
  const request = {
    kind,
    period,
    prior: priorOf(kind, period),
    filter: EVERY_LEAD,
    stalledDays: 14,
    topScore: 80,
    rowsMax: 10,
    since: null,
    trendDays: daysUpTo(period.to, 30, ZONE),
  }
  const { insight, failed } = await tryInsight({ store, now: () => now }, request, null, {
    holidays,
    goals: [],
    fiscalYearStarts: 1,
    dataAsOf: null,
    coversPeriod: true,
  })
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

it('a holiday is not judged, and its week is judged by the other days', async () => {
  await using store = await openEmptyStore()
  await save(store, leadsOfWeekdays('2026-11-30', 120, ['2026-11-11', '2026-11-26']))
  const judged = async (kind: PeriodKind, at: string, holidays: readonly string[]) => {
    const { expectations } = await insightOf(store, kind, at, holidays)
    return expectations.find(({ figure, pipeline }) => figure === 'new_leads' && pipeline === null)
  }
  expect(await judged('day', '2026-11-27', [])).toMatchObject({ actual: 0, judgement: 'low' })
  expect(await judged('day', '2026-11-27', ['US'])).toBeUndefined()
  const week = await judged('week', '2026-11-30', ['US'])
  expect(week).toMatchObject({ actual: 160, judgement: 'normal' })
  expect(Math.round(week?.expected ?? 0)).toBe(160)
  const untold = await judged('week', '2026-11-30', [])
  expect(untold?.expected).toBeGreaterThan(185)
})

/** Makes 40 leads for each weekday without the days off. */
function leadsOfWeekdays(end: string, count: number, daysOff: readonly string[]): Lead[] {
  return daysUpTo(`${end}T07:00:00Z`, count, ZONE).flatMap((day) => {
    const date = localDates(day)
    const isOff = [0, 6].includes(new Date(date).getUTCDay()) || daysOff.includes(date)
    return Array.from({ length: isOff ? 0 : 40 }, (_, each): Lead => {
      const at = new Date(Date.parse(day.from) + 3_600_000 + each * 60_000).toISOString()
      return lead(`${date} ${each}`, { createdAt: at, updatedAt: at, statusChangedAt: at })
    })
  })
}
