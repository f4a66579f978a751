/**
 * The gate before a report: checks that all data up to the end of the report's period was read. It starts
 * syncs and waits for them until the deadline, which is the report's setting `wait_minutes`; then the settings decide whether the report is sent with a
 * banner, held or skipped. Because the gate stores nothing, a report can pass through it again.
 */

import type { UnusualWarning } from '../../domain/figures.ts'
import type { Instant, Period } from '../../domain/model.ts'
import type { Freshness } from '../../domain/sync.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import { listOld, type Resource } from '../../report/warnings-banner.ts'
import type { Db } from '../../store/db/store.ts'
import { readFreshness } from '../../store/figures/freshness-figures.ts'
import { readFigure } from '../../store/figures/query.ts'
import { findLastSent } from '../../store/reports/issue.ts'
import { findLastRun, type LastRun } from '../../store/sync/sync-run.ts'
import { readWatermark } from '../../store/sync/watermark.ts'
import { formatUtc } from '../../time.ts'
import type { DueRun, RunEnd } from '../schedule/schedule.ts'
import { SYNC_PARTS, type SyncDeps, sync } from '../sync/run-sync.ts'
import type { SyncOptions } from '../sync/sync-context.ts'
import { findPeriod } from './make-issue.ts'
import { type Reader, type Report, variantOf } from './report-definition.ts'
import { findUnusual } from './volume-anomaly.ts'

export interface GateDeps extends SyncDeps {
  readonly syncOptions: (signal: AbortSignal) => SyncOptions
}

/** The freshness of the data of a report for its period. */
interface DataState {
  readonly period: Period
  readonly freshness: Freshness
  /** The resources that any recipient's report shows and that were last read before the end of the period. */
  readonly old: readonly Resource[]
}

/** Reports show no lead details, so a report never waits for the details. */
const REPORTED_PARTS = SYNC_PARTS.filter((part) => part !== 'details')
const MINUTE_MS = 60_000
/** The wait after a failed sync before the gate starts another. */
const RETRY_MINUTES = 5
/** The wait if the API key was refused or the deadline has passed; equal to the default interval of syncs. */
const RARE_RETRY_MINUTES = 15
const REFUSALS: readonly string[] = ['api_unauthorized', 'api_forbidden']

/**
 * Decides whether the report may be made now: returns null if it may, else the new state of its scheduled
 * run.
 * @param next the time of the next scheduled run, before which the wait must end; null if there is none
 * @throws LeadsheetError such as store_busy; errors of the sync are only logged
 */
export async function passGate(
  work: GateDeps,
  report: Report,
  readers: readonly Reader[],
  due: DueRun,
  next: Date | null,
  signal: AbortSignal,
): Promise<RunEnd | null> {
  if (due.isReleased) return null
  let state = await readState(work, report, readers, due.due_at)
  const deadline = deadlineOf(report, due, next)
  if (state.old.length > 0 && (await nextTry(work, deadline)) <= work.now()) {
    await syncQuietly(work, signal)
    state = await readState(work, report, readers, due.due_at)
  }
  if (state.old.length > 0 && work.now() < deadline && !signal.aborted) {
    const until = new Date(Math.min((await nextTry(work, deadline)).getTime(), deadline.getTime()))
    const message = `waits until ${formatUtc(deadline.toISOString())} for data: ${formatOld(state)}`
    return {
      state: 'again',
      isWait: true,
      message,
      notBefore: until > work.now() ? until.toISOString() : null,
    }
  }
  return judge(work, report, readers, state)
}

function deadlineOf({ gate }: Report, { notedAt }: DueRun, next: Date | null): Date {
  const last = next === null ? Number.POSITIVE_INFINITY : next.getTime() - MINUTE_MS
  return new Date(Math.min(notedAt.getTime() + gate.waitMinutes * MINUTE_MS, last))
}

/**
 * Checks the data of a report that is sent by hand; never waits.
 * @throws LeadsheetError report_held if the settings would hold or skip the report
 */
export async function requireGoodData(
  deps: Pick<SyncDeps, 'store'>,
  report: Report,
  readers: readonly Reader[],
  at: Date,
): Promise<void> {
  const state = await readState(deps, report, readers, at)
  const end = await judge(deps, report, readers, state)
  if (end === null) return
  const first = state.old.length > 0 ? `Run ${shellCommand('sync')} first` : 'See whether that is so'
  throw new LeadsheetError(
    'report_held',
    `The report ${report.name} is ${end.state} as its settings say: ${end.message}`,
    { hint: `${first}; with --force it goes out as it is, and says so.` },
  )
}

async function readState(
  { store }: Pick<SyncDeps, 'store'>,
  report: Report,
  readers: readonly Reader[],
  at: Date,
): Promise<DataState> {
  const period = await findPeriod(store, report, at)
  const freshness = await readFreshness(store.db, period.to)
  const old = new Set(readers.flatMap(({ filter, blocks }) => listOld({ freshness, period, filter }, blocks)))
  return { period, freshness, old: [...old] }
}

