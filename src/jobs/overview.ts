/**
 * Keeps what the dashboard shows of pipelines and agents, so that a page costs nothing: counted soon after the start, and
 * again whenever a sync has ended, for a day after somebody last looked. What is shown says of when it is.
 */

import { daysBefore, daysUpTo } from '../domain/period.ts'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Instant } from '../model.ts'
import { FAILING, WELL } from '../report/blocks/agents/view.ts'
import { MEAN_DAYS } from '../report/charts/trend-layout.ts'
import type { Store } from '../store/db/store.ts'
import { countOverview, readOverviewMark } from '../store/figures/overview-subprocess.ts'
import type { Overview, OverviewRequest } from '../store/figures/pipeline-overview.ts'
import { findLastWholeRun } from '../store/sync/sync-run.ts'

/** What is new and won is told of so many days, and the longest trend has so many. */
export const PERIOD_DAYS = 30
export const TREND_DAYS_MAX = 365

const LOOK_MS = 10_000
/** While somebody has looked so lately, it is counted before they ask. */
const WANTED_MS = 24 * 60 * 60_000
/** Whoever looks first waits so long for it; the page then says that it is being counted. */
const PATIENCE_MS = 1_500

export interface OverviewDeps {
  readonly store: Pick<Store, 'db' | 'place'>
  readonly now: () => Date
  readonly timeZone: string
  readonly stalledDays: number
  readonly log: Log
}

export interface KeptOverview {
  /** Null where none has been counted yet. */
  readonly overview: Overview | null
  /** Up to when all leads have been read by now; null where they never were. */
  readonly dataAsOf: Instant | null
  /** A newer one is on its way. */
  readonly isBeingCounted: boolean
  /** Why the last one could not be counted; null where it could. */
  readonly failure: string | null
}

export interface OverviewKeeper extends AsyncDisposable {
  read(): Promise<KeptOverview>
}

export function openOverview(deps: OverviewDeps): OverviewKeeper {
  const { store, now, log } = deps
  const { db } = store
  const closing = new AbortController()
  let kept: { readonly mark: string; readonly overview: Overview } | null = null
  let failure: string | null = null
  let counting: Promise<void> | null = null
  let tried: string | null = null
  let askedAtMs = now().getTime()

  async function count(mark: string, asOf: Instant): Promise<void> {
    tried = mark
    try {
      kept = { mark, overview: await countOverview(store, requestOf(deps, asOf), closing.signal) }
      failure = null
    } catch (thrown) {
      if (closing.signal.aborted) return
      failure = errorText(thrown)
      log.error({ err: thrown }, `pipelines and agents cannot be counted: ${failure}`)
    }
  }

  /** Begins to count where something has changed since `last`; gives up to when all leads have been read. */
  async function look(last: string | null): Promise<Instant | null> {
    const mark = await readOverviewMark(db)
    const whole = await findLastWholeRun(db)
    if (whole === undefined) return null
    if (mark !== last && !closing.signal.aborted) {
      counting ??= count(mark, whole.asOf).finally(() => {
        counting = null
      })
    }
    return whole.asOf
  }

  const timer = setInterval(() => {
    if (now().getTime() - askedAtMs > WANTED_MS) return
    // What could not be counted is not tried again before there is something new, or somebody asks.
    look(tried).catch((thrown: unknown) => {
      const isAway = thrown instanceof LeadsheetError && thrown.code === 'store_unreachable'
      // What is away is told by who works with it, once.
      if (closing.signal.aborted || isAway) return
      log.error({ err: thrown }, `pipelines and agents cannot be looked at: ${errorText(thrown)}`)
    })
  }, LOOK_MS)
  timer.unref()

  return {
    async read() {
      askedAtMs = now().getTime()
      const dataAsOf = await look(kept?.mark ?? null)
      if (kept === null && counting !== null) await atMost(PATIENCE_MS, counting)
      return { overview: kept?.overview ?? null, dataAsOf, isBeingCounted: counting !== null, failure }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      closing.abort()
      await counting
    },
  }
}

/** @param asOf up to when all leads have been read: its local day is not over, and so is none that is counted */
function requestOf({ now, timeZone, stalledDays }: OverviewDeps, asOf: Instant): OverviewRequest {
  const period = daysBefore(new Date(asOf), PERIOD_DAYS, timeZone)
  const readings = daysBefore(now(), PERIOD_DAYS, timeZone)
  return {
    ...{ asOf, period, stalledDays },
    trendDays: daysUpTo(period.to, TREND_DAYS_MAX + MEAN_DAYS - 1, timeZone),
    agents: { from: readings.from, to: now().toISOString(), well: WELL, failing: FAILING },
  }
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, promise])
  clearTimeout(timer)
}
