/**
 * Reads the list of leads once, page by page, to its end. The rows of a page and the cursor after it are
 * stored in one transaction, while the next page is fetched. Pages with little to write share a transaction.
 * The list ends with a page that names no next page, in numbered lists with an empty page or the error that
 * they give past their end. A short page does not end the list. Neither does an empty page before one with
 * leads, so a full scan also reads the page behind an empty one.
 */

import type { ScanStop } from '../../domain/sync.ts'
import { LeadsheetError } from '../../errors.ts'
import type { Scan } from '../../store/sync/scan.ts'
import type { RawRecord } from '../../upstream/mapping/raw-record.ts'
import type { LeadFilters } from '../../upstream/paging/paging.ts'
import { namesNext } from '../../upstream/paging/paging.ts'
import { canShift, isNumbered, overlapRows, readAhead, rewind } from '../../upstream/paging/read-ahead.ts'
import type { PagingProfile } from '../../upstream/profile/profile.ts'
import type { RawPage, Source } from '../../upstream/source.ts'
import { mapPage } from './map-page.ts'
import type { ScanState } from './scan-state.ts'
import type { SyncRun } from './sync-context.ts'
import { canWait, type ReadPage, savePages } from './sync-page.ts'

/** The number of pages in a row without a new lead after which the list counts as endless. */
const IDLE_PAGES_MAX = 2
/** The number of empty pages in a row, each of which names a next page, after which the scan ends unproven. */
const EMPTY_PAGES_MAX = 100
/**
 * The maximum number of times that a page is requested again, each time from an earlier position, in order to
 * find rows that moved.
 */
const REWINDS_MAX = 4
/** With each such request, the number of rows before the original position grows by this factor. */
const REWIND_FACTOR = 4

/** Pages with little to write wait and are stored together. They are stored when this many pages wait. */
const WAITING_PAGES = 8
/** The waiting pages are also stored when they contain this many leads to write. */
const WAITING_LEADS = 200
/** The waiting pages are also stored when the first of them has waited this long. */
const WAITING_MS = 500

export interface PassEnd {
  readonly scan: Scan
  readonly stop: ScanStop
  /** True if the last page said that it is the last. */
  readonly saysEnd?: boolean
  /** The error that ended the pass early; absent if the pass reached the end of the list. */
  readonly error?: LeadsheetError
}

/**
 * Reads the list in one pass. If the pass fails, the pages read before are kept.
 * @throws LeadsheetError api_*, run_interrupted
 */
