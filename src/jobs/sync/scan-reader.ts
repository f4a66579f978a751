/**
 * Reads the list of leads once, page by page, and decides where it ends. The list ends with a page that names
 * no next page, in numbered lists with an empty page or the error that they give past their end. A short page
 * does not end the list. Neither does an empty page before one with leads, so pages behind the one that seems to be
 * the last are probed ({@link maySeemLast}).
 */

import type { ScanStop } from '../../domain/sync.ts'
import { LeadsheetError } from '../../errors.ts'
import { CLOCK_SKEW_MS, type Scan } from '../../store/sync/scan.ts'
import type { PageRead } from '../../store/sync/scan-page.ts'
import { isQuarantined } from '../../upstream/mapping/lead-mapping.ts'
import type { FindUnchanged, RawRecord } from '../../upstream/mapping/raw-record.ts'
import { namesNext } from '../../upstream/paging/paging.ts'
import type { RawPage } from '../../upstream/paging/raw-page.ts'
import { canShift, isNumbered, overlapRows, readAhead, rewind } from '../../upstream/paging/read-ahead.ts'
import type { PagingProfile } from '../../upstream/profile/profile.ts'
import { idsOf } from './map-page.ts'
import { type Ask, type LastPage, proveEnd } from './refused-page.ts'
import { isAllRead, isTotalReached } from './scan-result.ts'
import { pageSizeOf, type SyncRun } from './sync-context.ts'

/** The number of pages in a row without a new lead after which the list counts as endless. */
const IDLE_PAGES_MAX = 2
/** The number of empty pages in a row, each of which names a next page, after which the scan ends unproven. */
const EMPTY_PAGES_MAX = 100
/** If rows moved, the page is requested again from an earlier position: each time further back by this factor. */
const REWIND_FACTOR = 4
const REWIND_MAX = REWIND_FACTOR ** 4

export interface PassEnd {
  readonly scan: Scan
  readonly stop: ScanStop
  readonly saysEnd?: boolean
  readonly error?: LeadsheetError
}

export interface ReadPage extends PageRead {
  readonly records: readonly RawRecord[]
}

interface ScanReader extends Disposable {
  /**
   * Returns the next page, or the end of the pass. The page after it is fetched meanwhile.
   * @param scan the scan after the page before, which was written
   * @throws LeadsheetError api_*, run_interrupted
   */
  next(scan: Scan): Promise<ReadPage | PassEnd>
}

interface PageBefore {
  readonly page: RawPage
  readonly next: string | null
  readonly isLoop: boolean
  /** Tells whether the page was the same as the one before it. */
  readonly isRepeat: boolean
  readonly isOverlapping: boolean
  /** The position at which the page really began. */
  readonly at: string | null
  readonly mayProbe: boolean
  /** The number of pages before it that seemed to be the last. */
  readonly probes: number
}

type Place = 'there' | 'moved' | 'elsewhere'

