/**
 * The parts of a list of leads that several processes read beside each other. Each has a row of its own, so that none
 * waits for another's page; what they met is put together when all have ended.
 */
import { type Selectable, sql } from 'kysely'
import { LeadsheetError } from '../errors.ts'
import type { FieldDrift, Instant, LeadCounts, ScanStop } from '../model.ts'
import { saveMet } from './met-leads.ts'
import type { Db, Trx } from './open.ts'
import { insertRows } from './rows.ts'
import { type Scan, type ScanStep, scanAfter } from './scan.ts'
import type { SyncPartTable } from './scan-tables.ts'
import { addCounts, type RunUsage } from './sync-run.ts'

/** What of the list a part has, as {@link SyncPartTable} tells. */
export interface PartBounds {
  readonly pipelineId: string | null
  readonly since: Instant | null
  readonly until: Instant | null
  /** The positions of its first page and of the first one behind it; null for those of the list. */
  readonly from: string | null
  readonly to: string | null
}

/** Why the reading of a part stopped before its end. */
export interface PartFailure {
  readonly code: LeadsheetError['code']
  readonly message: string
  readonly hint: string | null
  readonly notBefore: Instant | null
  readonly stop: ScanStop
}

export interface Part {
  readonly part: number
  readonly bounds: Omit<PartBounds, 'from'>
  /** The sync that it is read for; null where that was stopped, and no other goes on with it yet. */
  readonly runId: string | null
  readonly reading: Scan
  readonly isHeld: boolean
  readonly isEnded: boolean
  readonly failure: PartFailure | null
  readonly drift: readonly FieldDrift[]
}

