/** Stores each time at which a schedule was due, in only one row whichever process inserts it. */
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { indexedBy } from '../db/dialect.ts'
import type { Db, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

export type ScheduledRun = Readonly<Row<'scheduled_run'>>

const OPEN = ['pending', 'running', 'held'] as const

/** A run that was noted while the clock was ahead does not count. */
export async function findLastScheduledRun(
  db: Db,
  schedule: string,
  at: Instant,
): Promise<ScheduledRun | undefined> {
  return db
    .selectFrom('scheduled_run')
    .where('schedule', '=', schedule)
    .where('due_at', '<=', at)
    .where('noted_at', '<=', at)
    .selectAll()
    .orderBy('due_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Returns false for a stored run, unless it was stored while the clock was ahead and has never started. */
export async function addScheduledRun(
  trx: Trx,
  scheduledRun: Pick<ScheduledRun, 'schedule' | 'due_at' | 'state' | 'noted_at' | 'not_before' | 'message'>,
): Promise<boolean> {
  const { state, noted_at, not_before, message } = scheduledRun
  const added = await trx
    .insertInto('scheduled_run')
    .values({ ...scheduledRun, attempts: 0, approved_at: null, started_at: null, finished_at: null })
    .onConflict((conflict) =>
      conflict
        .columns(['schedule', 'due_at'])
        .doUpdateSet({ state, noted_at, not_before, message, finished_at: null })
        .where('scheduled_run.noted_at', '>', noted_at)
        .where('scheduled_run.attempts', '=', 0),
    )
    .executeTakeFirst()
  return added.numInsertedOrUpdatedRows !== 0n
}

/** Tells whether a run was noted after an instant: that is, while the clock was ahead. */
export async function isAnyNotedAfter(db: Db, instant: Instant): Promise<boolean> {
  const noted = db.selectFrom('scheduled_run').where('noted_at', '>', instant)
  return (await noted.select('schedule').limit(1).executeTakeFirst()) !== undefined
}

export async function forgetScheduledRuns(
  trx: Trx,
  instant: Instant,
): Promise<Pick<ScheduledRun, 'schedule' | 'due_at' | 'state'>[]> {
  const noted = trx.deleteFrom('scheduled_run').where('noted_at', '>', instant).where('due_at', '>', instant)
  return noted.returning(['schedule', 'due_at', 'state']).execute()
}

/** Tells whether the schedule has a run that is due, is not finished, and need not wait any longer. */
export async function isAnyOpen(db: Db, schedule: string, at: Instant): Promise<boolean> {
  const open = await listOpenScheduledRuns(db, schedule, at)
  return open.some(({ not_before }) => not_before === null || not_before <= at)
}

/** Tells whether a scheduled run of any schedule can start. A held run can start once it is approved. */
export async function isAnyDue(db: Db, at: Instant): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM scheduled_run ${indexedBy(db, 'scheduled_run_open')}
    WHERE state IN ('pending', 'running', 'held') AND (state = 'pending' OR (state = 'held' AND approved_at IS NOT NULL))
      AND due_at <= ${at} AND (not_before IS NULL OR not_before <= ${at}) LIMIT 1`.execute(db)
  return rows.length > 0
}

/** Lists the oldest first. The query names an index, or SQLite would read all runs of the schedule. */
export async function listOpenScheduledRuns(db: Db, schedule: string, at: Instant): Promise<ScheduledRun[]> {
  const { rows } = await sql<ScheduledRun>`SELECT * FROM scheduled_run ${indexedBy(db, 'scheduled_run_open')}
    WHERE schedule = ${schedule} AND due_at <= ${at} AND state IN ('pending', 'running', 'held') ORDER BY due_at`.execute(
    db,
  )
  return rows
}

/** The caller must hold the schedule's lease. Checking a held run again is no other attempt. */
export async function beginScheduledRun(
  trx: Trx,
  scheduledRun: ScheduledRun,
  at: Instant,
): Promise<ScheduledRun> {
  const begun = {
    state: 'running' as const,
    started_at: at,
    attempts: scheduledRun.attempts + (scheduledRun.state === 'held' ? 0 : 1),
  }
  await updateScheduledRun(trx, scheduledRun, begun)
  return { ...scheduledRun, ...begun }
}

export async function updateScheduledRun(
  trx: Trx,
  { schedule, due_at }: Pick<ScheduledRun, 'schedule' | 'due_at'>,
  values: Partial<ScheduledRun>,
): Promise<void> {
  await trx
    .updateTable('scheduled_run')
    .where('schedule', '=', schedule)
    .where('due_at', '=', due_at)
    .set(values)
    .execute()
}

/** Lists the scheduled runs of a schedule that were noted since an instant, in order of their due times. */
export async function listScheduledRunsNotedSince(
  db: Db,
  schedule: string,
  since: Instant,
): Promise<ScheduledRun[]> {
  return db
    .selectFrom('scheduled_run')
    .where('schedule', '=', schedule)
    .where('noted_at', '>=', since)
    .selectAll()
    .orderBy('due_at')
    .execute()
}

/** Lists the runs before an instant, and after the last one that was done, that were not done. */
export async function listNotDoneBefore(db: Db, schedule: string, before: Instant): Promise<ScheduledRun[]> {
  const runs = db.selectFrom('scheduled_run').where('schedule', '=', schedule).where('due_at', '<', before)
  const done = await runs
    .where('state', '=', 'done')
    .select((eb) => eb.fn.max('due_at').as('at'))
    .executeTakeFirstOrThrow()
  return (
    runs
      .where('due_at', '>', done.at ?? '')
      .where('state', 'in', ['skipped', 'failed'])
      // The first row of a schedule only marks when it was set up.
      .whereRef('due_at', '<>', 'noted_at')
      .selectAll()
      .orderBy('due_at')
      .execute()
  )
}

/** Lists the newest first, without the first row of a schedule, which only marks when it was set up. */
export async function listScheduledRuns(db: Db, limit: number): Promise<ScheduledRun[]> {
  return db
    .selectFrom('scheduled_run')
    .where(sql<boolean>`(state <> 'skipped' OR due_at <> noted_at OR finished_at IS NOT NULL)`)
    .selectAll()
    .orderBy('due_at', 'desc')
    .limit(limit)
    .execute()
}

/** Marks the unfinished runs of schedules that are no longer in the settings as skipped. */
export async function endUnknownScheduledRuns(
  trx: Trx,
  known: readonly string[],
  at: Instant,
): Promise<void> {
  await trx
    .updateTable('scheduled_run')
    .where('state', 'in', OPEN)
    .where('schedule', 'not in', known)
    .set({ state: 'skipped', finished_at: at, message: 'the settings have no such schedule any longer' })
    .execute()
}

/** Lists runs that were not done, or began more than `lateMs` late, newest first. */
export async function listProblemRuns(
  db: Db,
  schedule: string,
  { since, lateMs, limit }: { readonly since: Instant; readonly lateMs: number; readonly limit: number },
): Promise<ScheduledRun[]> {
  return db
    .selectFrom('scheduled_run')
    .where('schedule', '=', schedule)
    .where('due_at', '>=', since)
    .where(
      sql<boolean>`(state <> 'done' OR (julianday(started_at) - julianday(due_at)) * 86400000 > ${lateMs})`,
    )
    .selectAll()
    .orderBy('due_at', 'desc')
    .limit(limit)
    .execute()
}

/** The run then starts at the next check. Returns it as before; undefined where none is unfinished. */
export async function approveScheduledRun(
  trx: Trx,
  schedule: string,
  at: Instant,
): Promise<ScheduledRun | undefined> {
  const latest = (await listOpenScheduledRuns(trx, schedule, at)).at(-1)
  if (!latest) return undefined
  await updateScheduledRun(trx, latest, { approved_at: at, not_before: null })
  return latest
}
