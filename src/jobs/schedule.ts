/**
 * Schedules over the ledger of slots: which due times have come is computed from the last one noted, so a
 * tick that is late or lost costs a minute and never a run. The clock that ticks is somebody else's.
 */
import { Cron } from 'croner'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/open.ts'
import { addSlot, claimSlot, findLastSlot, finishSlot, type Slot } from '../store/schedule-slot.ts'

/** No more missed slots than this are noted, nor walked one by one. */
const SLOTS_MAX = 400
const HOUR_MS = 60 * 60_000

export interface Schedule {
  /** As in the ledger: `sync`, `sync-full`, `report:daily`. */
  readonly name: string
  readonly cron: string
  readonly timeZone: string
  /** Whether the moment at which the schedule is first seen counts as due. */
  readonly runsAtFirstSight: boolean
  /**
   * Does the work of a slot. Returns a message for the ledger, or `again` when it was stopped half-way.
   * @throws LeadsheetError for what failed
   */
  readonly run: (
    slot: Date,
    signal: AbortSignal,
  ) => Promise<{ state: 'done' | 'failed' | 'again'; message: string | null }>
}

/** The next due time after an instant; null when there is none. */
export function nextSlot(schedule: Pick<Schedule, 'cron' | 'timeZone'>, after: Date): Date | null {
  return new Cron(schedule.cron, { timezone: schedule.timeZone, paused: true }).nextRun(after)
}

/**
 * Notes the slots that have come since the last one noted. Only the latest is due; those before it were
 * missed while nothing ran, and stand as skipped.
 */
export async function noteSlots(store: Store, schedule: Schedule, now: Date): Promise<void> {
  const last = await findLastSlot(store.db, schedule.name, now.toISOString())
  if (!last) {
    const state = schedule.runsAtFirstSight ? 'due' : 'skipped'
    const message = schedule.runsAtFirstSight ? null : 'the schedule was set up'
    await store.write((trx) =>
      addSlot(trx, { schedule: schedule.name, slot: now.toISOString(), state, message }),
    )
    return
  }
  const slots = slotsBetween(schedule, new Date(last.slot), now)
  const latest = slots.at(-1)
  if (!latest) return
  await store.write(async (trx) => {
    for (const slot of slots) {
      const isLatest = slot === latest
      await addSlot(trx, {
        schedule: schedule.name,
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
  while (!signal.aborted) {
    const slot = await deps.store.write((trx) => claimSlot(trx, schedule.name, deps.now().toISOString()))
    if (!slot) return
    const end = await runSlot(deps, schedule, slot, signal)
    const state = end.state === 'again' ? 'due' : end.state
    await deps.store.write((trx) =>
      finishSlot(trx, slot, { state, at: deps.now().toISOString(), message: end.message }),
    )
    if (end.state === 'again') return
  }
}

async function runSlot(deps: { log: Log }, schedule: Schedule, slot: Slot, signal: AbortSignal) {
  const at = { schedule: schedule.name, slot: slot.slot }
  try {
    const end = await schedule.run(new Date(slot.slot), signal)
    deps.log.info({ ...at, state: end.state }, end.message ?? 'done')
    return end
  } catch (thrown) {
    deps.log.error(
      thrown instanceof LeadsheetError ? { ...at, code: thrown.code } : { ...at, err: thrown },
      errorText(thrown),
    )
    return { state: 'failed' as const, message: errorText(thrown) }
  }
}

/**
 * After `from`, up to and including `to`: the last of them if there are very many. Looks back step by step, so
 * that a clock which was years behind does not make it walk through those years.
 */
function slotsBetween(schedule: Pick<Schedule, 'cron' | 'timeZone'>, from: Date, to: Date): Date[] {
  for (let span = HOUR_MS; ; span *= 4) {
    const start = Math.max(from.getTime(), to.getTime() - span)
    const slots = slotsFrom(schedule, new Date(start), to)
    if (slots.length >= SLOTS_MAX || start === from.getTime()) return slots.slice(-SLOTS_MAX)
  }
}

function slotsFrom(schedule: Pick<Schedule, 'cron' | 'timeZone'>, from: Date, to: Date): Date[] {
  const slots: Date[] = []
  for (let slot = nextSlot(schedule, from); slot !== null && slot <= to; slot = nextSlot(schedule, slot))
    slots.push(slot)
  return slots
}