/**
 * Applies the settings for old or unusual data once the wait is over; returns null if the report may be made.
 */
async function judge(
  { store }: Pick<SyncDeps, 'store'>,
  report: Report,
  readers: readonly Reader[],
  state: DataState,
): Promise<{ readonly state: 'held' | 'skipped'; readonly message: string } | null> {
  const { onStaleData, onVolumeDrop } = report.gate
  if (state.old.length > 0 && onStaleData !== 'send_with_banner') {
    return { state: onStaleData === 'hold' ? 'held' : 'skipped', message: formatOld(state) }
  }
  if (onVolumeDrop !== 'hold') return null
  const unusual = await readUnusual(store.db, report, readers, state.period)
  return unusual.length === 0 ? null : { state: 'held', message: unusual.map(formatUnusual).join('; ') }
}

/** Collects the volume warnings of all issues of the report, each once. */
async function readUnusual(
  db: Db,
  report: Report,
  readers: readonly Reader[],
  { from, to }: Period,
): Promise<UnusualWarning[]> {
  const { name, kind, stalledDays } = report
  const found = new Map<string, UnusualWarning>()
  for (const [variant, [reader]] of Map.groupBy(readers, (one) => variantOf(report, one))) {
    if (reader === undefined) continue
    const { filter } = reader
    const [leads] = await readFigure(db, 'leads', { from, to, filter, stalledDays, asKnownAt: null })
    const last = await findLastSent(db, { report: name, kind, variant }, to)
    const now = { leads: leads?.value ?? 0, filter }
    for (const warning of await findUnusual(db, now, last?.figures ?? null))
      found.set(JSON.stringify(warning), warning)
  }
  return [...found.values()]
}

/**
 * Returns the time at which the gate may start the next sync. An upstream whose last sync failed gets fewer
 * requests.
 */
async function nextTry({ store, now }: Pick<SyncDeps, 'store' | 'now'>, deadline: Date): Promise<Date> {
  const { notBefore } = await readWatermark(store.db)
  const last = await findLastRun(store.db)
  // A run with a time in the future was stored while the clock was wrong, and is ignored.
  const isKnown = last !== null && last.at <= now().toISOString()
  const at = isKnown ? Date.parse(last.at) + pauseMinutes(last, now() < deadline) * MINUTE_MS : 0
  return new Date(Math.max(at, notBefore === null ? 0 : Date.parse(notBefore)))
}

/**
 * Returns the wait in minutes after the last sync. After a successful sync there is no wait, because it only
 * started before the period ended. After a sync without an outcome there is none either, because that sync is
 * still running or was killed.
 */
function pauseMinutes({ outcome, problems }: LastRun, isWaiting: boolean): number {
  if (outcome === null || outcome === 'ok' || outcome === 'ok_no_change') return 0
  const isRefused = problems.some(({ code }) => REFUSALS.includes(code))
  return isRefused || !isWaiting ? RARE_RETRY_MINUTES : RETRY_MINUTES
}

async function syncQuietly(work: GateDeps, signal: AbortSignal): Promise<void> {
  try {
    await sync(work, { ...work.syncOptions(signal), parts: REPORTED_PARTS })
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    work.log.warn({ code: thrown.code }, errorText(thrown))
  }
}

/**
 * Describes which data is old: `the leads are of 2026-11-20 14:10 UTC, the report ends 2026-11-21 00:00 UTC;
 * the last sync: …`
 */
function formatOld({ freshness, old, period }: DataState): string {
  const { dataAsOf, statsAsOf, agentsAsOf, lastFailure } = freshness
  const asOf: Readonly<Record<Resource, Instant | null>> = {
    leads: dataAsOf,
    stats: statsAsOf,
    agents: agentsAsOf,
  }
  const names = { leads: 'leads', stats: 'statistics', agents: 'agents' }
  // If the leads are old, only they are named, because everything else is then old too.
  const named: readonly Resource[] = old.includes('leads') ? ['leads'] : old
  const told = named.map((resource) => {
    const at = asOf[resource]
    return at === null
      ? `no sync has read all ${names[resource]} yet`
      : `the ${names[resource]} are of ${formatUtc(at)}`
  })
  const failure = lastFailure === null ? '' : `; the last sync: ${lastFailure.message}`
  return `${told.join(', ')}, the report ends ${formatUtc(period.to)}${failure}`
}

function formatUnusual({ what, was, is }: UnusualWarning): string {
  switch (what) {
    case 'scope':
      return `the report is about ${is} leads, and was about ${was} when it was last sent`
    case 'scan':
      return `the last whole reading of the list met ${is} leads, the one before it ${was}`
    case 'removal':
      return `the last whole reading of the list met only ${is} of ${was} leads`
  }
}
