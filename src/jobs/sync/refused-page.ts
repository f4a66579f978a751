/**
 * Decides whether the list has ended if the upstream refuses a page of it, or names no next page on the only one. A
 * refusal alone may also mean a limit (such as 10,000 records) or a fault, so the end must be proved.
 */

import { LeadsheetError } from '../../errors.ts'
import type { Scan } from '../../store/sync/scan.ts'
import { type LeadFilters, namesNext } from '../../upstream/paging/paging.ts'
import type { RawPage } from '../../upstream/paging/raw-page.ts'
import { isNumbered } from '../../upstream/paging/read-ahead.ts'
import { idsOf } from './map-page.ts'
import { isAllRead } from './scan-result.ts'
import { pageSizeOf, type SyncRun } from './sync-context.ts'

/** Asks for a page of the list, by default in the size and with the filters of the pass. */
export type Ask = (position: string | null, size?: number, filters?: LeadFilters) => Promise<RawPage>

export interface LastPage extends Pick<RawPage, 'records'> {
  readonly position: string | null
}

interface RefusedAt {
  readonly position: string | null
  readonly overlap: number
  readonly last: LastPage | null
}

/**
 * @param scan the scan after all pages before
 * @returns null at the end of the list; the page if it is answered now
 * @throws `thrown` if the end is not proved
 */
export async function proveEnd(
  run: SyncRun,
  ask: Ask,
  scan: Scan,
  filters: LeadFilters,
  { position, overlap, last }: RefusedAt,
  thrown: unknown,
): Promise<RawPage | null> {
  if (!isRefused(thrown)) throw thrown
  if (isPastEnd(run, scan)) return null
  if (overlap > 0) throw thrown
  if (scan.pass_pages === 0) return askWithoutFilter(ask, filters, thrown)
  if (last === null) throw thrown
  return askBehind(run, ask, scan, position, last, thrown)
}

export function isRefused(thrown: unknown): thrown is LeadsheetError {
  return (
    thrown instanceof LeadsheetError && (thrown.code === 'api_rejected' || thrown.code === 'api_not_found')
  )
}

/** Returns whether a numbered list was read to its total, or the page before was short. */
function isPastEnd(run: SyncRun, scan: Scan): boolean {
  if (scan.pass_pages === 0 || !isNumbered(run.source.paging)) return false
  // The upstream may give smaller pages than it was asked for.
  const full = scan.pass_pages > 1 ? scan.largest_page : pageSizeOf(run)
  return isAllRead(scan) || (scan.total_low === null && scan.last_rows < full)
}

/** Null, for an empty list, if 404 answers a filter that nothing passes: the list without it has leads. */
async function askWithoutFilter(ask: Ask, filters: LeadFilters, refused: LeadsheetError): Promise<null> {
  if (filters.updatedSince === undefined || refused.code !== 'api_not_found') throw refused
  const all = await ask(null, undefined, {})
  if (all.records.length === 0) throw refused
  return null
}

/**
 * Asks whether the list ends behind a full page. The proof is a page of another size that begins before the end
 * and reaches behind it: it has exactly the last records. If the size cannot be set or is ignored, the last page
 * must come again as it was and the page behind it must not be found again.
 */
async function askBehind(
  { source }: SyncRun,
  ask: Ask,
  scan: Scan,
  refusedAt: string | null,
  last: LastPage,
  refused: LeadsheetError,
): Promise<RawPage | null> {
  const { paging } = source
  const rows = last.records.length
  const ids = idsOf(source, last.records)
  const has = async (page: Promise<RawPage>, wanted: readonly string[]): Promise<boolean> => {
    const { records, saysMore } = await page
    return saysMore !== true && idsOf(source, records).join('\n') === wanted.join('\n')
  }
  if (!isNumbered(paging) || ids.length < rows || scan.total_low !== null) throw refused
  if (paging.kind !== 'page') {
    const isEnd = await has(ask(String(Number(refusedAt) - 1)), ids.slice(-1)).catch(() => false)
    if (isEnd) return null
    throw refused
  }
  const count = rows * scan.pass_pages
  const size = scan.largest_page === rows ? sizeAcross(count, rows) : null
  if (paging.size_param !== undefined && size !== null) {
    const position = String(paging.start + Math.floor(count / size))
    if (await has(ask(position, size), ids.slice(-(count % size))).catch(() => false)) return null
    const isSizeIgnored = await has(ask(last.position, size), ids).catch(() => false)
    if (!isSizeIgnored) throw refused
  }
  if (refused.code !== 'api_not_found' || !(await has(ask(last.position), ids))) throw refused
  return ask(refusedAt).catch((thrown: unknown) => (isRefused(thrown) ? null : Promise.reject(thrown)))
}

/**
 * Asks for the only page of a list that names its next pages once more, with one lead fewer. It must name a next page
 * then. If it does not, the profile looks for the next page at the wrong place, and the list may have more leads.
 * @returns null if the page need not be asked for, or shows neither
 */
export async function namesNextOfFewer(
  { source, options }: SyncRun,
  { mode, pass_since, pass_pages, last_rows, page_size, total_low }: Scan,
): Promise<boolean | null> {
  const { paging } = source
  const isDoubtful = mode === 'full' || last_rows === page_size
  if (!namesNext(paging) || !('size_param' in paging) || total_low !== null) return null
  if (!isDoubtful || pass_pages !== 1 || last_rows < 2) return null
  const filters = { updatedSince: pass_since ?? undefined }
  const page = await source
    .listLeads(filters, null, last_rows - 1, { signal: options.signal })
    .catch((thrown: unknown) => (isRefused(thrown) ? null : Promise.reject(thrown)))
  if (page === null || page.next !== null) return page && true
  return page.records.length === last_rows - 1 ? false : null
}

/** Returns the largest smaller size of which no whole number of pages has `count` rows; null if there is none. */
function sizeAcross(count: number, rows: number): number | null {
  for (let size = rows - 1; size > 1; size--) if (count % size !== 0) return size
  return null
}
