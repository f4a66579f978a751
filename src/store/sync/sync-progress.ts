/** The sync under way, as far as it is written: whoever runs it, here or in another process. */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db } from '../db/store.ts'
import { listHeldLeases } from '../schedule/lease.ts'
import type { SyncRunTable } from '../tables/tables.ts'

export interface SyncUnderWay {
  readonly mode: SyncRunTable['mode']
  readonly startedAt: Instant
  readonly pid: number
  readonly host: string
  readonly pages: number
  readonly requests: number
  readonly details: number
  /** Where the reading of the leads stands; null once they are read. */
  readonly leads: {
    /** How often the list is read anew, since rows moved: 1 for the first time. */
    readonly pass: number
    readonly read: number
    /** By the upstream's own count; null where it gives none. */
    readonly total: number | null
  } | null
}

interface Row extends Omit<SyncUnderWay, 'leads' | 'pid' | 'host'> {
  readonly leadsAsOf: Instant | null
  readonly pass: number | null
  readonly read: number | null
  readonly total: number | null
}

/** Null where none is; a run that was killed is none. */
export async function findSyncUnderWay(db: Db, now: Date): Promise<SyncUnderWay | null> {
  const lease = (await listHeldLeases(db, now)).find(({ name }) => name === 'sync')
  if (lease === undefined) return null
  const { rows } = await sql<Row>`
    SELECT run.mode, run.started_at AS "startedAt", run.pages, run.requests, run.details_read AS details,
      run.leads_as_of AS "leadsAsOf", pass, total_high AS total,
      pass_seen + pass_held AS read
    FROM (SELECT * FROM sync_run ORDER BY rowid DESC LIMIT 1) AS run LEFT JOIN sync_scan ON resource = 'lead'
    WHERE outcome IS NULL AND run.started_at >= ${lease.acquired_at}`.execute(db)
  const [row] = rows
  if (row === undefined) return null
  const { leadsAsOf, pass, read, total, ...run } = row
  const isReading = leadsAsOf === null && pass !== null && read !== null
  return { ...run, pid: lease.pid, host: lease.host, leads: isReading ? { pass, read, total } : null }
}
