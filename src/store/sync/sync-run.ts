/** The record of sync runs: how much each run read, changed and skipped, updated page by page. */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import type {
  DetailCounts,
  LeadCounts,
  SyncFailure,
  SyncPart,
  SyncProblem,
  SyncResult,
} from '../../domain/sync.ts'
import { modelsIn } from '../db/model.ts'
import { statement } from '../db/statement.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { type Lease, listHeldLeases } from '../schedule/lease.ts'
import type { Row } from '../tables/tables.ts'

type Mode = Row<'sync_run'>['mode']

/** An earlier run that never finished is marked as killed and keeps the counts it had reached. */
export async function startRun(
  trx: Trx,
  run: { mode: Mode; parts: readonly SyncPart[]; at: Instant },
): Promise<string> {
  await trx.updateTable('sync_run').where('outcome', 'is', null).set({ outcome: 'killed' }).execute()
  const id = `${run.at.replace(/[-:]|\.\d+/g, '')}-${randomBytes(3).toString('hex')}`
  await trx
    .insertInto('sync_run')
    .values({
      id,
      started_at: run.at,
      finished_at: null,
      mode: run.mode,
      parts: JSON.stringify(run.parts),
      outcome: null,
      leads_as_of: null,
      duration_ms: null,
      not_before: null,
    })
    .execute()
  return id
}

interface RunUsage {
  readonly requests: number
  readonly retries: number
}

/** Writes data of a run, each in one transaction, unless another process has taken over the lease. */
export interface RunWriter {
  /**
   * Waits until the data is on the disk.
   * @throws LeadsheetError job_busy if the lease was lost
   */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /** Does not wait for the disk: if a power cut loses the write, the next run reads the same data again. */
  writeSoon<T>(work: (trx: Trx) => Promise<T>): Promise<T>
}

export function createRunWriter(
  store: Store,
  lease: Lease,
  runId: string,
  now: () => Date,
  spent: () => RunUsage,
): RunWriter {
  const underLease =
    <T>(work: (trx: Trx) => Promise<T>) =>
    async (trx: Trx): Promise<T> => {
      await lease.renew(trx, now())
      // Saves the number of requests in each transaction, so that operators see it during a run and it
      // survives a kill.
      await updateUsage(trx, { id: runId, ...spent() })
      return work(trx)
    }
  return {
    write: (work) => store.write(underLease(work)),
    writeSoon: (work) => store.writeSoon(underLease(work)),
  }
}

const updateUsage = statement((db, { id, requests, retries }: RunUsage & { id: string }) =>
  db.updateTable('sync_run').where('id', '=', id).set({ requests, retries }).compile(),
)

/** The columns that count what a run has read. */
const NO_COUNTS = {
  pages: 0,
  leads_seen: 0,
  leads_inserted: 0,
  leads_updated: 0,
  leads_unchanged: 0,
  leads_deleted: 0,
  leads_quarantined: 0,
  details_read: 0,
  details_not_found: 0,
  details_failed: 0,
}
export type Counts = Readonly<Partial<typeof NO_COUNTS>>

/** Must be in the transaction that writes what is counted. Returns the number of pages read so far. */
export async function addCounts(trx: Trx, runId: string, counts: Counts): Promise<number> {
  const { rows } = await updateCounts(trx, { runId, ...NO_COUNTS, ...counts })
  if (rows[0] === undefined) throw new Error(`The run ${runId} is not in sync_run`)
  return rows[0].pages
}

const updateCounts = statement((db, { runId, ...counts }: typeof NO_COUNTS & { runId: string }) =>
  db
    .updateTable('sync_run')
    .where('id', '=', runId)
    .set(
      Object.fromEntries(
        Object.entries(counts).map(([column, n]) => [column, sql<number>`${sql.ref(column)} + ${n}`]),
      ),
    )
    .returning('pages')
    .compile(),
)

/** Records that a run has read all leads: everything that changed before `asOf` is in the store. */
export async function noteLeadsAsOf(trx: Trx, runId: string, asOf: Instant): Promise<void> {
  await trx.updateTable('sync_run').where('id', '=', runId).set({ leads_as_of: asOf }).execute()
}

export async function finishRun(trx: Trx, result: SyncResult, at: Instant): Promise<void> {
  await trx
    .updateTable('sync_run')
    .where('id', '=', result.runId)
    .set({
      finished_at: at,
      outcome: result.outcome,
      is_complete: result.complete ? 1 : 0,
      stats: result.stats,
      agents: result.agents,
      requests: result.requests,
      retries: result.retries,
      duration_ms: result.durationMs,
      problems: JSON.stringify(result.problems),
      not_before: result.notBefore,
    })
    .execute()
}

/** Reads the counts of leads and details that a run has reached so far. */
export async function readCounts(
  db: Db,
  runId: string,
): Promise<LeadCounts & { pages: number; details: DetailCounts }> {
  const { read, notFound, failed, ...counts } = await modelsIn(db)
    .selectFrom('sync_run')
    .where('id', '=', runId)
    .select(LEAD_COUNTS)
    .select(['pages', 'detailsRead as read', 'detailsNotFound as notFound', 'detailsFailed as failed'])
    .executeTakeFirstOrThrow()
  return { ...counts, details: { read, notFound, failed } }
}

