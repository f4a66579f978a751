/**
 * Where the reading of the leads stands. The scan moves on in the transaction that writes its page, so a
 * killed run goes on exactly after the last page that is in.
 */
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { SyncScanTable } from '../tables/tables.ts'
import { type Met, saveMet } from './seen-leads.ts'

const RESOURCE = 'lead'

export type Scan = Omit<SyncScanTable, 'resource'>

export interface ScanStart {
  readonly mode: Scan['mode']
  readonly updated_since: Instant | null
  readonly started_at: Instant
  readonly profile_sha256: string
  readonly is_remap: number
}

/** What a page adds to the scan. */
export interface ScanStep {
  /** What is on the page, each once. */
  readonly met: readonly Met[]
  /** How many of them neither this pass nor an earlier one has met before, and how many not this pass. */
  readonly fresh: number
  readonly freshInPass: number
  /** Of the fresh, leads that came into being after the scan began, so that no earlier pass could have met them. */
  readonly born: number
  /** Records without an id. */
  readonly withoutId: number
  readonly rows: number
  readonly cursor: string | null
  readonly tail: readonly string[]
  readonly total: number | null
  readonly hasMoved: boolean
  /** How many leads of the page were due to come twice; more tell of rows that moved. Null: they tell nothing. */
  readonly repeats: number | null
  readonly isBroken: boolean
  /** The page lies before what was read already. */
  readonly isAgain: boolean
  readonly mended: number
  readonly cut: number
  readonly maxUpdatedAt: Instant | null
}

export async function findScan(db: Db): Promise<Scan | undefined> {
  return db.selectFrom('sync_scan').where('resource', '=', RESOURCE).selectAll().executeTakeFirst()
}

/** Begins a scan; one that was under way is given up. */
export async function startScan(trx: Trx, scan: ScanStart): Promise<Scan> {
  await clearScan(trx)
  const { mode, updated_since, started_at, profile_sha256, is_remap } = scan
  return trx
    .insertInto('sync_scan')
    .values({
      resource: RESOURCE,
      mode,
      updated_since,
      started_at,
      profile_sha256,
      is_remap,
      pass_since: updated_since,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Begins a further pass of the scan, which knows what the earlier ones met. */
export async function startPass(trx: Trx, before: Scan, since: Instant | null): Promise<Scan> {
  return trx
    .updateTable('sync_scan')
    .where('resource', '=', RESOURCE)
    .set({
      quiet_passes: before.pass > 1 && before.pass_new === 0 ? before.quiet_passes + 1 : 0,
      pass: before.pass + 1,
      pass_since: since,
      cursor: null,
      pass_seen: 0,
      pass_new: 0,
      pass_held: 0,
      pass_pages: 0,
      pass_moved: 0,
      is_broken: 0,
      first_rows: 0,
      idle_pages: 0,
      last_rows: 0,
      tail: '[]',
      total_low: null,
      total_high: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Records a page as read, with what it has met. */
export async function advanceScan(trx: Trx, before: Scan, page: ScanStep): Promise<Scan> {
  await saveMet(trx, { page: before.pages, pass: before.pass, met: page.met })
  const scan = scanAfter(before, page)
  await trx.updateTable('sync_scan').where('resource', '=', RESOURCE).set(scan).execute()
  return scan
}

/** Where a reading stands once a page of it is in. */
export function scanAfter(before: Scan, page: ScanStep): Scan {
  const repeated = page.repeats !== null && page.met.length - page.freshInPass > page.repeats
  // A page without a new lead is one behind the last, not one that moved.
  const moved = page.freshInPass > 0 && (page.hasMoved || repeated) ? 1 : 0
  return {
    ...before,
    cursor: page.cursor,
    seen: before.seen + page.fresh,
    pages: before.pages + 1,
    reported_total:
      before.pass_since === before.updated_since
        ? (page.total ?? before.reported_total)
        : before.reported_total,
    moved: before.moved + moved,
    mended: before.mended + page.mended,
    cut: before.cut + page.cut,
    pass_seen: before.pass_seen + page.freshInPass,
    pass_new: before.pass_new + page.fresh - page.born,
    pass_held: before.pass_held + page.withoutId,
    pass_pages: before.pass_pages + 1,
    pass_moved: before.pass_moved + moved,
    is_broken: page.isBroken ? 1 : before.is_broken,
    idle_pages: page.freshInPass > 0 || page.isAgain ? 0 : before.idle_pages + 1,
    first_rows: before.pass_pages === 0 ? page.rows : before.first_rows,
    last_rows: page.rows,
    largest_page: Math.max(before.largest_page, page.rows),
    tail: JSON.stringify(page.tail),
    total_low: extreme(Math.min, before.total_low, page.total),
    total_high: extreme(Math.max, before.total_high, page.total),
    max_updated_at: latest(before.max_updated_at, page.maxUpdatedAt),
  }
}

export async function clearScan(trx: Trx): Promise<void> {
  await trx.deleteFrom('sync_scan').execute()
  await trx.deleteFrom('sync_scan_page').execute()
  await trx.deleteFrom('sync_scan_event').execute()
}

function latest(before: Instant | null, now: Instant | null): Instant | null {
  return now !== null && (before === null || now > before) ? now : before
}

function extreme(
  of: (a: number, b: number) => number,
  before: number | null,
  now: number | null,
): number | null {
  if (now === null) return before
  return before === null ? now : of(before, now)
}
