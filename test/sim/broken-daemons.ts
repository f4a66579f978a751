/** Daemons as one would write them first, each wrong in its own way: what is proven by the others must fail with these. */
import type { Schedule } from '../../src/jobs/schedule/schedule.ts'
import { nextSlot } from '../../src/schedule/slots.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import { addSlot, beginSlot, finishSlot } from '../../src/store/schedule/scheduled-run.ts'
import type { StartDaemon } from './world.ts'

const MINUTE_MS = 60_000
/** After a clock that was wrong by years there is no end of them. */
const SLOTS_MAX = 400

type Deps = Parameters<StartDaemon>[0]

/** A daemon that runs, at each beat, those slots that it is told to. */
function daemonThat(findSlots: (deps: Deps) => (schedule: Schedule) => readonly Date[]): StartDaemon {
  return async (deps) => {
    const slotsOf = findSlots(deps)
    let inHand: Promise<void> | null = null
    const runAll = async (): Promise<void> => {
      for (const schedule of deps.schedules) {
        for (const slot of slotsOf(schedule)) await runSlot(deps, schedule, slot)
      }
    }
    return {
      // What the work itself lets pass of time must not begin it a second time.
      tick: async () => {
        inHand ??= runAll()
          .catch(() => {})
          .finally(() => {
            inHand = null
          })
      },
      idle: async () => void (await inHand),
      stop: async () => void (await inHand),
    }
  }
}

async function runSlot({ store, now }: Deps, schedule: Schedule, slot: Date): Promise<void> {
  const lease = await claimLease(store, schedule.leaseName, now)
  const at = now().toISOString()
  const noted = { schedule: schedule.name, slot: slot.toISOString(), noted_at: at, not_before: null }
  await store.write((trx) => addSlot(trx, { ...noted, state: 'due', message: null }))
  const [row] = await store.db
    .selectFrom('schedule_slot')
    .where('slot', '=', noted.slot)
    .selectAll()
    .execute()
  if (row !== undefined) await store.write((trx) => beginSlot(trx, row, at))
  const due = { slot, notedAt: now(), attempt: 1, late: null, isReleased: false }
  await schedule.run(due, lease, new AbortController().signal)
  await store.write((trx) =>
    finishSlot(trx, noted, { state: 'done', not_before: null, finished_at: at, message: null }),
  )
  await lease.release()
}

/** The tick is the job: what is not due in the minute of a beat has never been. */
export const tickIsJob: StartDaemon = daemonThat(({ now }) => ({ timing }) => {
  const minute = Math.floor(now().getTime() / MINUTE_MS) * MINUTE_MS
  const slot = nextSlot(timing, new Date(minute - 1))
  return slot?.getTime() === minute ? [slot] : []
})

/** Knows what has come since its last beat, and that only as long as it lives. */
export const sinceLastBeat: StartDaemon = daemonThat(({ now }) => {
  const begun = now()
  const last = new Map<string, Date>()
  return ({ name, timing }) => {
    const slots: Date[] = []
    const from = last.get(name) ?? begun
    let slot = nextSlot(timing, from)
    for (; slot !== null && slot <= now() && slots.length < SLOTS_MAX; slot = nextSlot(timing, slot))
      slots.push(slot)
    last.set(name, now())
    return slots
  }
})