/** @param findUnchanged finds records that have not changed, which are not parsed */
export function createScanReader(run: SyncRun, begun: Scan, findUnchanged: FindUnchanged): ScanReader {
  const { source, options } = run
  const { paging } = source
  const { limits } = source.profile
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const filters = { updatedSince: begun.pass_since ?? undefined }
  const wanted = pageSizeOf(run)
  const ask: Ask = (at, size = wanted, by = filters) => source.listLeads(by, at, size, { signal })
  const fetchPage = readAhead(source, filters, wanted, signal, findUnchanged, begun.first_rows)
  const positions = new Set<string | null>([begun.cursor])
  let position = begun.cursor
  /** The ids at the end of the page before, with which this page must begin. Empty if pages do not overlap. */
  let tail: readonly string[] = JSON.parse(begun.tail)
  let overlap = tail.length
  /** The furthest position from which the pass went back. Up to there, pages contain no new leads. */
  let frontier = Number(begun.cursor)
  let emptyPages = 0
  /** The number of pages in a row that seemed to be the last of the list. */
  let probes = 0
  /** The position of the last page that seemed to be the last of the list. */
  let endedAt: string | null = null
  let last: LastPage | null = null
  let before: PageBefore | null = null
  let ahead = fetchPage(rewind(paging, position, overlap))
  let scan = begun
  /** The records of searches with several pages, by id, each with the time at which its search ended. */
  const deep = new Map<string, { readonly fingerprint: string; readonly search: { endedMs: number } }>()
  let search = { endedMs: 0 }

  return {
    async next(written) {
      scan = written
      const end = judgeBefore()
      if (end !== null) return end
      for (;;) {
        const page = await ahead.catch(onFailure)
        // The run may have been stopped after the page arrived.
        options.signal.throwIfAborted()
        if (page === null) return { scan, stop: 'past_end' }
        if (probes > 1 && page.records.length > 0) {
          // Pages between the last empty one and this one were not read.
          probeBehind(endedAt)
          positions.clear()
          continue
        }
        if (last === null && isForgotten(begun, page, paging)) throw forgotten(begun, page)
        const place = placeOf(page)
        if (place === 'elsewhere' && goBack()) continue
        return takePage(page, place)
      }
    },
    [Symbol.dispose]: () => stop.abort(),
  }

  /** Returns the end that the page before has proved, now that it is written; null if it has proved none. */
  function judgeBefore(): PassEnd | null {
    if (before === null) return null
    const { page, next, isLoop, isRepeat, isOverlapping, mayProbe } = before
    if (next === null) return endOf(run, scan, page)
    if (isLoop) return { scan, stop: 'loop', error: looping(next) }
    if (probes > 0) return null
    if (scan.idle_pages > 0) {
      // If pages overlap, seen rows on a short page are those that new rows pushed down.
      const isLast = isRepeat || isOverlapping ? isAllRead(scan) : isTotalReached(scan)
      if (isNumbered(paging) && (isLast || before.probes > 0)) {
        if (!mayProbe || before.probes > 0 || isTotalReached(scan)) return { scan, stop: 'past_end' }
        probeBehind(before.at)
        tail = []
        overlap = 0
        return null
      }
      if (scan.idle_pages >= IDLE_PAGES_MAX) return { scan, stop: 'loop', error: standing(scan) }
    }
    if (scan.pass_pages < limits.max_pages) return null
    return { scan, stop: 'page_cap', error: endless(scan) }
  }

  function probeBehind(at: string | null): void {
    probes = 1
    position = fetchPage.behind(at, 1)
    ahead = fetchPage(position)
  }

  /** Returns null if the failure means that the list has ended, or the page if it could be read after all. */
  async function onFailure(thrown: unknown): Promise<RawPage | null> {
    return proveEnd(run, ask, scan, filters, { last, position, overlap }, thrown)
  }

  /**
   * `there`: it begins with the rows at the end of the page before; `moved`: at least two are somewhere on
   * it;
   * `elsewhere`: rows in between may have been missed.
   */
  function placeOf({ records }: RawPage): Place {
    const head = tail.length === 0 ? [] : idsOf(source, records.slice(0, tail.length))
    if (tail.every((id, index) => head[index] === id)) return 'there'
    const ids = new Set(idsOf(source, records))
    return tail.filter((id) => ids.has(id)).length >= Math.min(2, tail.length) ? 'moved' : 'elsewhere'
  }

  function goBack(): boolean {
    // In a list without an order there is no earlier place at which the rows went on.
    const canRewind = scan.is_unordered === 0 && overlap < tail.length * REWIND_MAX
    if (!canRewind || Number(position) <= overlap) return false
    frontier = Math.max(frontier, Number(position))
    overlap *= REWIND_FACTOR
    positions.clear()
    ahead = fetchPage(rewind(paging, position, overlap))
    return true
  }

  function takePage(page: RawPage, place: Place): ReadPage | PassEnd {
    const { records } = page
    const isEmpty = records.length === 0
    const isRewound = overlap > tail.length
    const named = isRewound && !isEmpty ? page.next : nextPosition(page)
    const mayProbe = maySeemLast(run, scan, page, probes)
    const isProbe = named === null && mayProbe
    const at = rewind(paging, position, overlap)
    const next = isProbe ? fetchPage.behind(at, stepBehind(probes)) : named
    if (isProbe) {
      positions.clear()
      endedAt = at
    }
    emptyPages = isEmpty ? emptyPages + 1 : 0
    const isLoop = next !== null && (positions.has(next) || emptyPages > EMPTY_PAGES_MAX)
    if (isLoop && isEmpty) return { scan, stop: 'loop' }
    const overlapping = overlapRows(paging, Math.max(scan.largest_page, records.length))
    const nextTail = overlapping === 0 || isProbe ? [] : idsOf(source, records.slice(-overlapping))
    const isRepeat = isSamePage(last?.records ?? [], records)
    const read: ReadPage = {
      records,
      cursor: isLoop ? null : next,
      tail: nextTail,
      // Some lists report a total of 0 past their end. So the total of an empty page counts only if it is
      // the first page.
      total: !isEmpty || scan.pass_pages === 0 ? page.total : null,
      // A look behind the end may begin before the last page.
      repeats: canShift(paging) && !isRepeat && probes === 0 ? tail.length : null,
      hasMoved: !isRepeat && (isRewound || place !== 'there'),
      isBroken: place === 'elsewhere' || isChainBroken(page),
      // A chain of searches always moves on, though a search may begin with many leads of the one before.
      isAgain: page.chain !== undefined || (next !== null && Number(next) <= frontier),
      partialSign: page.partialSign ?? null,
      isBehindEnd: probes > 0,
      namesNext: namesNext(paging),
      isOfChain: page.chain !== undefined,
    }
    before = { page, next, isLoop, isRepeat, isOverlapping: overlapping > 0, at, mayProbe, probes }
    last = { position, records }
    probes = isProbe && page.saysMore !== true ? probes + 1 : 0
    position = next
    tail = nextTail
    overlap = nextTail.length
    if (next !== null && !isLoop) {
      positions.add(next)
      ahead = fetchPage(rewind(paging, next, overlap))
    }
    return read
  }

  /**
   * Returns whether a chain of searches may have left out leads: behind the end of a search, or because a lead has
   * changed while a search read several pages, so that others moved to a page that was read before.
   */
  function isChainBroken({ chain, records }: RawPage): boolean {
    if (chain === undefined) return false
    const isResumed = last === null && begun.cursor !== null
    let isBroken = chain.isBroken || (isResumed && chain.wasDeep)
    if (chain.isFirst) search = { endedMs: 0 }
    search.endedMs = run.now().getTime() - (source.clockAheadMs() ?? 0) + CLOCK_SKEW_MS
    for (const record of chain.isDeep || deep.size > 0 ? records : []) {
      const lead = source.mapLead(record.value, record.text)
      const before = deep.get(lead.id ?? '')
      const fingerprint = `${record.high} ${record.low}`
      const changedMs = isQuarantined(lead) ? 0 : Date.parse(lead.updatedAt ?? '')
      if (before !== undefined && before.fingerprint !== fingerprint && !(changedMs > before.search.endedMs))
        isBroken = true
      if (chain.isDeep && lead.id !== null) deep.set(lead.id, { fingerprint, search })
    }
    return isBroken
  }

  /**
   * Null on the last page: an overlapping one without a row after the current position, an empty one at the
   * total.
   */
  function nextPosition({ next, records }: RawPage): string | null {
    if (next === null || (records.length === 0 && isTotalReached(scan))) return null
    return overlap > 0 && Number(next) <= Number(position) ? null : next
  }
}

