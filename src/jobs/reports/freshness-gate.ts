/**
 * The gate before a report: checks that all data up to the end of the report's period was read. The gate
 * starts syncs and waits for them until a deadline. A setting of the report decides the deadline
 * (`config/schema-reports.ts`). After the deadline the settings decide whether the report is sent and
 * says so, held for an operator, or skipped. The gate stores nothing, so a report can pass through it again.
 */

import type { Instant } from '../../domain/model.ts'
import type { ReportedPart } from '../../domain/sync.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { listOld } from '../../report/warnings.ts'
import { readFreshness } from '../../store/figures/freshness-figures.ts'
import { listRuns } from '../../store/sync/sync-run.ts'
import { readWatermark } from '../../store/sync/watermark.ts'
import { formatUtc, MINUTE_MS } from '../../time.ts'
import { tryQuietly } from '../schedule/job-failure.ts'
import type { DueRun, RunEnd } from '../schedule/schedule.ts'
import { SYNC_PARTS, sync } from '../sync/run-sync.ts'
import type { SyncDeps, SyncOptions } from '../sync/sync-context.ts'
import { findPeriod } from './make-issue.ts'
import type { Audience, Report } from './report-definition.ts'

export interface GateDeps extends SyncDeps {
  readonly syncOptions: (signal: AbortSignal) => SyncOptions
}

type DataState = Awaited<ReturnType<typeof readState>>

/** A report never waits for details. */
const REPORTED_PARTS = SYNC_PARTS.filter((part) => part !== 'details')
/** The wait after a failed sync, so that the upstream gets fewer requests. */
const RETRY_MS = 5 * MINUTE_MS

/**
 * Decides whether the report may be made now.
 * @param next the time of the next scheduled run, before which the wait must end; null if there is none
 * @returns null if the report may be made, otherwise the new state of its scheduled run
 * @throws LeadsheetError such as store_busy; errors of a sync are only logged
 */
export async function checkFreshness(
  work: GateDeps,
  report: Report,
  audiences: readonly Audience[],
  due: DueRun,
  next: Date | null,
  signal: AbortSignal,
): Promise<RunEnd | null> {
  if (due.isApproved) return null
  let state = await readState(work, report, audiences, due.dueAt)
  const deadline = deadlineOf(report, due, next)
  if (state.old.length > 0 && (await nextTry(work)) <= work.now()) {
    const options = { ...work.syncOptions(signal), parts: REPORTED_PARTS }
    await tryQuietly(work.log, signal, () => sync(work, options))
    state = await readState(work, report, audiences, due.dueAt)
  }
  if (state.old.length > 0 && work.now() < deadline && !signal.aborted) {
    const until = new Date(Math.min((await nextTry(work)).getTime(), deadline.getTime()))
    const message = `waits until ${formatUtc(deadline.toISOString())} for data: ${formatOld(state)}`
    return {
      state: 'again',
      isWait: true,
      message,
      notBefore: until > work.now() ? until.toISOString() : null,
    }
  }
  return judge(report, state)
}

function deadlineOf({ gate }: Report, { notedAt }: DueRun, next: Date | null): Date {
  const last = next === null ? Number.POSITIVE_INFINITY : next.getTime() - MINUTE_MS
  return new Date(Math.min(notedAt.getTime() + gate.waitMinutes * MINUTE_MS, last))
}

/**
 * Never waits for a sync.
 * @throws LeadsheetError report_held if the settings would hold or skip the report
 */
export async function requireGoodData(
  deps: Pick<SyncDeps, 'store'>,
  report: Report,
  audiences: readonly Audience[],
  at: Date,
): Promise<void> {
  const state = await readState(deps, report, audiences, at)
  const end = judge(report, state)
  if (end === null) return
  throw new LeadsheetError(
    'report_held',
    `The report ${report.name} is ${end.state} as its settings say: ${end.message}`,
    { hint: `Run ${shellCommand('sync')} first; with --force it goes out as it is, and says so.` },
  )
}

async function readState(
  { store }: Pick<SyncDeps, 'store'>,
  report: Report,
  audiences: readonly Audience[],
  at: Date,
) {
  const period = await findPeriod(store, report, at)
  const freshness = await readFreshness(store.db, period.to)
  /** Shown to at least one recipient, and last read before the end of the period. */
  const old = new Set(
    audiences.flatMap(({ filter, blocks }) => listOld({ freshness, period, filter }, blocks)),
  )
  return { period, freshness, old: [...old] }
}

/** @returns null if the report may be made, otherwise the new state of its scheduled run */
function judge(
  { gate: { onStaleData } }: Report,
  state: DataState,
): { readonly state: 'held' | 'skipped'; readonly message: string } | null {
  if (state.old.length === 0 || onStaleData === 'send') return null
  return { state: onStaleData === 'hold' ? 'held' : 'skipped', message: formatOld(state) }
}

/**
 * Returns when the next sync may start. There is no wait after a good sync: its data is too old only because it
 * started before the period ended. Nor is there one after a sync without an outcome, which is still running or was
 * killed.
 */
async function nextTry({ store, now }: Pick<SyncDeps, 'store' | 'now'>): Promise<Date> {
  const { notBefore } = await readWatermark(store.db)
  const [last] = await listRuns(store.db, 1)
  const endedAt = last?.finishedAt ?? last?.startedAt ?? ''
  // A sync with a time in the future was stored while the clock was wrong, so it is ignored.
  const outcome = endedAt <= now().toISOString() ? (last?.outcome ?? null) : null
  const hasFailed = outcome !== null && outcome !== 'ok' && outcome !== 'ok_no_change'
  const at = hasFailed ? Date.parse(endedAt) + RETRY_MS : 0
  return new Date(Math.max(at, notBefore === null ? 0 : Date.parse(notBefore)))
}

/**
 * Writes `the leads are of 2026-11-20 14:10 UTC, the report ends 2026-11-21 00:00 UTC; the last sync: …`.
 */
function formatOld({ freshness, old, period }: DataState): string {
  const { dataAsOf, statsAsOf, agentsAsOf, lastFailure } = freshness
  const asOf: Readonly<Record<ReportedPart, Instant | null>> = {
    leads: dataAsOf,
    stats: statsAsOf,
    agents: agentsAsOf,
  }
  const names = { leads: 'leads', stats: 'statistics', agents: 'agents' }
  // If the leads are old, the text names only the leads, because then all other data is old too.
  const named: readonly ReportedPart[] = old.includes('leads') ? ['leads'] : old
  const times = named.map((part) => {
    const at = asOf[part]
    return at === null
      ? `no sync has read all ${names[part]} yet`
      : `the ${names[part]} are of ${formatUtc(at)}`
  })
  const failure = lastFailure === null ? '' : `; the last sync: ${lastFailure.message}`
  return `${times.join(', ')}, the report ends ${formatUtc(period.to)}${failure}`
}
