/**
 * The progress of the scan of the leads. The progress is saved in the transaction that writes a page. If a
 * run is killed, the next run therefore continues exactly after the last page written. Also stores which
 * leads the scan has found.
 */

import type { Instant } from '../../domain/model.ts'
import { checkNoCrash } from '../db/postgres.ts'
import { insertRows, numbersOf } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import type { Db, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

/** Clocks of the upstream and of this machine may differ by so much. */
export const CLOCK_SKEW_MS = 2 * 60_000

export type Scan = Omit<Row<'sync_scan'>, 'resource'>

type ScanStart = Pick<
  Scan,
  'mode' | 'updated_since' | 'started_at' | 'page_size' | 'profile_sha256' | 'is_remap'
>

/** The number of a lead, or the id of a quarantined record whose lead is not in the store. */
export type SeenKey = number | string

export interface ScanStep {
  /** The leads and records on the page, each once. */
  readonly seenKeys: readonly SeenKey[]
  /** The number of leads on the page that no pass has found before. */
  readonly newToScan: number
  /** The number of leads on the page that this pass has not found before. */
  readonly newToPass: number
  /** The number of leads new to the scan that were created after it began. No earlier pass could have found them. */
  readonly born: number
  /** The number of records that the total of the upstream counts, but that are no found leads: they have no id, or are marked as deleted. */
  readonly uncounted: number
  /** Tells whether the page has a deleted lead that this pass has not met before. */
  readonly hasNewDeleted: boolean
  readonly rows: number
  readonly cursor: string | null
  readonly tail: readonly string[]
  readonly total: number | null
  readonly hasMoved: boolean
  /** The leads expected also on the page before; more mean that rows moved. Null if repeats prove nothing. */
  readonly repeats: number | null
  readonly isBroken: boolean
  /** Tells whether unchanged leads stand in another order on the page than on the pages before. */
  readonly isUnordered: boolean
  /** The words by which the page says that it is not whole; null if it does not say so. */
  readonly partialSign: string | null
  /** Tells whether the page has new leads behind a page that seemed to be the last of a numbered list. */
  readonly showsHole: boolean
  /** Tells whether the page lies in a part of the list that the pass has already read. */
  readonly isAgain: boolean
  readonly cleaned: number
  readonly cut: number
  /** The update times of the leads on the page. */
  readonly updatedAt: readonly (Instant | null)[]
}

export async function findScan(db: Db): Promise<Scan | undefined> {
  return db.selectFrom('sync_scan').selectAll().executeTakeFirst()
}

/** Starts a scan. A scan that was in progress is given up. */
export async function startScan(trx: Trx, scan: ScanStart): Promise<Scan> {
  await clearScan(trx)
  return trx
    .insertInto('sync_scan')
    .values({ ...scan, resource: 'lead', progress_at: scan.started_at, pass_since: scan.updated_since })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Starts a further pass of the scan. The leads found by earlier passes are kept. */
export async function startPass(
  trx: Trx,
  before: Scan,
  since: Instant | null,
  crashMarker: string,
): Promise<Scan> {
  await checkNoCrash(trx, crashMarker)
  return trx
    .updateTable('sync_scan')
    .set({
      passes_without_new: before.pass > 1 && before.pass_new === 0 ? before.passes_without_new + 1 : 0,
      pass: before.pass + 1,
      pass_since: since,
      cursor: null,
      pass_seen: 0,
      pass_new: 0,
      pass_uncounted: 0,
      pass_pages: 0,
      pass_moved: 0,
      is_broken: 0,
      is_unordered: 0,
      partial_sign: null,
      hole_page: null,
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

const insertScanPage = statement((db, page: { page: number; pass: number; seen: string }) =>
  db.insertInto('sync_scan_page').values(page).compile(),
)

/** Notes the leads found on a page, and returns the scan after it, which is saved too. */
export async function advanceScan(trx: Trx, before: Scan, page: ScanStep, at: Instant): Promise<Scan> {
  await insertScanPage(trx, { page: before.pages, pass: before.pass, seen: JSON.stringify(page.seenKeys) })
  const scan = scanAfter(before, page)
  await updateScan(trx, { ...scan, progress_at: at })
  return scan
}

const updateScan = statement((db, scan: Scan) => db.updateTable('sync_scan').set(scan).compile())

/** Returns the progress of the scan after a page. */
function scanAfter(before: Scan, page: ScanStep): Scan {
  const repeated = page.repeats !== null && page.seenKeys.length - page.newToPass > page.repeats
  const moved = page.rows > 0 && (page.hasMoved || repeated) ? 1 : 0
  return {
    ...before,
    cursor: page.cursor,
    seen: before.seen + page.newToScan,
    pages: before.pages + 1,
    reported_total:
      before.pass_since === before.updated_since
        ? (page.total ?? before.reported_total)
        : before.reported_total,
    moved: before.moved + moved,
    cleaned: before.cleaned + page.cleaned,
    cut: before.cut + page.cut,
    pass_seen: before.pass_seen + page.newToPass,
    pass_new: before.pass_new + page.newToScan - page.born,
    pass_uncounted: before.pass_uncounted + page.uncounted,
    pass_pages: before.pass_pages + 1,
    pass_moved: before.pass_moved + moved,
    is_broken: page.isBroken ? 1 : before.is_broken,
    is_unordered: page.isUnordered ? 1 : before.is_unordered,
    hole_page: before.hole_page ?? (page.showsHole ? before.pass_pages + 1 : null),
    partial_sign:
      before.partial_sign ??
      (page.partialSign === null ? null : `page ${before.pass_pages + 1}: ${page.partialSign}`),
    // An empty page that names a next one brings nothing, but does not show that the list repeats itself.
    idle_pages:
      page.newToPass > 0 || page.hasNewDeleted || page.isAgain
        ? 0
        : before.idle_pages + (page.rows > 0 ? 1 : 0),
    first_rows: before.pass_pages === 0 ? page.rows : before.first_rows,
    last_rows: page.rows,
    largest_page: Math.max(before.largest_page, page.rows),
    tail: JSON.stringify(page.tail),
    total_low: page.total === null ? before.total_low : Math.min(before.total_low ?? page.total, page.total),
    total_high: page.total === null ? before.total_high : Math.max(before.total_high ?? 0, page.total),
    max_updated_at: latestOf([before.max_updated_at, ...page.updatedAt]),
  }
}

export async function clearScan(trx: Trx): Promise<void> {
  await trx.deleteFrom('sync_scan').execute()
  await trx.deleteFrom('sync_scan_page').execute()
  await trx.deleteFrom('sync_scan_older').execute()
}

function latestOf(times: readonly (Instant | null)[]): Instant | null {
  return times.reduce((latest, at) => (at !== null && (latest === null || at > latest) ? at : latest), null)
}

type OlderRecord = Readonly<Row<'sync_scan_older'>>

/** Notes records of a full scan that are older than their stored leads. A later record replaces the note. */
export async function noteOlder(trx: Trx, records: readonly OlderRecord[]): Promise<void> {
  await insertRows(trx, 'sync_scan_older', records, { key: ['lead_no'] })
}

export async function forgetOlder(trx: Trx, leadNos: readonly number[]): Promise<void> {
  if (leadNos.length === 0) return
  await trx.deleteFrom('sync_scan_older').where('lead_no', 'in', numbersOf(leadNos)).execute()
}

export async function listOlder(db: Db, limit: number): Promise<OlderRecord[]> {
  return db.selectFrom('sync_scan_older').orderBy('lead_no').limit(limit).selectAll().execute()
}

export async function listOlderNos(db: Db): Promise<number[]> {
  const rows = await db.selectFrom('sync_scan_older').select('lead_no').execute()
  return rows.map((row) => row.lead_no)
}