const LEAD_COUNTS = [
  'leadsSeen as seen',
  'leadsInserted as inserted',
  'leadsUpdated as updated',
  'leadsUnchanged as unchanged',
  'leadsDeleted as deleted',
  'leadsQuarantined as quarantined',
] as const

export type RunSummary = Awaited<ReturnType<typeof listRuns>>[number]

/** Orders runs by when they began, even if the clock was set back. */
const begun = sql<number>`rowid`

export async function listRuns(db: Db, limit: number) {
  const rows = await modelsIn(db)
    .selectFrom('sync_run')
    .select(['id', 'startedAt', 'finishedAt', 'mode', 'outcome', 'leadsAsOf', ...LEAD_COUNTS])
    .select(['requests', 'retries', 'durationMs', 'problems'])
    .orderBy(begun, 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ unchanged: _, problems, ...run }) => ({
    ...run,
    problems: JSON.parse(problems) as readonly SyncProblem[],
  }))
}

export type RunBrief = Pick<RunSummary, 'id' | 'startedAt' | 'outcome'>

/** A sync can run every minute, so this is a little more than the number of minutes in a day. */
const BRIEFS_MAX = 1500

export async function listRunsSince(db: Db, since: Instant): Promise<RunBrief[]> {
  return db
    .selectFrom((last) =>
      last
        .selectFrom('sync_run')
        .select(['id', 'started_at as startedAt', 'outcome'])
        .orderBy(begun, 'desc')
        .limit(BRIEFS_MAX)
        .as('run'),
    )
    .where('startedAt', '>=', since)
    .selectAll()
    .execute()
}

/** `requests` is null if that run has not ended or was killed, because not all of them were counted. */
export async function findLastCompleteRun(
  db: Db,
): Promise<{ id: string; asOf: Instant; requests: number | null } | undefined> {
  const row = await db
    .selectFrom('sync_run')
    .where('leads_as_of', 'is not', null)
    .select(['id', 'leads_as_of', 'requests', 'finished_at'])
    .orderBy(begun, 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row || row.leads_as_of === null) return undefined
  return { id: row.id, asOf: row.leads_as_of, requests: row.finished_at === null ? null : row.requests }
}

/** Searches from the last run that read all leads, because another part of that run may have failed. */
export async function findLastFailure(db: Db): Promise<SyncFailure | null> {
  const row = await db
    .selectFrom('sync_run')
    .where('outcome', 'in', ['failed', 'partial', 'deferred', 'killed'])
    .where(
      begun,
      '>=',
      sql<number>`(SELECT coalesce(max(rowid), 0) FROM sync_run WHERE leads_as_of IS NOT NULL)`,
    )
    .select([
      'started_at',
      'finished_at',
      sql<string | null>`problems ->> '$[0].code'`.as('code'),
      sql<string | null>`problems ->> '$[0].message'`.as('message'),
    ])
    .orderBy(begun, 'desc')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return null
  const { code, message } = row
  return {
    at: row.finished_at ?? row.started_at,
    code: code ?? 'run_interrupted',
    message: message ?? 'the run was killed',
  }
}

export interface SyncUnderWay {
  readonly mode: Mode
  readonly startedAt: Instant
  readonly pid: number
  readonly host: string
  readonly pages: number
  readonly requests: number
  readonly details: number
  /** The progress of reading the leads; null once all leads are read. */
  readonly leads: {
    /** The first pass is 1. The list is read again because rows moved. */
    readonly pass: number
    readonly read: number
    readonly total: number | null
  } | null
}

interface RunRow extends Omit<SyncUnderWay, 'leads' | 'pid' | 'host'> {
  readonly leadsAsOf: Instant | null
  readonly pass: number | null
  readonly read: number | null
  readonly total: number | null
}

/** Finds the sync that is running; null if none is. A killed run does not count. */
export async function findSyncUnderWay(db: Db, now: Date): Promise<SyncUnderWay | null> {
  const lease = (await listHeldLeases(db, now)).find(({ name }) => name === 'sync')
  if (lease === undefined) return null
  const { rows } = await sql<RunRow>`
    SELECT run.mode, run.started_at AS "startedAt", run.pages, run.requests, run.details_read AS details,
      run.leads_as_of AS "leadsAsOf", pass, total_high AS total,
      pass_seen + pass_uncounted AS read
    FROM (SELECT * FROM sync_run ORDER BY rowid DESC LIMIT 1) AS run LEFT JOIN sync_scan ON TRUE
    WHERE outcome IS NULL AND run.started_at >= ${lease.acquired_at}`.execute(db)
  const [row] = rows
  if (row === undefined) return null
  const { leadsAsOf, pass, read, total, ...run } = row
  const isReading = leadsAsOf === null && pass !== null && read !== null
  return { ...run, pid: lease.pid, host: lease.host, leads: isReading ? { pass, read, total } : null }
}
