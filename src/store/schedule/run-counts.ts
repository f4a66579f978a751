/**
 * Counts runs and scheduled runs since the installation began, for metrics that never decrease (counters).
 */
import { sql } from 'kysely'
import type { Db } from '../db/store.ts'
import type { Tables } from '../tables/tables.ts'

/** The sums of all runs with the same outcome. */
export interface RunCounts {
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

export interface ScheduledRunCounts {
  readonly schedule: string
  readonly state: Tables['scheduled_run']['state']
  readonly runs: number
}

const NUMBERS = [
  'runs',
  'requests',
  'retries',
  'inserted',
  'updated',
  'unchanged',
  'deleted',
  'quarantined',
] as const

/**
 * Creates a function that counts sync runs by outcome. The changes that a running sync has committed count
 * under `running`. The function remembers the sums of ended runs, so that it does not read all runs each
 * time.
 */
export function createRunCounter(db: Db): () => Promise<RunCounts[]> {
  const ended = new Map<string, RunCounts>()
  let upTo = 0
  return async () => {
    for (;;) {
      const after = upTo
      const rows = await readRuns(db, after)
      // Reads again if another call has added these runs meanwhile.
      if (after !== upTo) continue
      for (const { isEnded, last, ...run } of rows) {
        if (isEnded === 0) continue
        add(ended, run)
        upTo = Math.max(upTo, last)
      }
      const counts = new Map(ended)
      for (const { isEnded, last: _, ...run } of rows) if (isEnded === 0) add(counts, run)
      return [...counts.values()]
    }
  }
}

interface RunGroup extends RunCounts {
  /** Is 1 if all runs of the group began before the first run that still has no outcome; otherwise 0. */
  readonly isEnded: 0 | 1
  /** The last run of the group, in the order in which runs began. */
  readonly last: number
}

async function readRuns(db: Db, after: number): Promise<RunGroup[]> {
  const { rows } = await sql<RunGroup>`
    WITH edge AS (
      SELECT coalesce(min(rowid) FILTER (WHERE outcome IS NULL) - 1, max(rowid)) AS no FROM sync_run WHERE rowid > ${after})
    SELECT coalesce(outcome, 'running') AS outcome, sync_run.rowid <= edge.no AS "isEnded", max(sync_run.rowid) AS last,
      count(*) AS runs, sum(requests) AS requests, sum(retries) AS retries, sum(leads_inserted) AS inserted,
      sum(leads_updated) AS updated, sum(leads_unchanged) AS unchanged, sum(leads_deleted) AS deleted,
      sum(leads_quarantined) AS quarantined
    FROM edge CROSS JOIN sync_run WHERE sync_run.rowid > ${after} GROUP BY 1, 2`.execute(db)
  return rows
}

function add(counts: Map<string, RunCounts>, run: RunCounts): void {
  const before = counts.get(run.outcome)
  const sum = before && Object.fromEntries(NUMBERS.map((name) => [name, before[name] + run[name]]))
  counts.set(run.outcome, { ...run, ...sum })
}

/** Counts scheduled runs by schedule and state. */
export async function countScheduledRuns(db: Db): Promise<ScheduledRunCounts[]> {
  const { rows } = await sql<ScheduledRunCounts>`
    SELECT schedule, state, count(*) AS runs FROM scheduled_run GROUP BY schedule, state`.execute(db)
  return rows
}

/**
 * Counts for each schedule the skipped runs that never started. The run that is stored when a schedule is set
 * up does not count.
 */
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