/**
 * Returns whether a page of a numbered list may only seem to be the last, so that pages behind it must be read: an
 * upstream may leave records out after it has cut a page. It is the last if it says so, if the total is reached, or
 * if nothing was found behind it, at growing distances up to as many pages as were read. A sync of changes probes
 * there only if it has read a full page or several.
 * @param probes the number of pages before that seemed to be the last
 */
function maySeemLast(run: SyncRun, scan: Scan, page: RawPage, probes: number): boolean {
  if (!isNumbered(run.source.paging) || isTotalReached(scan)) return false
  const isNamedLast = page.records.length > 0 && page.next === null
  const isLong = scan.mode === 'full' || scan.pass_pages > 1 || scan.first_rows >= pageSizeOf(run)
  const mayProbe = probes === 0 || 2 * stepBehind(probes) < scan.pass_pages - probes
  return page.saysMore ?? (!isNamedLast && isLong && mayProbe)
}

/** Returns how many pages behind a page that seems to be the last the next one is that is read: 1, 1, 2, 4, 8. */
function stepBehind(probes: number): number {
  return 2 ** Math.max(0, probes - 1)
}

function endOf(run: SyncRun, scan: Scan, page: RawPage): PassEnd {
  const isReached = isTotalReached(scan)
  if (page.records.length === 0) {
    const isEnd = page.saysMore !== true || isReached
    return { scan, stop: 'empty_page', ...(isEnd ? {} : { error: contradicting(scan) }) }
  }
  const { paging } = run.source
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

/** The page is the empty end, as some answer to an unknown cursor, or numbered pages have become larger. */
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
