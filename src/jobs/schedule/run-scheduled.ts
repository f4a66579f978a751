/**
 * Runs the slots of a schedule that are due, under its lease, so that no second process and no command by hand does
 * the same beside it. What becomes of each is noted with the lease's fence.
 */
import { errorText } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Db, Store, Trx } from '../../store/db/store.ts'
import { claimLease, type Lease } from '../../store/schedule/lease.ts'
import {
  beginSlot,
  finishSlot,
  isAnyOpen,
  listOpenSlots,
  type Slot,
} from '../../store/schedule/scheduled-run.ts'
import { findGap } from '../../store/schedule/uptime.ts'
import { startOf } from './enqueue-due-runs.ts'
import { afterFailure, logFailure } from './job-failure.ts'
import {
  type DueSlot,
  LATE_MS,
  type Late,
  type Schedule,
  type SlotEnd,
  tellHours,
  tellInstant,
} from './schedule.ts'

const HOUR_MS = 60 * 60_000

export interface DueDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  /** Whether a slot may begin beside what other workers do; asked too in the transaction in which it begins. */
  readonly mayBegin?: (db: Db, schedule: Schedule) => Promise<boolean>
}

/** What became of what was due: a slot is over, one was begun and waits now, or none could be begun. */
export type Ran = 'over' | 'waits' | 'nothing'

/**
 * Until nothing is due, or what is has to wait. A failure is noted and logged, and never ends the process.
 * @throws LeadsheetError job_busy where another process is at it: to be tried at the next tick
 */
export async function runDue(deps: DueDeps, schedule: Schedule, signal: AbortSignal): Promise<Ran> {
  const { db } = deps.store
  if (!(await isAnyOpen(db, schedule.name, deps.now().toISOString()))) return 'nothing'
  if (deps.mayBegin && !(await deps.mayBegin(db, schedule))) return 'nothing'
  const lease = await claimLease(deps.store, schedule.leaseName, deps.now)
  try {
    const stop = AbortSignal.any([signal, lease.lost])
    let ran: Ran = 'nothing'
    while (!stop.aborted) {
      const next = await runNext(deps, schedule, lease, stop)
      if (next !== 'over') return ran === 'nothing' ? next : ran
      ran = next
    }
    return ran
  } finally {
    await lease.release()
  }
}

/** After one that is over another may follow at once; one that waits is in the way of those after it. */
async function runNext(deps: DueDeps, schedule: Schedule, lease: Lease, signal: AbortSignal): Promise<Ran> {
  const { store, now, mayBegin } = deps
  const slot = await store.write(async (trx) => {
    await lease.renew(trx, now())
    return mayBegin && !(await mayBegin(trx, schedule)) ? null : claimNext(trx, schedule, now())
  })
  if (slot === null) return 'nothing'
  const end = withinWindow(schedule, slot, await runSlot(deps, schedule, slot, lease, signal))
  const { state, message } = end
  deps.log.info({ schedule: schedule.name, slot: slot.slot, state }, message ?? state)
  const isOver = state !== 'again' && state !== 'held'
  await store.write(async (trx) => {
    await lease.renew(trx, now())
    await finishSlot(trx, slot, {
      state: state === 'again' ? 'due' : state,
      not_before: state === 'again' ? end.notBefore : null,
      attempts: state === 'again' && end.isWait ? slot.attempts - 1 : slot.attempts,
      finished_at: isOver ? now().toISOString() : null,
      message,
    })
  })
  return isOver ? 'over' : 'waits'
}

/**
 * The slot whose turn it is: one that was let go, else the latest, or the oldest where all are made up for. Those that
 * it leaves behind end here. One that stands as running was left by a killed process, for who calls this holds the
 * lease.
 */
async function claimNext(trx: Trx, schedule: Schedule, now: Date): Promise<Slot | null> {
  const takesAll = schedule.catchUp.policy === 'all'
  for (;;) {
    const open = await listOpenSlots(trx, schedule.name, now.toISOString())
    const released = open.find((slot) => slot.released_at !== null && !hasToWait(slot, now))
    const oldest = takesAll ? open.find(({ state }) => state !== 'held') : undefined
    const next = released ?? oldest ?? open.at(-1)
    if (!next || hasToWait(next, now)) return null
    const end = { not_before: null, finished_at: now.toISOString() }
    const behind = released ? open.slice(0, open.indexOf(released)) : open.filter((slot) => slot !== next)
    for (const left of behind.filter(({ state }) => !takesAll || state === 'held'))
      await finishSlot(trx, left, { ...end, state: 'skipped', message: tellLeft(left, next) })
    if (next.state === 'held' || !isPast(schedule, next, now.getTime()))
      return beginSlot(trx, next, now.toISOString())
    const message = `${next.message ?? 'not begun'}; more than ${tellHours(schedule.catchUp.windowHours)} ago`
    await finishSlot(trx, next, { ...end, state: next.attempts > 0 ? 'failed' : 'skipped', message })
  }
}

function hasToWait({ not_before }: Slot, now: Date): boolean {
  return not_before !== null && not_before > now.toISOString()
}

function tellLeft(left: Slot, next: Slot): string {
  const later = `that of ${tellInstant(next.slot)} came`
  if (left.state === 'held') return `held until ${later}: ${left.message}`
  return left.attempts === 0
    ? `overlapped: not begun when ${later}`
    : `given up when ${later}: ${left.message ?? 'stopped half-way'}`
}

function isPast({ catchUp }: Schedule, { slot }: Slot, atMs: number): boolean {
  return atMs > Date.parse(slot) + catchUp.windowHours * HOUR_MS
}

async function runSlot(
  { store, log, now }: DueDeps,
  schedule: Schedule,
  slot: Slot,
  lease: Lease,
  signal: AbortSignal,
): Promise<SlotEnd> {
  const due: DueSlot = {
    slot: new Date(slot.slot),
    notedAt: new Date(slot.noted_at),
    attempt: slot.attempts,
    late: await findLate(store, schedule, slot, now()),
    isReleased: slot.released_at !== null,
  }
  try {
    return await schedule.run(due, lease, signal)
  } catch (thrown) {
    const isPutDown = thrown === signal.reason
    if (!isPutDown) logFailure(log, thrown, { schedule: schedule.name, slot: slot.slot })
    // Whatever it was in the midst of: the next daemon takes it up.
    if (signal.aborted) return { state: 'again', message: errorText(signal.reason), notBefore: null }
    return afterFailure(thrown, slot.attempts, now())
  }
}

/** A try that would come after the window is over is none. */
function withinWindow(schedule: Schedule, slot: Slot, end: SlotEnd): SlotEnd {
  if (end.state !== 'again' || end.notBefore === null) return end
  if (!isPast(schedule, slot, Date.parse(end.notBefore))) return end
  return {
    state: 'failed',
    message: `${end.message}; after ${tellHours(schedule.catchUp.windowHours)} it is let go`,
  }
}

async function findLate(store: Store, schedule: Schedule, slot: Slot, now: Date): Promise<Late | null> {
  const start = startOf(store, schedule, new Date(slot.slot))
  if (now.getTime() - start.getTime() <= LATE_MS) return null
  const gap = await findGap(store.db, slot.slot)
  const whole = { from: slot.slot, to: now.toISOString() }
  return gap === null
    ? { ...whole, why: 'waited' }
    : { from: gap.from ?? whole.from, to: gap.to ?? whole.to, why: gap.why }
}
