/**
 * Stores how far the upstream's data was read: the watermark (the update time up to which changes are read), the last read of each part, and the results of scans. Also stores until when the upstream
 * refuses requests, and the hash of the profile (the settings that describe the upstream's API).
 */
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { inCamelCase, inSnakeCase } from '../../domain/names.ts'
import type { ReportedPart, ScanResult } from '../../domain/sync.ts'
import type { Db, Trx } from '../db/store.ts'
import type { DatedLead } from '../leads/detail.ts'
import type { Row } from '../tables/tables.ts'
import { clearScan } from './scan.ts'

export async function readWatermark(
  db: Db,
): Promise<{ updatedAt: Instant | null; notBefore: Instant | null; hasUndated: boolean }> {
  const row = await db.selectFrom('sync_watermark').selectAll().executeTakeFirst()
  return {
    updatedAt: row?.updated_at || null,
    notBefore: row?.not_before ?? null,
    hasUndated: row?.has_undated === 1,
  }
}

/** Saves parts of the watermark; the others stay. */
export async function saveWatermark(
  trx: Trx,
  parts: Partial<Omit<Row<'sync_watermark'>, 'resource'>>,
): Promise<void> {
  await trx
    .insertInto('sync_watermark')
    .values({ resource: 'lead', updated_at: '', not_before: null, ...parts })
    .onConflict((conflict) => conflict.column('resource').doUpdateSet(parts))
    .execute()
}

/** Counts the leads that are not deleted and for which the upstream gave no update time. */
export async function countUndated(db: Db): Promise<number> {
  const { n } = await db
    .selectFrom('lead')
    .where('deleted_at', 'is', null)
    .whereRef('updated_at', '=', 'observed_at')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

/**
 * Finds the latest update time that the upstream gave for a lead that is not deleted; null if it gave none.
 * If the upstream gave a lead no time, `updated_at` is the time at which the lead was read and does not
 * count.
 */
export async function findLastUpdate(db: Db): Promise<Instant | null> {
  const newest = await db
    .selectFrom('lead')
    .where('deleted_at', 'is', null)
    .whereRef('updated_at', '<>', 'observed_at')
    .orderBy('updated_at', 'desc')
    .limit(1)
    .select('updated_at')
    .executeTakeFirst()
  return newest?.updated_at ?? null
}

/**
 * Finds the newest lead that a list of the changes after `since` must contain, unless the lead was deleted or
 * changed meanwhile; null if there is none. A lead that an event brought may be newer than the list, and a
 * lead that the last whole scan missed may be deleted.
 */
export async function findNewestLead(db: Db, since: Instant, until: Instant): Promise<DatedLead | null> {
  const lead = await db
    .selectFrom('lead')
    .where('updated_at', '>', since)
    .where('updated_at', '<=', until)
    .where('deleted_at', 'is', null)
    .whereRef('updated_at', '<>', 'observed_at')
    .where('run_id', 'not like', 'event:%')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('missing_lead').whereRef('lead_id', '=', 'lead.id').select('lead_id'))),
    )
    .orderBy('updated_at', 'desc')
    .orderBy('no', 'desc')
    .limit(1)
    .select(['no', 'id', 'updated_at as updatedAt'])
    .executeTakeFirst()
  return lead ?? null
}

export async function isDatedAs(db: Db, { no, updatedAt }: DatedLead): Promise<boolean> {
  const row = await db.selectFrom('lead').where('no', '=', no).select('updated_at').executeTakeFirst()
  return row?.updated_at === updatedAt
}

/** The profile with which all leads were last read completely; undefined before the first complete scan. */
export async function findProfileHash(db: Db): Promise<{ sha256: string; since: Instant } | undefined> {
  return db.selectFrom('upstream_profile').select(['sha256', 'since']).executeTakeFirst()
}

export async function saveProfileHash(trx: Trx, sha256: string, at: Instant): Promise<void> {
  await trx
    .insertInto('upstream_profile')
    .values({ id: 1, sha256, since: at })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ sha256, since: at }).where('upstream_profile.sha256', '<>', sha256),
    )
    .execute()
}

/** Finds the address of the list from which the stored leads were read; null before the first sync. */
export async function findAddress(db: Db): Promise<string | null> {
  const row = await db.selectFrom('upstream_address').select('address').executeTakeFirst()
  return row?.address ?? null
}

