/** The questions of a report to the copy and to the judgement of its numbers, for tests. */
import { expect } from 'vitest'
import type { Insight } from '../../../src/domain/insight.ts'
import { daysUpTo, periodOf, priorOf } from '../../../src/domain/period.ts'
import type { JudgedReport } from '../../../src/jobs/insight/judge-numbers.ts'
import { tryInsight } from '../../../src/jobs/insight/report-insight.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import type { ReportRequest } from '../../../src/store/figures/report-figures.ts'

/** A report whose data cover its period, without holidays and goals. */
export const COVERED: JudgedReport = {
  holidays: [],
  goals: [],
  fiscalYearStarts: 1,
  dataAsOf: null,
  coversPeriod: true,
}

/** Reads what a report that is due now says of its numbers. Nothing of it may fail. */
export async function readInsight(
  store: Store,
  request: ReportRequest,
  now: Date,
  holidays: readonly string[] = [],
): Promise<Insight> {
  const { insight, failed } = await tryInsight({ store, now: () => now }, request, null, {
    ...COVERED,
    holidays,
  })
  expect(failed).toEqual([])
  if (insight === null) throw new Error('there is no insight')
  return insight
}

/** Returns the request of a report that is due now, about the period before. */
export function requestOf(
  kind: ReportRequest['kind'],
  now: Date,
  timeZone: string,
  change: Partial<ReportRequest> & { readonly holidays?: readonly string[] } = {},
): ReportRequest {
  const { holidays = [], ...other } = change
  const period = periodOf(kind, now, timeZone, { holidays, lastEnd: null })
  return {
    kind,
    period,
    prior: priorOf(kind, period),
    filter: EVERY_LEAD,
    stalledDays: 14,
    topScore: 80,
    rowsMax: 10,
    since: null,
    trendDays: daysUpTo(period.to, 30, timeZone),
    ...other,
  }
}
