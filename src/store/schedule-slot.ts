/** The ledger of due times: each slot of a schedule is one row, whoever notices it and however late. */
import type { Instant } from '../model.ts'
import type { Db, Trx } from './open.ts'
import type { ScheduleSlotTable } from './tables.ts'

export type Slot = ScheduleSlotTable

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
  slot: Pick<Slot, 'schedule' | 'slot' | 'state' | 'message'>,
): Promise<void> {
  await trx
    .insertInto('schedule_slot')
    .values({ ...slot, started_at: null, finished_at: null })
    .onConflict((conflict) => conflict.columns(['schedule', 'slot']).doNothing())
    .execute()
}

/** Takes the oldest due slot of a schedule; undefined when none is due, or another process was faster. */
export async function claimSlot(trx: Trx, schedule: string, at: Instant): Promise<Slot | undefined> {
  const due = await trx
    .selectFrom('schedule_slot')
    .where('schedule', '=', schedule)
    .where('state', '=', 'due')
    .selectAll()
    .orderBy('slot')
    .limit(1)
    .executeTakeFirst()
  if (!due) return undefined
  await trx
    .updateTable('schedule_slot')
    .where('schedule', '=', schedule)
    .where('slot', '=', due.slot)
    .set({ state: 'running', started_at: at })
    .execute()
  return due
}

export async function finishSlot(
  trx: Trx,
  slot: Pick<Slot, 'schedule' | 'slot'>,
  end: {
    readonly state: 'done' | 'failed' | 'skipped' | 'due'
    readonly at: Instant
    readonly message: string | null
  },
): Promise<void> {
  await trx
    .updateTable('schedule_slot')
    .where('schedule', '=', slot.schedule)
    .where('slot', '=', slot.slot)
    .set({ state: end.state, finished_at: end.state === 'due' ? null : end.at, message: end.message })
    .execute()
}

/** Slots that a killed process left running are due again. To be called while nobody runs them. */
export async function recoverSlots(trx: Trx): Promise<void> {
  await trx.updateTable('schedule_slot').where('state', '=', 'running').set({ state: 'due' }).execute()
}

/** The last slots of all schedules, newest first. */
export async function listSlots(db: Db, limit: number): Promise<Slot[]> {
  return db.selectFrom('schedule_slot').selectAll().orderBy('slot', 'desc').limit(limit).execute()
}