export async function readPass(run: SyncRun, begun: Scan, memory: ScanState): Promise<PassEnd> {
  const { source, options } = run
  const { paging, limits } = source.profile
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const filters = { updatedSince: begun.pass_since ?? undefined }
  const wanted = pageSizeOf(run)
  const ask: Ask = (position, size = wanted, by = filters) => source.listLeads(by, position, size, { signal })
  const fetchPage = readAhead(source, filters, wanted, signal, memory.known.find, begun.first_rows)
  const positions = new Set<string | null>([begun.cursor])
  // The furthest position that the pass reached. After the pass has gone back, pages up to this position
  // contain no new leads. This does not mean that the list repeats itself.
  let frontier = Number(begun.cursor)
  // `stored` is the scan as it is stored; `scan` also counts the pages that wait to be stored.
  let stored = begun
  let scan = begun
  let waiting: ReadPage[] = []
  let waitsSinceMs = 0
  let rewinds = 0
  let overlap = tailOf(scan).length
  let emptyPages = 0
  /** The number of pages in a row that seemed to be the last, and did not say so. */
  let seemingEnds = 0
  /** The position of the last of them. */
  let endedAt: string | null = null
  let last: LastPage | null = null
  const saveWaiting = async (): Promise<void> => {
    const [first, ...others] = waiting
    if (first === undefined) return
    waiting = []
    const saved = await savePages(run, stored, [first, ...others], memory)
    const { total } = (others.at(-1) ?? first).step
    options.onProgress?.({ part: 'leads', pages: saved.pages, done: begun.seen + saved.seen, total })
    stored = saved.scan
    scan = stored
  }
  try {
    let ahead = fetchPage(rewind(paging, scan.cursor, overlap))
    for (;;) {
      const page = await ahead.catch(async (thrown: unknown) => {
        await saveWaiting()
        if (isPastEnd(run, scan, thrown)) return null
        if (overlap > 0 || !isRefused(thrown)) throw thrown
        if (scan.pass_pages === 0) return askWithoutFilter(ask, filters, thrown)
        return last === null ? Promise.reject(thrown) : askBehind(ask, paging, scan, last, thrown)
      })
      // The run may have been stopped after the page arrived.
      options.signal.throwIfAborted()
      if (page === null) return { scan, stop: 'past_end' }
      if (seemingEnds > 1 && page.records.length > 0) {
        // Pages between the last empty one and this one were not read.
        stored = { ...scan, cursor: fetchPage.behind(endedAt, 1) }
        scan = stored
        ahead = fetchPage(scan.cursor)
        positions.clear()
        seemingEnds = 1
        continue
      }
      if (scan === begun && isForgotten(begun, page, paging)) throw forgotten(begun, page)
      const isRepeat = isSamePage(last?.records ?? [], page.records)
      last = { position: scan.cursor, records: page.records, source }
      const mapped = mapPage(source, page.records, memory.known.find)
      const isMapped = new Set(mapped.recordOf.values())
      const tail = tailOf(scan)
      const isInPlace = begins(source, page.records, tail)
      const isContinued = isInPlace || continues(tail, idsOf(source, page.records))
      // In a list without an order there is no earlier place at which the rows went on.
      const canRewind = scan.is_unordered === 0 && rewinds < REWINDS_MAX && Number(scan.cursor) > overlap
      if (!isContinued && canRewind) {
        overlap *= REWIND_FACTOR
        rewinds++
        positions.clear()
        ahead = fetchPage(rewind(paging, scan.cursor, overlap))
        continue
      }
      const isRewound = rewinds > 0
      const named = isRewound && page.records.length > 0 ? page.next : nextCursor(scan, page, overlap)
      // Whether the total is reached is known only when all pages are stored.
      if (named === null) await saveWaiting()
      const mayLook: boolean = maySeemLast(run, scan, page, seemingEnds)
      const isLook = named === null && mayLook
      const at = rewind(paging, scan.cursor, overlap)
      const next: string | null = isLook ? fetchPage.behind(at, stepBehind(seemingEnds)) : named
      if (isLook) {
        positions.clear()
        endedAt = at
      }
      if (overlap > 0) frontier = Math.max(frontier, Number(scan.cursor))
      const isAgain = next !== null && Number(next) <= frontier
      emptyPages = page.records.length === 0 ? emptyPages + 1 : 0
      const isLoop = next !== null && (positions.has(next) || emptyPages > EMPTY_PAGES_MAX)
      if (isLoop && page.records.length === 0) {
        await saveWaiting()
        return { scan, stop: 'loop' }
      }
      const overlapping = overlapRows(paging, Math.max(scan.largest_page, page.records.length))
      const nextTail = overlapping === 0 || isLook ? [] : idsOf(source, page.records.slice(-overlapping))
      if (next !== null && !isLoop) {
        positions.add(next)
        ahead = fetchPage(rewind(paging, next, nextTail.length))
      }
      // Quarantined records are left out. Because they never count as unchanged, they would fill the sample
      // of changed records in each scan, and their fields would look new.
      memory.unsure.note(mapped.leads)
      memory.watch.observe(page.records.filter((record) => record.known !== null || isMapped.has(record)))
      const step = {
        cursor: isLoop ? null : next,
        tail: nextTail,
        // Some lists report a total of 0 past their end. So the total of an empty page counts only if it is
        // the first page.
        total: page.records.length > 0 || scan.pass_pages === 0 ? page.total : null,
        // A look behind the end may begin before the last page.
        repeats: canShift(paging) && !isRepeat && seemingEnds === 0 ? tail.length : null,
        hasMoved: !isRepeat && (isRewound || !isInPlace),
        isBroken: !isContinued,
        isAgain,
        partialSign: page.partialSign ?? null,
        isBehindEnd: seemingEnds > 0,
      }
      const looks = seemingEnds
      seemingEnds = isLook && page.saysMore !== true ? looks + 1 : 0
      // Lets other tasks run, because the mapping and writing of a page does not pause for them.
      await new Promise(setImmediate)
      if (waiting.length === 0) waitsSinceMs = performance.now()
      const isOrdinary = canWait({ mapped, step }, scan, waiting, memory)
      waiting.push({ mapped, step })
      rewinds = 0
      overlap = nextTail.length
      if (isOrdinary && scan.pass_pages + 1 < limits.max_pages && !isEnough(waiting, waitsSinceMs)) {
        scan = { ...scan, cursor: next, pass_pages: scan.pass_pages + 1 }
        continue
      }
      await saveWaiting()
      if (next === null) return endOf(run, scan, page)
      if (isLoop) return { scan, stop: 'loop', error: looping(next) }
      if (seemingEnds > 0) continue
      // If pages overlap, known rows on a short page are those that new rows pushed down.
      const isLast = isRepeat || overlapping > 0 ? isAllRead(scan) : isTotalReached(scan)
      const isPastLast = isNumbered(paging) && (isLast || looks > 0)
      if (scan.idle_pages > 0 && isPastLast) {
        if (!mayLook || looks > 0 || isTotalReached(scan)) return { scan, stop: 'past_end' }
        stored = { ...scan, cursor: fetchPage.behind(at, 1), tail: '[]' }
        scan = stored
        ahead = fetchPage(scan.cursor)
        overlap = 0
        seemingEnds = 1
        continue
      }
      if (scan.idle_pages >= IDLE_PAGES_MAX) return { scan, stop: 'loop', error: standing(scan) }
      if (scan.pass_pages >= limits.max_pages) return { scan, stop: 'page_cap', error: endless(scan) }
    }
  } catch (thrown) {
    await saveWaiting()
    throw thrown
  } finally {
    stop.abort()
  }
}

