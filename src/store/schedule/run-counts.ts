/** Counts runs since the installation began, for metrics that never decrease. */
import { sql } from 'kysely'
import type { Db } from '../db/store.ts'
import type { Tables } from '../tables/tables.ts'

interface RunCounts {
  readonly outcome: string
  readonly runs: number
  readonly requests: number
  readonly retries: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  readonly quarantined: number
}

interface ScheduledRunCounts {
  readonly schedule: string
  readonly state: Tables['scheduled_run']['state']
  readonly runs: number
}

/** Counts sync runs by outcome. The changes that a running sync has committed count under `running`. */
export async function countRuns(db: Db): Promise<RunCounts[]> {
  const { rows } = await sql<RunCounts>`
    SELECT coalesce(outcome, 'running') AS outcome, count(*) AS runs, sum(requests) AS requests, sum(retries) AS retries,
      sum(leads_inserted) AS inserted, sum(leads_updated) AS updated, sum(leads_unchanged) AS unchanged,
      sum(leads_deleted) AS deleted, sum(leads_quarantined) AS quarantined
    FROM sync_run GROUP BY 1`.execute(db)
  return rows
}

export async function countScheduledRuns(db: Db): Promise<ScheduledRunCounts[]> {
  const { rows } = await sql<ScheduledRunCounts>`
    SELECT schedule, state, count(*) AS runs FROM scheduled_run GROUP BY schedule, state`.execute(db)
  return rows
}

/** Skipped runs that never started, without the run that marks when a schedule was set up. */
export async function countMissedScheduledRuns(
  db: Db,
): Promise<{ readonly schedule: string; readonly runs: number }[]> {
  const { rows } = await sql<{ schedule: string; runs: number }>`
    SELECT schedule, count(*) AS runs FROM scheduled_run
    WHERE state = 'skipped' AND attempts = 0 AND due_at <> noted_at GROUP BY schedule`.execute(db)
  return rows
}

export async function countQuarantinedByKind(
  db: Db,
): Promise<{ readonly resource: Tables['quarantined_record']['resource']; readonly records: number }[]> {
  return db
    .selectFrom('quarantined_record')
    .select((eb) => ['resource', eb.fn.countAll<number>().as('records')])
    .groupBy('resource')
    .execute()
}
