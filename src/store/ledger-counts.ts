/** What the ledgers add up to since the beginning, as counters are to show it: none of them ever goes down. */
import { sql } from 'kysely'
import type { Db } from './open.ts'
import type { Tables } from './tables.ts'

/** Sums over runs. */
export interface RunCounts {
  readonly outcome: string
  readonly runs: number
  readonly requests: number
  readonly retries: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly removed: number
  readonly held: number
}

export interface SlotCounts {
  readonly schedule: string
  readonly state: Tables['schedule_slot']['state']
  readonly slots: number
}

const NUMBERS = [
  'runs',
  'requests',
  'retries',
  'inserted',
  'updated',
  'unchanged',
  'removed',
  'held',
] as const

/**
 * By outcome; of a run under way, which has none yet, what it has committed stands under `running`. What has ended
 * stays as it is and is added up once, so that the ledger is not read from its beginning each time.
 */
export function createRunCounter(db: Db): () => Promise<RunCounts[]> {
  const ended = new Map<string, RunCounts>()
  let upTo = 0
  return async () => {
    const { rows } = await sql<RunCounts & { readonly no: number }>`
      SELECT rowid AS no, coalesce(outcome, 'running') AS outcome, 1 AS runs, requests, retries,
        leads_inserted AS inserted, leads_updated AS updated, leads_unchanged AS unchanged, leads_removed AS removed,
        leads_held AS held
      FROM sync_run WHERE rowid > ${upTo} ORDER BY rowid`.execute(db)
    for (const { no, ...run } of rows) {
      // Another call may have added it meanwhile.
      if (no <= upTo) continue
      if (run.outcome === 'running') break
      add(ended, run)
      upTo = no
    }
    const counts = new Map(ended)
    for (const { no, ...run } of rows) if (no > upTo) add(counts, run)
    return [...counts.values()]
  }
}

function add(counts: Map<string, RunCounts>, run: RunCounts): void {
  const before = counts.get(run.outcome)
  const sum = before && Object.fromEntries(NUMBERS.map((name) => [name, before[name] + run[name]]))
  counts.set(run.outcome, { ...run, ...sum })
}

export async function countSlots(db: Db): Promise<SlotCounts[]> {
  const { rows } = await sql<SlotCounts>`
    SELECT schedule, state, count(*) AS slots FROM schedule_slot GROUP BY schedule, state`.execute(db)
  return rows
}

/** By schedule, those that passed by and were not made up for; the moment at which it was set up is none. */
export async function countMissedSlots(
  db: Db,
): Promise<{ readonly schedule: string; readonly slots: number }[]> {
  const { rows } = await sql<{ schedule: string; slots: number }>`
    SELECT schedule, count(*) AS slots FROM schedule_slot
    WHERE state = 'skipped' AND attempts = 0 AND slot <> noted_at GROUP BY schedule`.execute(db)
  return rows
}

export async function countHeldByKind(
  db: Db,
): Promise<{ readonly resource: Tables['held_row']['resource']; readonly records: number }[]> {
  return db
    .selectFrom('held_row')
    .select((eb) => ['resource', eb.fn.countAll<number>().as('records')])
    .groupBy('resource')
    .execute()
}