function isEnough(waiting: readonly ReadPage[], sinceMs: number): boolean {
  const leads = waiting.reduce((sum, { mapped }) => sum + mapped.leads.length, 0)
  return waiting.length >= WAITING_PAGES || leads >= WAITING_LEADS || performance.now() - sinceMs > WAITING_MS
}

/**
 * Returns the next cursor; null if this is the last page. An overlapping page is the last one if it has no
 * row after the current position, and an empty page if the total is reached.
 */
function nextCursor(scan: Scan, page: RawPage, overlap: number): string | null {
  if (page.next === null || (page.records.length === 0 && isTotalReached(scan))) return null
  return overlap > 0 && Number(page.next) <= Number(scan.cursor) ? null : page.next
}

/**
 * Returns whether a page of a numbered list may only seem to be the last, so that pages behind it must be read: an
 * upstream may leave records out after it has cut a page. It is the last if it says so, if the total is reached, or
 * if nothing was found behind it, at growing distances up to as many pages as were read. A sync of changes looks
 * there only if it has read a full page or several.
 * @param looks the number of pages before that seemed to be the last
 */
function maySeemLast(run: SyncRun, scan: Scan, page: RawPage, looks: number): boolean {
  if (!isNumbered(run.source.profile.paging) || isTotalReached(scan)) return false
  const isNamedLast = page.records.length > 0 && page.next === null
  const isLong = scan.mode === 'full' || scan.pass_pages > 1 || scan.first_rows >= pageSizeOf(run)
  const mayLook = looks === 0 || 2 * stepBehind(looks) < scan.pass_pages - looks
  return page.saysMore ?? (!isNamedLast && isLong && mayLook)
}

/** Returns how many pages behind a page that seems to be the last the next one is that is read: 1, 1, 2, 4, 8. */
function stepBehind(looks: number): number {
  return 2 ** Math.max(0, looks - 1)
}

