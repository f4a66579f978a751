/**
 * Schedules over the ledger of slots: which due times have come is computed from the last one noted, so a
 * tick that is late or lost costs a minute and never a run. The clock that ticks is somebody else's.
 */
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Instant } from '../model.ts'
import { nextSlot } from '../schedule/slots.ts'
import type { CatchUp, Timing } from '../schedule/timing.ts'
import { claimLease, type Lease } from '../store/lease.ts'
import type { Store } from '../store/open.ts'
import { addSlot, claimSlot, findLastSlot, finishSlot, isAnyOpen, type Slot } from '../store/schedule-slot.ts'

/** No more missed slots than this are noted, nor walked one by one. */
const SLOTS_MAX = 400
const HOUR_MS = 60 * 60_000

export interface Schedule {
  /** As in the ledger: `sync`, `sync-full`, `report:daily`. */
  readonly name: string
  /** Held while a slot of it runs; those of one name never run beside each other. */
  readonly leaseName: string
  readonly timing: Timing
  readonly catchUp: CatchUp
  /** Each slot begins up to so much after its time. */
  readonly jitterSeconds: number
  /** Whether the moment at which the schedule is first seen counts as due. */
  readonly runsAtFirstSight: boolean
  /**
   * Does the work of a slot.
   * @param lease to be renewed in each transaction of the work
   * @param signal aborted too when the lease is lost
   * @throws LeadsheetError for what failed
   */
  readonly run: (due: DueSlot, lease: Lease, signal: AbortSignal) => Promise<SlotEnd>
}

/** What the settings say of a schedule. */
export type ScheduleSettings = Pick<Schedule, 'name' | 'timing' | 'catchUp' | 'jitterSeconds'>

export interface DueSlot {
  readonly slot: Date
  /** 1 for the first time; being asked again while held does not count. */
  readonly attempt: number
  /** Null where it is not late, which is more than 5 minutes after its time. */
  readonly late: Late | null
  /** A person has let it go: it is not to be held any longer. */
  readonly isReleased: boolean
}

/** From when to when the slot was kept waiting, and by what. */
export interface Late {
  readonly from: Instant
  readonly to: Instant
  /** Nothing ran, the process was kept from its work, the clock was set or the machine slept, or other work came first. */
  readonly why: 'down' | 'blocked' | 'clock' | 'waited'
}

export type SlotEnd =
  | { readonly state: 'done' | 'failed' | 'skipped'; readonly message: string | null }
  /** Tried again, not before that instant; at the next tick if null. */
  | { readonly state: 'again'; readonly message: string; readonly notBefore: Instant | null }
  /** Asked again at each tick, until it ends otherwise or the next slot of the schedule comes. */
  | { readonly state: 'held'; readonly message: string }

/**
 * Notes the slots that have come since the last one noted. Only the latest is due; those before it were
 * missed while nothing ran, and stand as skipped.
 */
export async function noteSlots(store: Store, schedule: Schedule, now: Date): Promise<void> {
  const at = now.toISOString()
  const noted = { schedule: schedule.name, noted_at: at, not_before: null }
  const last = await findLastSlot(store.db, schedule.name, at)
  if (!last) {
    const state = schedule.runsAtFirstSight ? 'due' : 'skipped'
    const message = schedule.runsAtFirstSight ? null : 'the schedule was set up'
    await store.write((trx) => addSlot(trx, { ...noted, slot: at, state, message }))
    return
  }
  const slots = slotsBetween(schedule.timing, new Date(last.slot), now)
  const latest = slots.at(-1)
  if (!latest) return
  await store.write(async (trx) => {
    for (const slot of slots) {
      const isLatest = slot === latest
      await addSlot(trx, {
        ...noted,
        slot: slot.toISOString(),
        state: isLatest ? 'due' : 'skipped',
        message: isLatest ? null : 'missed: nothing ran at that time, and a later slot stands for it',
      })
    }
  })
}

/** Runs what is due of a schedule; a failure is noted and logged, and never ends the process. */
export async function runDue(
  deps: { store: Store; log: Log; now: () => Date },
  schedule: Schedule,
  signal: AbortSignal,
): Promise<void> {
  if (!(await isAnyOpen(deps.store.db, schedule.name, deps.now().toISOString()))) return
  const lease = await claimLease(deps.store, schedule.leaseName, deps.now)
  try {
    const stop = AbortSignal.any([signal, lease.lost])
    while (!stop.aborted && (await runNext(deps, schedule, lease, stop))) {
      // One after the other, oldest first.
    }
  } finally {
    await lease.release()
  }
}

/** Whether the next one may follow. */
async function runNext(
  deps: { store: Store; log: Log; now: () => Date },
  schedule: Schedule,
  lease: Lease,
  signal: AbortSignal,
): Promise<boolean> {
  const slot = await deps.store.write(async (trx) => {
    await lease.renew(trx, deps.now())
    return claimSlot(trx, schedule.name, deps.now().toISOString())
  })
  if (!slot) return false
  const end = await runSlot(deps, schedule, slot, lease, signal)
  const isOver = end.state !== 'again' && end.state !== 'held'
  await deps.store.write(async (trx) => {
    await lease.renew(trx, deps.now())
    await finishSlot(trx, slot, {
      state: end.state === 'again' ? 'due' : end.state,
      not_before: end.state === 'again' ? end.notBefore : null,
      finished_at: isOver ? deps.now().toISOString() : null,
      message: end.message,
    })
  })
  return isOver
}

async function runSlot(
  deps: { log: Log },
  schedule: Schedule,
  slot: Slot,
  lease: Lease,
  signal: AbortSignal,
): Promise<SlotEnd> {
  const at = { schedule: schedule.name, slot: slot.slot }
  try {
    const due = {
      ...{ slot: new Date(slot.slot), attempt: slot.attempts, late: null },
      isReleased: slot.released_at !== null,
    }
    const end = await schedule.run(due, lease, signal)
    deps.log.info({ ...at, state: end.state }, end.message ?? 'done')
    return end
  } catch (thrown) {
    deps.log.error(
      thrown instanceof LeadsheetError ? { ...at, code: thrown.code } : { ...at, err: thrown },
      errorText(thrown),
    )
    return { state: 'failed', message: errorText(thrown) }
  }
}

/**
 * After `from`, up to and including `to`: the last of them if there are very many. Looks back step by step, so
 * that a clock which was years behind does not make it walk through those years.
 */
function slotsBetween(timing: Timing, from: Date, to: Date): Date[] {
  for (let span = HOUR_MS; ; span *= 4) {
    const start = Math.max(from.getTime(), to.getTime() - span)
    const slots = slotsFrom(timing, new Date(start), to)
    if (slots.length >= SLOTS_MAX || start === from.getTime()) return slots.slice(-SLOTS_MAX)
  }
}

function slotsFrom(timing: Timing, from: Date, to: Date): Date[] {
  const slots: Date[] = []
  for (let slot = nextSlot(timing, from); slot !== null && slot <= to; slot = nextSlot(timing, slot))
    slots.push(slot)
  return slots
}
