/**
 * Runs the due runs of a schedule under the schedule's lease, so that no other process and no command run by
 * hand does the same work. An outcome is stored only if the lease is still held.
 */

import { errorText } from '../../errors.ts'
import { LATE_MS } from '../../schedule/timing.ts'
import type { Store, Trx } from '../../store/db/store.ts'
import { type Lease, withLease } from '../../store/schedule/lease.ts'
import {
  beginScheduledRun,
  isAnyOpen,
  listOpenScheduledRuns,
  type ScheduledRun,
  updateScheduledRun,
} from '../../store/schedule/scheduled-run.ts'
import { findGap } from '../../store/schedule/uptime.ts'
import { formatUtc, HOUR_MS } from '../../time.ts'
import type { JobDeps } from '../job-deps.ts'
import { endAfterFailure, logFailure } from './job-failure.ts'
import { type DueRun, formatHours, type Late, type RunEnd, type Schedule } from './schedule.ts'

export type Ran = 'over' | 'waits' | 'nothing'

/**
 * Runs the next due run of the schedule. Another run of the schedule may be due after it: the caller lets
 * other schedules run first. A failed run is stored and logged, but not thrown.
 * @throws LeadsheetError job_busy if another process holds the lease; the next tick tries again
 */
export async function runDue(deps: JobDeps, schedule: Schedule, signal: AbortSignal): Promise<Ran> {
  const { db } = deps.store
  if (!(await isAnyOpen(db, schedule.name, deps.now().toISOString()))) return 'nothing'
  return withLease(deps.store, schedule.leaseName, deps.now, (lease) => {
    const stop = AbortSignal.any([signal, lease.lost])
    return stop.aborted ? Promise.resolve('nothing') : runNext(deps, schedule, lease, stop)
  })
}

async function runNext(deps: JobDeps, schedule: Schedule, lease: Lease, signal: AbortSignal): Promise<Ran> {
  const { store, now } = deps
  const scheduledRun = await store.write(async (trx) => {
    await lease.renew(trx, now())
    return claimNext(trx, schedule, now())
  })
  if (scheduledRun === null) return 'nothing'
  const end = await runScheduledRun(deps, schedule, scheduledRun, lease, signal)
  const { state, message } = end
  deps.log.info({ schedule: schedule.name, due_at: scheduledRun.due_at, state }, message ?? state)
  const isOver = state !== 'again' && state !== 'held'
  await store.write(async (trx) => {
    await lease.renew(trx, now())
    await updateScheduledRun(trx, scheduledRun, {
      state: state === 'again' ? 'pending' : state,
      not_before: state === 'again' ? end.notBefore : null,
      attempts: state === 'again' && end.isWait ? scheduledRun.attempts - 1 : scheduledRun.attempts,
      finished_at: isOver ? now().toISOString() : null,
      message,
    })
  })
  return isOver ? 'over' : 'waits'
}

/**
 * Picks the next run and marks it as running. An approved run comes first, then the latest run, or the oldest
 * if the schedule catches up on all runs. The runs that are passed over end as skipped. Because the caller
 * holds the lease, a run that is still marked as running was left by a killed process, so it may be picked
 * again.
 */
async function claimNext(trx: Trx, schedule: Schedule, now: Date): Promise<ScheduledRun | null> {
  const takesAll = schedule.catchUp.policy === 'all'
  for (;;) {
    const open = await listOpenScheduledRuns(trx, schedule.name, now.toISOString())
    const approved = open.find(
      (scheduledRun) => scheduledRun.approved_at !== null && !hasToWait(scheduledRun, now),
    )
    const oldest = takesAll ? open.find(({ state }) => state !== 'held') : undefined
    const next = approved ?? oldest ?? open.at(-1)
    if (!next || hasToWait(next, now)) return null
    const end = { not_before: null, finished_at: now.toISOString() }
    const behind = approved ? open.slice(0, open.indexOf(approved)) : open.filter((run) => run !== next)
    for (const left of behind.filter(({ state }) => !takesAll || state === 'held'))
      await updateScheduledRun(trx, left, { ...end, state: 'skipped', message: formatLeft(left, next) })
    if (next.state === 'held' || !isPast(schedule, next, now))
      return beginScheduledRun(trx, next, now.toISOString())
    const message = `${next.message ?? 'not begun'}; more than ${formatHours(schedule.catchUp.windowHours)} ago`
    await updateScheduledRun(trx, next, { ...end, state: next.attempts > 0 ? 'failed' : 'skipped', message })
  }
}

function hasToWait({ not_before }: ScheduledRun, now: Date): boolean {
  return not_before !== null && not_before > now.toISOString()
}

function formatLeft(left: ScheduledRun, next: ScheduledRun): string {
  const later = `that of ${formatUtc(next.due_at)} came`
  if (left.state === 'held') return `held until ${later}: ${left.message}`
  return left.attempts === 0
    ? `overlapped: not begun when ${later}`
    : `given up when ${later}: ${left.message ?? 'stopped half-way'}`
}

function isPast({ catchUp }: Schedule, { due_at }: ScheduledRun, now: Date): boolean {
  return now.getTime() > Date.parse(due_at) + catchUp.windowHours * HOUR_MS
}

async function runScheduledRun(
  { store, log, now }: JobDeps,
  schedule: Schedule,
  scheduledRun: ScheduledRun,
  lease: Lease,
  signal: AbortSignal,
): Promise<RunEnd> {
  const due: DueRun = {
    dueAt: new Date(scheduledRun.due_at),
    notedAt: new Date(scheduledRun.noted_at),
    attempt: scheduledRun.attempts,
    late: await findLate(store, scheduledRun, now()),
    isApproved: scheduledRun.approved_at !== null,
  }
  try {
    return await schedule.run(due, lease, signal)
  } catch (thrown) {
    const isPutDown = thrown === signal.reason
    if (!isPutDown) logFailure(log, thrown, { schedule: schedule.name, due_at: scheduledRun.due_at })
    // The run did not fail but was stopped, so the next daemon starts it again.
    if (signal.aborted) return { state: 'again', message: errorText(signal.reason), notBefore: null }
    return endAfterFailure(thrown, scheduledRun.attempts, now())
  }
}

async function findLate(store: Store, scheduledRun: ScheduledRun, now: Date): Promise<Late | null> {
  if (now.getTime() - Date.parse(scheduledRun.due_at) <= LATE_MS) return null
  const gap = await findGap(store.db, scheduledRun.due_at)
  const whole = { from: scheduledRun.due_at, to: now.toISOString() }
  return gap === null
    ? { ...whole, why: 'waited' }
    : { from: gap.from ?? whole.from, to: gap.to ?? whole.to, why: gap.why }
}