function endOf(run: SyncRun, scan: Scan, page: RawPage): PassEnd {
  const isReached = isTotalReached(scan)
  if (page.records.length === 0) {
    const isEnd = page.saysMore !== true || isReached
    return { scan, stop: 'empty_page', ...(isEnd ? {} : { error: contradicting(scan) }) }
  }
  const { paging } = run.source.profile
  const isFull = page.records.length >= pageSizeOf(run)
  if (namesNext(paging) && isFull && scan.total_low !== null && !isReached && scan.pass_pages === 1) {
    return { scan, stop: 'no_cursor', error: withoutCursor(scan) }
  }
  return { scan, stop: 'end', saysEnd: page.saysMore === false }
}

/** Returns whether an upstream answers with the page before once more, as some do past the end of a list. */
function isSamePage(before: readonly RawRecord[], records: readonly RawRecord[]): boolean {
  const isSame = records.every(({ high, low }, at) => before[at]?.high === high && before[at]?.low === low)
  return records.length > 0 && records.length === before.length && isSame
}

/** Returns whether a page begins with the records that were at the end of the page before. */
function begins(source: Source, records: readonly RawRecord[], tail: readonly string[]): boolean {
  if (tail.length === 0) return true
  const ids = idsOf(source, records.slice(0, tail.length))
  return tail.every((id, index) => ids[index] === id)
}

/**
 * Lists the ids of the records; a record without an id is left out. This is slow, because each record must be
 * mapped.
 */
function idsOf(source: Source, records: readonly RawRecord[]): string[] {
  return records.flatMap((record) => source.mapLead(record.value, record.text).id ?? [])
}

/**
 * Returns whether at least two ids from the end of a page are also on the next page. Otherwise, rows between
 * the two pages may have been missed.
 */
function continues(tail: readonly string[], ids: readonly string[]): boolean {
  const there = new Set(ids)
  return tail.filter((id) => there.has(id)).length >= Math.min(2, tail.length)
}

/**
 * Returns whether the upstream refused the page because the list has ended. If the total is larger than the
 * number of leads read, the refusal has another cause.
 */
function isPastEnd(run: SyncRun, scan: Scan, thrown: unknown): boolean {
  const { paging } = run.source.profile
  if (!isRefused(thrown) || scan.pass_pages === 0 || !isNumbered(paging)) return false
  // The upstream may give smaller pages than it was asked for.
  const full = scan.pass_pages > 1 ? scan.largest_page : pageSizeOf(run)
  return isAllRead(scan) || (scan.total_low === null && scan.last_rows < full)
}

function isRefused(thrown: unknown): thrown is LeadsheetError {
  return (
    thrown instanceof LeadsheetError && (thrown.code === 'api_rejected' || thrown.code === 'api_not_found')
  )
}

/** Asks for a page of the list, by default in the size and with the filters of the pass. */
type Ask = (position: string | null, size?: number, filters?: LeadFilters) => Promise<RawPage>

interface LastPage extends Pick<RawPage, 'records'> {
  readonly position: string | null
  readonly source: Source
}

/**
 * Returns null, for an empty list, if the upstream answers 404 to a filter that nothing passes: the same list
 * without the filter has leads.
 * @throws `refused` if that is not proved
 */
async function askWithoutFilter(ask: Ask, filters: LeadFilters, refused: LeadsheetError): Promise<null> {
  if (filters.updatedSince === undefined || refused.code !== 'api_not_found') throw refused
  const all = await ask(null, undefined, {})
  if (all.records.length === 0) throw refused
  return null
}

/**
 * Asks whether the list ends behind a full page, if the upstream refused the next one. A refusal alone may mean
 * a limit (such as 10,000 records) or a fault. The proof is a page of another size that begins before the end
 * and reaches behind it: it has exactly the last records. If the size cannot be set or is ignored, the last page
 * must come again as it was and the page behind it must not be found again.
 * @returns null at the end of the list; the page if it is answered now
 * @throws `refused` if the end is not proved
 */
