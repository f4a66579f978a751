/**
 * Keeps the dashboard's figures and outlook in memory. They are counted when somebody opens the
 * overview after a sync.
 */
import type { Annotation, Goal, JudgedWinRate, Pace } from '../domain/insight.ts'
import type { Instant } from '../domain/model.ts'
import { daysBefore, daysUpTo } from '../domain/period.ts'
import { errorText } from '../errors.ts'
import type { Log } from '../log.ts'
import { FAILING, WELL } from '../report/blocks/agents/view.ts'
import { MEAN_DAYS } from '../report/charts/trend-layout.ts'
import type { Store } from '../store/db/store.ts'
import {
  countOverview,
  type Overview,
  type OverviewRequest,
  readOverviewMark,
} from '../store/figures/pipeline-overview.ts'
import { listAnnotations } from '../store/insight/annotation.ts'
import { listNames } from '../store/insight/daily-count.ts'
import { findLastWholeRun } from '../store/sync/sync-run.ts'
import { forecastEnds } from './insight/forecast.ts'
import { readerOf, readReportRates } from './insight/judge-numbers.ts'
import { judgeWinRate } from './insight/judge-win-rate.ts'
import { listCountedDates, readTrackRecord, type TrackRecord } from './insight/track-record.ts'

export const PERIOD_DAYS = 30
export const TREND_DAYS_MAX = 365

/** The time for which a visitor waits for the count. After that the page says that the overview is being counted. */
const PATIENCE_MS = 1_500

interface OverviewDeps {
  readonly store: Pick<Store, 'db' | 'place'>
  readonly now: () => Date
  readonly timeZone: string
  readonly stalledDays: number
  readonly log: Log
}

export interface KeptOverview {
  readonly overview: Overview | null
  /** The time up to which all leads have been read; null if no sync has read all leads yet. */
  readonly dataAsOf: Instant | null
  readonly isBeingCounted: boolean
  readonly failure: string | null
}

export interface OverviewKeeper extends AsyncDisposable {
  read(): Promise<KeptOverview>
}

export function openOverview(deps: OverviewDeps, patienceMs = PATIENCE_MS): OverviewKeeper {
  const { store, log } = deps
  const { db } = store
  const closing = new AbortController()
  let kept: { readonly mark: string; readonly overview: Overview } | null = null
  let failure: string | null = null
  let counting: Promise<void> | null = null

  async function count(mark: string, asOf: Instant): Promise<void> {
    try {
      kept = { mark, overview: await countOverview(store, requestOf(deps, asOf), closing.signal) }
      failure = null
    } catch (thrown) {
      if (closing.signal.aborted) return
      failure = errorText(thrown)
      log.error({ err: thrown }, `pipelines and agents cannot be counted: ${failure}`)
    }
  }

  return {
    async read() {
      const mark = await readOverviewMark(db)
      const dataAsOf = (await findLastWholeRun(db))?.asOf ?? null
      if (dataAsOf !== null && mark !== kept?.mark && !closing.signal.aborted) {
        counting ??= count(mark, dataAsOf).finally(() => {
          counting = null
        })
        await atMost(patienceMs, counting)
      }
      return { overview: kept?.overview ?? null, dataAsOf, isBeingCounted: counting !== null, failure }
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await counting
    },
  }
}

/** @param asOf its local day is left out, because it is not over */
function requestOf({ now, timeZone, stalledDays }: OverviewDeps, asOf: Instant): OverviewRequest {
  const period = daysBefore(new Date(asOf), PERIOD_DAYS, timeZone)
  const samples = daysBefore(now(), PERIOD_DAYS, timeZone)
  return {
    asOf,
    period,
    stalledDays,
    trendDays: daysUpTo(period.to, TREND_DAYS_MAX + MEAN_DAYS - 1, timeZone),
    agents: { from: samples.from, to: now().toISOString(), well: WELL, failing: FAILING },
  }
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, promise])
  clearTimeout(timer)
}

interface Outlook {
  readonly lastDay: string
  readonly paces: readonly Pace[]
  /**
   * First the rate of all leads (or of the requested pipeline), then of each pipeline if there are several.
   */
  readonly winRates: readonly JudgedWinRate[]
}

export interface OutlookReader {
  /**
   * Reads the outlook of a pipeline, or of all leads. The outlook is counted anew after each sync and after
   * each change of annotations.
   * @returns null if no days have been counted yet
   */
  read(pipelineId: string | null): Promise<Outlook | null>
}

export function createOutlook(deps: {
  readonly store: Pick<Store, 'db'>
  readonly timeZone: string
  readonly goals: readonly Goal[]
  readonly fiscalYearStarts: number
  readonly holidays: readonly string[]
}): OutlookReader {
  const { store, timeZone, goals, fiscalYearStarts, holidays } = deps
  let kept = { key: '', outlooks: new Map<string | null, Promise<Outlook>>() }

  async function readOutlook(
    dates: readonly string[],
    annotations: readonly Annotation[],
    trackRecord: TrackRecord,
    pipelineId: string | null,
  ): Promise<Outlook> {
    const pipelineIds = pipelineId === null ? null : [pipelineId]
    const reader = readerOf(store, { dates, period: { timeZone }, pipelineIds })
    const leftOut = { pipelineIds, annotations, holidays, trackRecord }
    const names = await listNames(store.db)
    const paces = await forecastEnds(reader, {
      goals,
      fiscalYearStarts,
      names,
      isWithMonths: true,
      ...leftOut,
    })
    const rates = await readReportRates(reader, names, leftOut)
    return {
      lastDay: dates.at(-1) ?? '',
      paces,
      winRates: rates.map((rate) => judgeWinRate(rate).judged),
    }
  }

  return {
    async read(pipelineId) {
      const asOf: Instant | undefined = (await findLastWholeRun(store.db))?.asOf
      if (asOf === undefined) return null
      const dates = await listCountedDates(store.db, asOf, timeZone)
      if (dates.length === 0) return null
      const annotations = await listAnnotations(store.db)
      const trackRecord = await readTrackRecord(store.db, timeZone, dates)
      const key = JSON.stringify([asOf, dates.at(-1), annotations, trackRecord.records])
      if (kept.key !== key) kept = { key, outlooks: new Map() }
      const { outlooks } = kept
      const outlook = outlooks.get(pipelineId) ?? readOutlook(dates, annotations, trackRecord, pipelineId)
      outlooks.set(pipelineId, outlook)
      outlook.catch(() => outlooks.delete(pipelineId))
      return outlook
    },
  }
}