/** Parts a scan of which nothing has been read yet, with the total of its list. */
export async function insertParts(
  trx: Trx,
  runId: string,
  scan: Scan,
  { total, parts }: { readonly total: number; readonly parts: readonly PartBounds[] },
): Promise<Scan> {
  const rows = parts.map((bounds, index) => ({
    part: index + 1,
    pipeline_id: bounds.pipelineId,
    since: bounds.since,
    until: bounds.until,
    end_position: bounds.to,
    run_id: runId,
    reading: JSON.stringify({
      ...scan,
      updated_since: bounds.since,
      pass_since: bounds.since,
      cursor: bounds.from,
      total_low: null,
      total_high: null,
    }),
  }))
  await insertRows(trx, 'sync_part', rows)
  return trx
    .updateTable('sync_scan')
    .set({ reported_total: total, total_low: total, total_high: total })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function listParts(db: Db): Promise<Part[]> {
  const rows = await db.selectFrom('sync_part').orderBy('part').selectAll().execute()
  return rows.map(partOf)
}

export async function findPart(db: Db, part: number): Promise<Part | undefined> {
  const row = await db.selectFrom('sync_part').where('part', '=', part).selectAll().executeTakeFirst()
  return row && partOf(row)
}

/**
 * Makes someone the one who reads a part; who did before writes nothing of it from now on. By a write of its own turn,
 * which waits for the page that another is just writing.
 * @param profile the hash of the one by which it would be read
 * @returns undefined where it is not to be read, or not any more
 * @throws LeadsheetError config_refused where the scan reads by another profile
 */
export async function takePart(
  trx: Trx,
  part: number,
  holder: string,
  profile: string,
): Promise<(Part & { readonly runId: string }) | undefined> {
  const found = await findPart(trx, part)
  if (found === undefined || found.isEnded || found.failure !== null || found.runId === null) return undefined
  if (found.reading.profile_sha256 !== profile) {
    throw new LeadsheetError(
      'config_refused',
      'the sync reads the upstream by another profile than this process',
      {
        hint: 'Give all workers the same api.profile.',
      },
    )
  }
  await trx.updateTable('sync_part').where('part', '=', part).set({ holder }).execute()
  return { ...found, runId: found.runId }
}

/**
 * To be called in each transaction of the reading.
 * @throws LeadsheetError run_interrupted where another reads the part now, or the scan was given up
 */
export async function checkHolder(trx: Trx, part: number, holder: string): Promise<void> {
  const row = await trx
    .selectFrom('sync_part')
    .where('part', '=', part)
    .where('holder', '=', holder)
    .select('part')
    .executeTakeFirst()
  if (row === undefined) {
    throw new LeadsheetError('run_interrupted', `part ${part} of the list of leads is no longer read here`)
  }
}

/** Records a page of the part as read, with what it has met. */
export async function advancePart(trx: Trx, part: number, before: Scan, page: ScanStep): Promise<Scan> {
  await saveMet(trx, { part, page: before.pages, pass: before.pass, met: page.met })
  const scan = scanAfter(before, page)
  await trx
    .updateTable('sync_part')
    .where('part', '=', part)
    .set({ reading: JSON.stringify(scan) })
    .execute()
  return scan
}

/** In the transaction that writes the page. */
export async function addPartCounts(
  trx: Trx,
  part: number,
  counts: LeadCounts & { readonly pages: number },
): Promise<void> {
  await trx
    .updateTable('sync_part')
    .where('part', '=', part)
    .set((eb) => ({
      pages: eb('pages', '+', counts.pages),
      leads_seen: eb('leads_seen', '+', counts.seen),
      leads_inserted: eb('leads_inserted', '+', counts.inserted),
      leads_updated: eb('leads_updated', '+', counts.updated),
      leads_unchanged: eb('leads_unchanged', '+', counts.unchanged),
      leads_held: eb('leads_held', '+', counts.held),
    }))
    .execute()
}

/** How a reading ended, and what it has asked of the upstream. */
export async function endPart(
  trx: Trx,
  part: number,
  end: {
    readonly at: Instant
    readonly failure: PartFailure | null
    readonly usage: RunUsage
    readonly drift: readonly FieldDrift[]
  },
): Promise<void> {
  await trx
    .updateTable('sync_part')
    .where('part', '=', part)
    .set((eb) => ({
      holder: null,
      ended_at: end.failure === null ? end.at : null,
      failure: end.failure && JSON.stringify(end.failure),
      drift: JSON.stringify(end.drift),
      requests: eb('requests', '+', end.usage.requests),
      retries: eb('retries', '+', end.usage.retries),
    }))
    .execute()
}

/** So that each is read on for this run by whoever takes it next, for none by nobody, and not by who reads it now. */
export async function freeParts(trx: Trx, runId: string | null): Promise<void> {
  await trx.updateTable('sync_part').set({ holder: null, failure: null, run_id: runId }).execute()
}

/** Puts the scan as it is by all parts in their place. */
export async function uniteParts(trx: Trx, scan: Scan): Promise<Scan> {
  await trx.deleteFrom('sync_part').execute()
  return trx.updateTable('sync_scan').set(scan).returningAll().executeTakeFirstOrThrow()
}

/** What parts have counted since the last time goes into the run. Returns what they have asked of the upstream since. */
export async function collectCounts(
  trx: Trx,
  runId: string,
): Promise<RunUsage & { pages: number; seen: number }> {
  const sum = await trx
    .selectFrom('sync_part')
    .select((eb) =>
      COUNTED.map((column) => eb.fn.coalesce(eb.fn.sum<number>(column), sql<number>`0`).as(column)),
    )
    .executeTakeFirstOrThrow()
  await trx
    .updateTable('sync_part')
    .set(Object.fromEntries(COUNTED.map((column) => [column, 0])))
    .execute()
  const run = await addCounts(trx, runId, {
    pages: sum.pages,
    seen: sum.leads_seen,
    inserted: sum.leads_inserted,
    updated: sum.leads_updated,
    unchanged: sum.leads_unchanged,
    removed: 0,
    held: sum.leads_held,
  })
  return { ...run, requests: sum.requests, retries: sum.retries }
}

const COUNTED = [
  ...(['pages', 'leads_seen', 'leads_inserted', 'leads_updated', 'leads_unchanged', 'leads_held'] as const),
  ...(['requests', 'retries'] as const),
]

function partOf(row: Selectable<SyncPartTable>): Part {
  return {
    part: row.part,
    bounds: {
      pipelineId: row.pipeline_id,
      since: row.since,
      until: row.until,
      to: row.end_position,
    },
    runId: row.run_id,
    reading: JSON.parse(row.reading),
    isHeld: row.holder !== null,
    isEnded: row.ended_at !== null,
    failure: row.failure === null ? null : JSON.parse(row.failure),
    drift: JSON.parse(row.drift),
  }
}