async function askBehind(
  ask: Ask,
  paging: PagingProfile,
  scan: Scan,
  last: LastPage,
  refused: LeadsheetError,
): Promise<RawPage | null> {
  const rows = last.records.length
  const ids = idsOf(last.source, last.records)
  const has = async (page: Promise<RawPage>, wanted: readonly string[]): Promise<boolean> => {
    const { records, saysMore } = await page
    return saysMore !== true && idsOf(last.source, records).join('\n') === wanted.join('\n')
  }
  if (!isNumbered(paging) || ids.length < rows || scan.total_low !== null) throw refused
  if (paging.kind !== 'page') {
    const isEnd = await has(ask(String(Number(scan.cursor) - 1)), ids.slice(-1)).catch(() => false)
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
  return ask(scan.cursor).catch((thrown: unknown) => (isRefused(thrown) ? null : Promise.reject(thrown)))
}

/** Returns the largest smaller size of which no whole number of pages has `count` rows; null if there is none. */
function sizeAcross(count: number, rows: number): number | null {
  for (let size = rows - 1; size > 1; size--) if (count % size !== 0) return size
  return null
}

/** Returns whether the number of leads read has reached the total, or the last page was not full. */
function isAllRead(scan: Scan): boolean {
  return isTotalReached(scan) || scan.last_rows < scan.largest_page
}

function isTotalReached(scan: Scan): boolean {
  return scan.total_low !== null && scan.pass_seen + scan.pass_without_id >= scan.total_low
}

/** Returns the number of records that each page is asked for with. */
export function pageSizeOf({ source, options }: Pick<SyncRun, 'source' | 'options'>): number {
  return Math.min(options.pageSize, source.profile.paging.size_max)
}

function tailOf(scan: Scan): string[] {
  return JSON.parse(scan.tail)
}

/**
 * Returns whether the place of a resumed scan no longer means what it did: the page is the empty end of the
 * list, as some upstreams answer a cursor that they no longer know, or numbered pages have become larger.
 */
function isForgotten(begun: Scan, { records, next }: RawPage, paging: PagingProfile): boolean {
  if (begun.cursor === null) return false
  if (paging.kind === 'page') return begun.largest_page > 0 && records.length > begun.largest_page
  return records.length === 0 && next === null && namesNext(paging) && !isTotalReached(begun)
}

function forgotten({ cursor }: Scan, { records }: RawPage): LeadsheetError {
  return new LeadsheetError(
    'api_rejected',
    `The list of leads has ${records.length} records at the place ${JSON.stringify(cursor)} of the interrupted scan`,
  )
}

function looping(cursor: string): LeadsheetError {
  return fault(
    `The list of leads repeats the cursor ${JSON.stringify(cursor)}, so it would never end`,
    'What was read is kept. If a cursor of this list means its end, name it in the profile (paging.end); otherwise tell the operator of the upstream.',
  )
}

function standing(scan: Scan): LeadsheetError {
  return fault(
    `The list of leads brought nothing new on ${scan.idle_pages} pages in a row (${scan.pass_pages} read), so it would never end`,
    'What was read is kept. Check the paging of the profile: the upstream may not know its parameter.',
  )
}

function endless(scan: Scan): LeadsheetError {
  return fault(
    `The list of leads goes on after ${scan.pass_pages} pages, which is where limits.max_pages ends it`,
    'What was read is kept. If there are so many leads, raise limits.max_pages in the profile.',
  )
}

function contradicting(scan: Scan): LeadsheetError {
  const of = scan.total_low === null ? '' : ` of ${scan.total_low}`
  return fault(
    `The list of leads gave an empty page that says that more follow, after ${scan.pass_seen}${of} leads`,
    'What was read is kept, and the next sync reads anew. If the upstream always says so, remove paging.has_more from the profile.',
  )
}

function withoutCursor(scan: Scan): LeadsheetError {
  return fault(
    `The first page of the list of leads is full (${scan.last_rows}) and names no next page, but the total is ${scan.total_low}`,
    'What was read is kept. Check paging.next of the profile: the upstream may have renamed the field.',
  )
}

function fault(message: string, hint: string): LeadsheetError {
  return new LeadsheetError('api_unexpected', message, { hint })
}