/** Stores the address. If there was another one, forgets the scan, the watermark, and leads that are missing or unread. */
export async function saveAddress(trx: Trx, address: string): Promise<void> {
  if ((await findAddress(trx)) !== null) {
    await clearScan(trx)
    for (const table of ['missing_lead', 'quarantined_record', 'sync_watermark', 'upstream_address'] as const)
      await trx.deleteFrom(table).execute()
  }
  await trx.insertInto('upstream_address').values({ id: 1, address }).execute()
}

export interface LastRead {
  /** Everything that changed before this time is in the store. */
  readonly asOf: Instant
  /** Null while the run reads on. For a killed run, the time at which it began. */
  readonly endedAt: Instant | null
}

const ENDED_AT = sql<Instant | null>`coalesce(finished_at, iif(outcome = 'killed', started_at, NULL))`

/**
 * Finds the last run that read a part to its end; null if there is none.
 * Statistics and agents count as read if the run read at least one, or if the run ended without a problem.
 * The result is null while the store has never had any.
 */
export async function findLastRead(db: Db, part: ReportedPart): Promise<LastRead | null> {
  const runs = db.selectFrom('sync_run').select(ENDED_AT.as('endedAt')).limit(1)
  // Row numbers give the order in which the runs began, even if the clock was set back.
  const newest = runs.orderBy(sql`rowid`, 'desc')
  if (part === 'leads') {
    const whole = newest.where('leads_as_of', 'is not', null).select(sql<Instant>`leads_as_of`.as('asOf'))
    return (await whole.executeTakeFirst()) ?? null
  }
  const readings = part === 'stats' ? 'pipeline_stat' : 'agent'
  const read = newest
    // Compares a value with null, because with EXISTS SQLite would join the tables and sort all runs.
    .where(({ eb, selectFrom }) => eb(selectFrom(readings).select('observed_at').limit(1), 'is not', null))
    .where(({ or, eb }) => or([eb(part, '>', 0), eb('outcome', 'in', ['ok', 'ok_no_change'])]))
    .where(sql<boolean>`EXISTS (SELECT 1 FROM json_each(parts) WHERE value = ${part})`)
    .select('started_at as asOf')
  return (await read.executeTakeFirst()) ?? null
}

export async function saveScanResult(
  trx: Trx,
  runId: string,
  result: ScanResult,
  endedAt: Instant,
): Promise<void> {
  const { distinct, warnings, drift, ...rest } = result
  await trx
    .insertInto('sync_scan_result')
    .values({
      ...inSnakeCase(rest),
      run_id: runId,
      ended_at: endedAt,
      distinct_leads: distinct,
      warnings: JSON.stringify(warnings),
      drift: JSON.stringify(drift),
    })
    .execute()
}

export interface CompleteFullScan {
  readonly leads: number
  readonly pages: number
  /** Missing leads that were not deleted, because too many were missing at once. */
  readonly heldBack: number
}

export async function listCompleteFullScans(db: Db, limit: number): Promise<CompleteFullScan[]> {
  return (
    db
      // A cross join makes SQLite begin with the last runs instead of reading the results of all runs.
      .selectFrom('sync_run')
      .crossJoin('sync_scan_result as result')
      .whereRef('result.run_id', '=', 'sync_run.id')
      .where('result.mode', '=', 'full')
      .where('result.result', '=', 'complete')
      .select(['distinct_leads as leads', 'result.pages', 'held_back as heldBack'])
      .orderBy(sql`sync_run.rowid`, 'desc')
      .limit(limit)
      .execute()
  )
}

/** Lists the warnings of the last sync that asked for changes alone. */
export async function listWarningsOfChanges(db: Db): Promise<string[]> {
  const row = await db
    .selectFrom('sync_run')
    .crossJoin('sync_scan_result as result')
    .whereRef('result.run_id', '=', 'sync_run.id')
    .where('sync_run.mode', '=', 'incremental')
    .select('warnings')
    .orderBy(sql`sync_run.rowid`, 'desc')
    .limit(1)
    .executeTakeFirst()
  return row === undefined ? [] : JSON.parse(row.warnings)
}

export async function findScanResult(db: Db, runId: string): Promise<ScanResult | null> {
  const row = await db
    .selectFrom('sync_scan_result')
    .where('run_id', '=', runId)
    .selectAll()
    .executeTakeFirst()
  if (row === undefined) return null
  const { run_id, ended_at, distinct_leads: distinct, result, warnings, drift, ...rest } = row
  return {
    ...inCamelCase(rest),
    result,
    distinct,
    warnings: JSON.parse(warnings),
    drift: JSON.parse(drift),
  }
}
