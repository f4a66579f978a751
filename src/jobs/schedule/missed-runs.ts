/** Due times of the last days that were not done, or late: those that follow each other and of which the same became are one. */
import type { Db } from '../../store/db/store.ts'
import { listTroubledSlots, type Slot } from '../../store/schedule/scheduled-run.ts'
import { SET_UP } from './enqueue-due-runs.ts'
import { LATE_MS } from './schedule.ts'

export interface MissedSlots {
  readonly first: Slot
  readonly last: Slot
  readonly count: number
}

const DAY_MS = 86_400_000
const SLOTS_BACK = 400
/** Ticks of the daemon come each minute; one may be lost. A longer time without any is one in which it did not run. */
export const GAP_MS = 150_000

/** The newest first. */
export async function readMissedSlots(
  db: Db,
  schedule: string,
  { daysBack, now }: { readonly daysBack: number; readonly now: Date },
): Promise<MissedSlots[]> {
  const since = new Date(now.getTime() - daysBack * DAY_MS).toISOString()
  const slots = await listTroubledSlots(db, schedule, { since, lateMs: LATE_MS, limit: SLOTS_BACK })
  const missed: MissedSlots[] = []
  for (const slot of slots.filter(({ message }) => message !== SET_UP)) {
    const after = missed.at(-1)
    const isSame =
      after &&
      slot.state !== 'done' &&
      after.first.state === slot.state &&
      after.first.message === slot.message
    if (isSame) missed.splice(-1, 1, { ...after, first: slot, count: after.count + 1 })
    else missed.push({ first: slot, last: slot, count: 1 })
  }
  return missed
}
