/**
 * Reads the insight of a report: the normal ranges of its numbers, forecasts, urgent leads and notes. The
 * counts by day are updated first, because the ranges and forecasts are computed from them.
 */

import type { FailedSection } from '../../domain/figures.ts'
import { type DayNote, type Insight, isAbout, type OldLeadCount } from '../../domain/insight.ts'
import type { Money } from '../../domain/model.ts'
import { localDates } from '../../domain/period.ts'
import { errorText, LeadsheetError } from '../../errors.ts'
import { LANGUAGES } from '../../report/words/catalogue.ts'
import { listHolidays } from '../../schedule/holidays.ts'
import { weekdayOf } from '../../schedule/zone.ts'
import type { Db } from '../../store/db/store.ts'
import { inReadTransaction } from '../../store/figures/query.ts'
import { type ReportRequest, scopeOf } from '../../store/figures/report-figures.ts'
import { fillFilteredLeads } from '../../store/figures/temp-tables.ts'
import { listAnnotations } from '../../store/insight/annotation.ts'
import { listNames } from '../../store/insight/daily-count.ts'
import { findBackfill } from '../../store/insight/import.ts'
import {
  readOldLeads,
  readStallThresholds,
  refreshStallThresholds,
} from '../../store/insight/stall-threshold.ts'
import { readTodayLeads } from '../../store/insight/today-leads.ts'
import type { JobDeps } from '../job-deps.ts'
import { type JudgedReport, judgeNumbers } from './judge-numbers.ts'

/** A later report lists no leads to act on, because only their present state is known. */
const PAST_DAYS = 7
const NOTHING_DUE = { total: 0, value: [], byOwner: [], rows: [] }
const DAY_MS = 86_400_000
/** A report lists leads that will stall within this many days: up to the next report, or a little more. */
const STALLING_DAYS = { day: 3, working_day: 3, since_last: 3, week: 7, month: 14, quarter: 14 } as const

/**
 * Reads the insight of a report. If that fails, the report is sent without it and says so.
 * @throws LeadsheetError store_unreachable
 */
export async function tryInsight(
  ...given: Parameters<typeof readInsight>
): Promise<{ insight: Insight | null; failed: readonly FailedSection[] }> {
  try {
    return { insight: await readInsight(...given), failed: [] }
  } catch (thrown) {
    if (thrown instanceof LeadsheetError && thrown.code === 'store_unreachable') throw thrown
    return { insight: null, failed: [{ block: 'today', query: null, message: errorText(thrown) }] }
  }
}

async function readInsight(
  { store, now }: Pick<JobDeps, 'store' | 'now'>,
  request: ReportRequest,
  last: Insight | null,
  report: JudgedReport,
): Promise<Insight> {
  await refreshStallThresholds(store, now())
  const judged = await judgeNumbers({ store, now }, request, report, last?.lastUnusual ?? {})
  const scope = { ...scopeOf(request, request.period), to: report.dataAsOf ?? request.period.to }
  const isPast = now().getTime() - Date.parse(request.period.to) > PAST_DAYS * DAY_MS
  const { today, oldLeads } = await inReadTransaction(store.db, async (trx) => {
    const chosen = await fillFilteredLeads(trx, scope)
    const options = {
      thresholds: await readStallThresholds(trx.db),
      horizonDays: STALLING_DAYS[request.kind],
      topScore: request.topScore,
      rowsMax: request.rowsMax,
    }
    return {
      today: isPast ? NOTHING_DUE : await readTodayLeads(chosen, scope, options),
      oldLeads: await readOldLeads(trx.db),
    }
  })
  const { first, last: lastShown } = datesShown(request)
  const isFiltered = request.filter.conditions.length > 0
  const since = request.since?.knownAt ?? request.period.from
  return {
    ...judged,
    imports: judged.imports?.filter(({ day }) => day >= first && day <= lastShown) ?? [],
    backfill: isPast || isFiltered ? null : await findBackfill(store.db, since, request.filter.pipelineIds),
    notes: await readNotes(store.db, request),
    today,
    ...holidaysOf(request, report),
    oldLeads: isPast || isFiltered ? null : oldLeadsOf(oldLeads, request),
  }
}

function holidaysOf(
  request: ReportRequest,
  { holidays }: JudgedReport,
): Pick<Insight, 'holidays' | 'holidayCount'> {
  const { first, last } = datesShown(request)
  const shown = listHolidays(holidays, first, last, LANGUAGES)
  const [start = ''] = localDates(request.period).split('--')
  const isCounted = (day: string) => day >= start && weekdayOf(Date.parse(day) / DAY_MS) <= 5
  return { holidays: shown, holidayCount: shown.filter(({ day }) => isCounted(day)).length }
}

/** Returns the first and the last local date of the period and the charts. */
function datesShown({ period, trendDays }: ReportRequest): { first: string; last: string } {
  const from = [period, ...trendDays].map((each) => each.from).sort()[0] ?? period.from
  const [first = '', last = first] = localDates({ ...period, from }).split('--')
  return { first, last }
}

async function readNotes(db: Db, request: ReportRequest): Promise<DayNote[]> {
  const { filter } = request
  const { first, last } = datesShown(request)
  const names = await listNames(db)
  return (await listAnnotations(db))
    .filter((each) => each.firstDay <= last && each.lastDay >= first && isAbout(each, filter.pipelineIds))
    .map(({ firstDay, lastDay, text, pipelineId: id, isLeftOut }) => ({
      firstDay,
      lastDay,
      text,
      isLeftOut,
      pipeline: id === null ? null : { id, name: names.get(id) ?? id },
    }))
}

/** Null if old leads were not counted, or if the age of an old lead is unknown. */
function oldLeadsOf(
  counted: Awaited<ReturnType<typeof readOldLeads>>,
  { filter }: ReportRequest,
): OldLeadCount | null {
  if (counted === null || counted.age.days === null) return null
  const leads = counted.leads.filter(
    ({ pipelineId }) => filter.pipelineIds === null || filter.pipelineIds.includes(pipelineId),
  )
  const value = new Map<string, number>()
  for (const { currency, value: amount } of leads)
    if (currency !== '') value.set(currency, (value.get(currency) ?? 0) + amount)
  const moneys: Money[] = [...value].map(([currency, amount]) => ({ amount, currency }))
  return {
    old: leads.reduce((sum, { old }) => sum + old, 0),
    open: leads.reduce((sum, { open }) => sum + open, 0),
    value: moneys.sort((one, other) => other.amount - one.amount),
    ageDays: counted.age.days,
    winners: counted.age.winners,
    countedAt: counted.countedAt,
  }
}
