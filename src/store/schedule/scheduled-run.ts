/** The ledger of due times: each slot of a schedule is one row, whoever notices it and however late. */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import { indexedBy } from '../db/dialect.ts'
import type { Db, Trx } from '../db/store.ts'
import type { ScheduleSlotTable } from '../tables/tables.ts'

export type Slot = Readonly<ScheduleSlotTable>

/** Of which something is still to come. */
const OPEN = ['due', 'running', 'held'] as const

/**
 * The last slot of a schedule that has come and was noted by an instant: a clock may have been ahead and put right, and
 * what was noted then does not count.
 */
export async function findLastSlot(db: Db, schedule: string, at: Instant): Promise<Slot | undefined> {
  return db
    .selectFrom('schedule_slot')
    .where('schedule', '=', schedule)
    .where('slot', '<=', at)
    .where('noted_at', '<=', at)
    .selectAll()
    .orderBy('slot', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/**
 * Notes a slot; one that is there stays as it is, but for one that was noted while the clock was ahead and never begun.
 * @returns whether it was noted
 */
export async function addSlot(
  trx: Trx,
  slot: Pick<Slot, 'schedule' | 'slot' | 'state' | 'noted_at' | 'not_before' | 'message'>,
): Promise<boolean> {
  const { state, noted_at, not_before, message } = slot
  const added = await trx
    .insertInto('schedule_slot')
    .values({ ...slot, attempts: 0, released_at: null, started_at: null, finished_at: null })
    .onConflict((conflict) =>
      conflict
        .columns(['schedule', 'slot'])
        .doUpdateSet({ state, noted_at, not_before, message, finished_at: null })
        .where('schedule_slot.noted_at', '>', noted_at)
        .where('schedule_slot.attempts', '=', 0),
    )
    .executeTakeFirst()
  return added.numInsertedOrUpdatedRows !== 0n
}

/** Whether a slot of the schedule can be begun, or was left by a process that is no more. */
export async function isAnyOpen(db: Db, schedule: string, at: Instant): Promise<boolean> {
  const open = await listOpenSlots(db, schedule, at)
  return open.some(({ not_before }) => not_before === null || not_before <= at)
}

/** Whether a slot of any schedule waits for its turn: one that is held does not, unless it was let go. */
export async function isAnyDue(db: Db, at: Instant): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM schedule_slot ${indexedBy(db, 'schedule_slot_open')}
    WHERE state IN ('due', 'running', 'held') AND (state = 'due' OR (state = 'held' AND released_at IS NOT NULL))
      AND slot <= ${at} AND (not_before IS NULL OR not_before <= ${at}) LIMIT 1`.execute(db)
  return rows.length > 0
}

/**
 * Those of a schedule that have come and of which something is still to come, oldest first. SQLite is told by which
 * index, since it would go through all due times that the schedule ever had, which come in order.
 */
export async function listOpenSlots(db: Db, schedule: string, at: Instant): Promise<Slot[]> {
  const { rows } = await sql<Slot>`SELECT * FROM schedule_slot ${indexedBy(db, 'schedule_slot_open')}
    WHERE schedule = ${schedule} AND slot <= ${at} AND state IN ('due', 'running', 'held') ORDER BY slot`.execute(
    db,
  )
  return rows
}

/** To be called under the schedule's lease. A held slot is only asked again: that is no other attempt. */
export async function beginSlot(trx: Trx, slot: Slot, at: Instant): Promise<Slot> {
  const begun = {
    state: 'running' as const,
    started_at: at,
    attempts: slot.attempts + (slot.state === 'held' ? 0 : 1),
  }
  await trx
    .updateTable('schedule_slot')
    .where('schedule', '=', slot.schedule)
    .where('slot', '=', slot.slot)
    .set(begun)
    .execute()
  return { ...slot, ...begun }
}

export async function finishSlot(
  trx: Trx,
  slot: Pick<Slot, 'schedule' | 'slot'>,
  end: Pick<Slot, 'state' | 'not_before' | 'finished_at' | 'message'> & Partial<Pick<Slot, 'attempts'>>,
): Promise<void> {
  await trx
    .updateTable('schedule_slot')
    .where('schedule', '=', slot.schedule)
    .where('slot', '=', slot.slot)
    .set(end)
    .execute()
}

/** What was noted of a schedule since an instant, in order of the slots. */
export async function listSlotsNotedSince(db: Db, schedule: string, since: Instant): Promise<Slot[]> {
  return db
    .selectFrom('schedule_slot')
    .where('schedule', '=', schedule)
    .where('noted_at', '>=', since)
    .selectAll()
    .orderBy('slot')
    .execute()
}

/** The last slots of all schedules, newest first. */
export async function listSlots(db: Db, limit: number): Promise<Slot[]> {
  return db.selectFrom('schedule_slot').selectAll().orderBy('slot', 'desc').limit(limit).execute()
}

/** Ends what is open of schedules that the settings no longer have. */
export async function endUnknownSlots(trx: Trx, known: readonly string[], at: Instant): Promise<void> {
  await trx
    .updateTable('schedule_slot')
    .where('state', 'in', OPEN)
    .where('schedule', 'not in', known)
    .set({ state: 'skipped', finished_at: at, message: 'the settings have no such schedule any longer' })
    .execute()
}

/** Those of a schedule that were not done, or were begun so late, the newest first. */
export async function listTroubledSlots(
  db: Db,
  schedule: string,
  { since, lateMs, limit }: { readonly since: Instant; readonly lateMs: number; readonly limit: number },
): Promise<Slot[]> {
  return db
    .selectFrom('schedule_slot')
    .where('schedule', '=', schedule)
    .where('slot', '>=', since)
    .where(
      sql<boolean>`(state <> 'done' OR (julianday(started_at) - julianday(slot)) * 86400000 > ${lateMs})`,
    )
    .selectAll()
    .orderBy('slot', 'desc')
    .limit(limit)
    .execute()
}

/**
 * Lets the latest slot of a schedule go that is held, or waits: it runs at the next tick.
 * @returns it as it was; undefined where none is open
 */
export async function releaseSlot(trx: Trx, schedule: string, at: Instant): Promise<Slot | undefined> {
  const latest = (await listOpenSlots(trx, schedule, at)).at(-1)
  if (!latest) return undefined
  await trx
    .updateTable('schedule_slot')
    .where('schedule', '=', schedule)
    .where('slot', '=', latest.slot)
    .set({ released_at: at, not_before: null })
    .execute()
  return latest
}
