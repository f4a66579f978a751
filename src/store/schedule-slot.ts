/** The ledger of due times: each slot of a schedule is one row, whoever notices it and however late. */
import { sql } from 'kysely'
import type { Instant } from '../model.ts'
import type { Db, Trx } from './open.ts'
import type { ScheduleSlotTable } from './tables.ts'

export type Slot = Readonly<ScheduleSlotTable>

/** Of which something is still to come. */
const OPEN = ['due', 'running', 'held'] as const

/** The last slot that was noted for a schedule, up to an instant: a clock may have been ahead and put right. */
export async function findLastSlot(db: Db, schedule: string, upTo: Instant): Promise<Slot | undefined> {
  return db
    .selectFrom('schedule_slot')
    .where('schedule', '=', schedule)
    .where('slot', '<=', upTo)
    .selectAll()
    .orderBy('slot', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Notes a slot; one that is there stays as it is. */
export async function addSlot(
  trx: Trx,
  slot: Pick<Slot, 'schedule' | 'slot' | 'state' | 'noted_at' | 'not_before' | 'message'>,
): Promise<void> {
  await trx
    .insertInto('schedule_slot')
    .values({ ...slot, attempts: 0, released_at: null, started_at: null, finished_at: null })
    .onConflict((conflict) => conflict.columns(['schedule', 'slot']).doNothing())
    .execute()
}

/** Whether a slot of the schedule can be begun, or was left by a process that is no more. */
export async function isAnyOpen(db: Db, schedule: string, at: Instant): Promise<boolean> {
  const oldest = await findOldestOpen(db, schedule)
  return oldest !== undefined && (oldest.not_before === null || oldest.not_before <= at)
}

/**
 * Takes the oldest open slot of a schedule, under the schedule's lease: one that runs was left by a killed process.
 * Undefined when none is open, or it is not to be begun yet.
 */
export async function claimSlot(trx: Trx, schedule: string, at: Instant): Promise<Slot | undefined> {
  const oldest = await findOldestOpen(trx, schedule)
  if (!oldest || (oldest.not_before !== null && oldest.not_before > at)) return undefined
  return trx
    .updateTable('schedule_slot')
    .where('schedule', '=', schedule)
    .where('slot', '=', oldest.slot)
    .set({
      state: 'running',
      started_at: at,
      // A held one is only asked again.
      attempts: oldest.state === 'held' ? oldest.attempts : sql`attempts + 1`,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function finishSlot(
  trx: Trx,
  slot: Pick<Slot, 'schedule' | 'slot'>,
  end: Pick<Slot, 'state' | 'not_before' | 'finished_at' | 'message'>,
): Promise<void> {
  await trx
    .updateTable('schedule_slot')
    .where('schedule', '=', slot.schedule)
    .where('slot', '=', slot.slot)
    .set(end)
    .execute()
}

/** The last slots of all schedules, newest first. */
export async function listSlots(db: Db, limit: number): Promise<Slot[]> {
  return db.selectFrom('schedule_slot').selectAll().orderBy('slot', 'desc').limit(limit).execute()
}

async function findOldestOpen(db: Db, schedule: string): Promise<Slot | undefined> {
  return db
    .selectFrom('schedule_slot')
    .where('schedule', '=', schedule)
    .where('state', 'in', OPEN)
    .selectAll()
    .orderBy('slot')
    .limit(1)
    .executeTakeFirst()
}
