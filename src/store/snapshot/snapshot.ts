/**
 * The snapshot: a file for analysts beside the store, made from one consistent read of the database. Each new
 * snapshot replaces the file as a whole. A program that has the old file open can go on reading it.
 */
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { CompiledQuery, sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { faultText, LeadsheetError } from '../../errors.ts'
import { flush } from '../backup/backup.ts'
import type { CopiedRow, CopiedTable } from '../copy/copied-tables.ts'
import { listCopiedTables, readChunks } from '../copy/copied-tables.ts'
import { removeLeftovers } from '../db/file-system.ts'
import { insertCopies } from '../db/rows.ts'
import { openSqlite } from '../db/sqlite.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { askChild, NoAnswer, programFile } from '../db/subprocess.ts'
import { planFields, type RuledField, saveFieldPlan } from '../leads/field-mapping.ts'
import { openStore } from '../open.ts'
import { migrate } from '../schema/migrate.ts'
import { OF_FIELDS, PUBLISHED } from '../schema/published.ts'
import { buildSnapshot, type SnapshotJob } from './build-snapshot.ts'

const CHILD = programFile(import.meta.url, 'snapshot-child')
/** The mode of a file that everybody may read, and nobody may write. */
const MODE_FOR_OWNER = 0o400
/** The mode of a file that a group may read, and only the program's own user may write. */
const MODE_FOR_GROUP = 0o640

/** The origin of a snapshot: when it was made, and how recent its leads are. */
export interface SnapshotInfo {
  readonly madeAt: Instant
  /** The id of the last sync that read all leads; null before the first such sync. */
  readonly runId: string | null
  /** The time up to which all changes of leads are in the snapshot; null before the first such sync. */
  readonly leadsAsOf: Instant | null
  readonly schema: string
  readonly version: string
  /** How many milliseconds making it took. */
  readonly buildMs: number
}

/**
 * Makes a snapshot in a child process and replaces the previous snapshot. If the process is killed, the
 * previous snapshot stays intact, and the next call deletes unfinished files. The caller must have a lease,
 * because only one call may run at a time.
 * @param options.group the name or number of the Unix group that may read the file; null for its owner alone
 * @throws LeadsheetError data_unwritable, store_corrupt, store_busy, config_invalid for the group; the reason
 *   of an aborted signal
 */
export async function makeSnapshot(
  store: Pick<Store, 'db' | 'place'>,
  job: Omit<SnapshotJob, 'live' | 'target' | 'elapsedMs'>,
  file: string,
  { group, signal }: { readonly group: string | null; readonly signal: AbortSignal },
): Promise<SnapshotInfo> {
  const startedMs = performance.now()
  const unfinished = `${file}.tmp-${process.pid}`
  try {
    await removeLeftovers(file)
    const live = await liveFile(store, unfinished, signal)
    // Uses the folder of the snapshot also for temporary files, because SQLite needs much space there to sort
    // large indexes.
    await askChild<SnapshotJob, void>(
      CHILD,
      {
        ...job,
        live: resolve(live),
        target: resolve(unfinished),
        elapsedMs: performance.now() - startedMs,
      },
      { folder: dirname(file), signal },
    )
    await flush(unfinished)
    await letAnalystsRead(unfinished, group)
    await rename(unfinished, file)
    await flush(dirname(file))
    await removeLeftovers(file)
    const info = readSnapshotInfo(file)
    if (info === null) throw unwritable(file, 'it cannot be read again')
    return info
  } catch (thrown) {
    await removeLeftovers(file)
    const isOfFiles = thrown instanceof NoAnswer || (thrown instanceof Error && 'syscall' in thrown)
    throw isOfFiles ? unwritable(file, faultText(thrown), thrown) : thrown
  }
}

/**
 * Lets a group, or its owner alone, read a file.
 * @throws LeadsheetError config_invalid for the group
 */
async function letAnalystsRead(file: string, group: string | null): Promise<void> {
  if (group === null) return chmod(file, MODE_FOR_OWNER)
  const id = await findGroup(group)
  try {
    // A service without privileges may not call chown, but its files have its own group already.
    if ((await stat(file)).gid !== id) await chown(file, -1, id)
  } catch (cause) {
    throw new LeadsheetError(
      'config_invalid',
      `snapshot.group: this user may not give a file to the group ${group}: ${faultText(cause)}`,
      {
        hint: 'Make the user of leadsheet a member of that group and restart it, or name the group that it has.',
        cause,
      },
    )
  }
  await chmod(file, MODE_FOR_GROUP)
}

/**
 * Finds the number of a group. The groups of a directory service are known only by their numbers.
 * @throws LeadsheetError config_invalid if there is no such group
 */
export async function findGroup(group: string): Promise<number> {
  if (/^\d+$/.test(group)) return Number(group)
  const lines = (await readFile('/etc/group', 'utf8').catch(() => '')).split('\n')
  const found = lines.map((line) => line.split(':')).find(([name]) => name === group)
  if (found?.[2] !== undefined) return Number(found[2])
  throw new LeadsheetError('config_invalid', `snapshot.group: there is no group ${group}`, {
    hint: `Make it with: groupadd ${group}. Or set snapshot.group to its number.`,
  })
}

/** Returns null if there is no snapshot, or if this version of leadsheet cannot read it. */
export function readSnapshotInfo(file: string): SnapshotInfo | null {
  if (!existsSync(file)) return null
  let database: Database.Database | undefined
  try {
    database = new Database(file, { readonly: true, fileMustExist: true })
    const info = database
      .prepare<[], SnapshotInfo>(
        `SELECT made_at AS madeAt, run_id AS runId, leads_as_of AS leadsAsOf, schema, leadsheet_version AS version,
           user_version AS buildMs
         FROM snapshot_info, pragma_user_version`,
      )
      .get()
    return info ?? null
  } catch (thrown) {
    // The next snapshot replaces a file of another version of leadsheet, or a damaged file.
    if (thrown instanceof Database.SqliteError) return null
    throw thrown
  } finally {
    database?.close()
  }
}

/**
 * Builds the snapshot of an empty store in a temporary folder, for callers that need only its schema.
 * @param fields the declared fields, which its `lead_now` has
 */
export async function withEmptySnapshot<T>(
  sourcePaths: SnapshotJob['sourcePaths'],
  fields: readonly RuledField[],
  work: (file: string) => T | Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsheet-schema-'))
  try {
    const [live, target] = [join(folder, 'leadsheet.db'), join(folder, 'snapshot.db')]
    const now = new Date()
    const store = await openStore(live, now)
    const plan = await planFields(store.db, fields)
    await store.write((trx) => saveFieldPlan(trx, plan)).finally(() => store.close())
    buildSnapshot({ live, target, madeAt: now.toISOString(), version: '', sourcePaths })
    return await work(target)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Returns the store itself, or a copy of the published parts of a PostgreSQL store. */
async function liveFile(
  { db, place }: Pick<Store, 'db' | 'place'>,
  unfinished: string,
  signal: AbortSignal,
): Promise<string> {
  if (place.kind === 'sqlite') return place.file
  const copy = `${unfinished}-copy`
  await copyPublished(db, copy, signal)
  return copy
}

function unwritable(file: string, reason: string, cause?: unknown): LeadsheetError {
  return new LeadsheetError('data_unwritable', `the snapshot ${file} cannot be made: ${reason}`, {
    hint: 'Check that no folder lies in its place, and that data_dir (LEADSHEET_DATA_DIR) is writable by this user and has room for a second copy.',
    cause,
  })
}

export interface SnapshotNews {
  readonly schema: string
  /** The id of the last sync that read all leads, even if the snapshot lacks it; null if there is none. */
  readonly wholeRunId: string | null
  /** The number of inserts, updates and deletions of leads by later syncs and events. */
  readonly changes: number
  /**
   * The number of issues that were made, of leads whose details were read, and 1 if the declared fields were
   * mapped again, after the snapshot.
   */
  readonly others: number
}

/** Counts everything if `info` is null. */
export async function readSnapshotNews(db: Db, info: SnapshotInfo | null): Promise<SnapshotNews> {
  const madeAt = info?.madeAt ?? ''
  const { rows } = await sql<SnapshotNews>`
    SELECT (SELECT max(name) FROM kysely_migration) AS schema,
      (SELECT id FROM sync_run WHERE leads_as_of IS NOT NULL ORDER BY rowid DESC LIMIT 1) AS "wholeRunId",
      coalesce(sum(leads_inserted + leads_updated + leads_deleted), 0)
        + (SELECT count(*) FROM event WHERE done_at > ${madeAt} AND outcome IN ('inserted', 'updated', 'deleted')
          AND received_at > coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', nullif(${madeAt}, ''), '-1 day'), '')) AS changes,
      coalesce(sum(details_read) FILTER (WHERE finished_at > ${madeAt}), 0)
        + (SELECT count(*) FROM report_issue WHERE rendered_at > ${madeAt})
        + (SELECT count(*) FROM field_mapping WHERE mapped_at > ${madeAt}) AS others
    FROM sync_run
    WHERE rowid > coalesce((SELECT rowid FROM sync_run WHERE id = ${info?.runId ?? null}), 0)`.execute(db)
  const [news] = rows
  if (!news) throw new TypeError('a sum has one row')
  return news
}

/**
 * Copies the published parts of a PostgreSQL store into an SQLite file from which a snapshot can be built.
 * The copy is from one consistent read of the database. The file never contains private data.
 * @param file the file to create; it must not exist. After an error the file is useless
 * @throws LeadsheetError store_*, data_unwritable; the reason of an aborted signal
 */
export async function copyPublished(db: Db, file: string, signal: AbortSignal): Promise<void> {
  const target = openSqlite(file)
  try {
    const indexes = await makeReady(target, file)
    await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (reading) => {
        await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(reading)
        for (const table of await listCopiedTables())
          if (table.name in PUBLISHED || OF_FIELDS.includes(table.name))
            await copyTable(reading, target, table, signal)
      })
    for (const index of indexes) await target.executeQuery(CompiledQuery.raw(index))
  } finally {
    await target.destroy()
  }
}

/**
 * Prepares the file for copied rows. Foreign keys are off, because they were in force when the rows were first
 * written. No journal is written to the disk, because an unfinished file is useless.
 * @returns the statements that create the dropped indexes again. Creating the indexes after the copy is
 * faster than keeping them up to date during the copy
 */
async function makeReady(target: Db, file: string): Promise<string[]> {
  await migrate(target, file)
  await sql`PRAGMA foreign_keys = OFF`.execute(target)
  await sql`PRAGMA synchronous = OFF`.execute(target)
  await sql`PRAGMA journal_mode = MEMORY`.execute(target)
  const { rows } = await sql<{ name: string; sql: string }>`
    SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`.execute(target)
  for (const { name } of rows) await sql`DROP INDEX ${sql.ref(name)}`.execute(target)
  return rows.map((index) => index.sql)
}

async function copyTable(reading: Trx, target: Db, table: CopiedTable, signal: AbortSignal): Promise<void> {
  const withheld = PUBLISHED[table.name] ?? []
  const columns = table.columns.filter(({ name }) => !withheld.includes(name))
  // Gives withheld columns an empty text, because the table has these columns.
  const empty: CopiedRow = Object.fromEntries(withheld.map((name) => [name, '']))
  for await (const { rows } of readChunks(reading, { ...table, columns })) {
    signal.throwIfAborted()
    await insertCopies(
      target,
      table.name,
      withheld.length === 0 ? rows : rows.map((row) => ({ ...row, ...empty })),
    )
  }
}
