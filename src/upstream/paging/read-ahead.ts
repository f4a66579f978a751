/**
 * Fetches pages of a list before the caller asks for them. The next page is fetched as soon as the last page
 * has arrived. If positions are numbers, several pages are fetched at the same time. The caller gets the same
 * pages as without reading ahead.
 */
import type { FindKnown } from '../mapping/raw-record.ts'
import type { PagingProfile } from '../profile/profile.ts'
import type { RawPage, Source } from '../source.ts'
import type { LeadFilters } from './paging.ts'

/**
 * Creates the function that fetches the pages of a list ahead.
 * @param signal ends all requests in progress; the caller must abort it when it stops reading
 */
export function readAhead(
  source: Pick<Source, 'listLeads' | 'profile' | 'usage'>,
  filters: LeadFilters,
  size: number,
  signal: AbortSignal,
  findKnown?: FindKnown,
): FetchPage {
  const first = firstPosition(source.profile.paging)
  const fetchPage =
    first === null
      ? chainPages(startPage, source.profile.limits.concurrency)
      : guessPages(startPage, source, first)
  return (position) => {
    const page = handOut(fetchPage(position))
    // A caller that stops reading never waits for this page, so the abort must not become an unhandled
    // rejection.
    page.catch(() => undefined)
    return page
  }

  function startPage(position: string | null): StartedPage {
    const dropped = new AbortController()
    const page = source.listLeads(filters, position, size, {
      signal: AbortSignal.any([signal, dropped.signal]),
      findKnown,
    })
    page.catch(() => undefined)
    return { position, page, dropped }
  }
}

/** Returns the first position as a number; null if positions are not numbers. */
function firstPosition(paging: PagingProfile): number | null {
  if (paging.kind === 'page' || paging.kind === 'offset') return paging.start
  return paging.kind === 'range' ? 0 : null
}

/**
 * Returns a page only after the requests for the next pages have been sent, because the caller may then keep
 * the thread busy.
 */
async function handOut(page: Promise<RawPage>): Promise<RawPage> {
  const read = await page
  // Undici waits one turn of the event loop before it writes on an idle connection.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  return read
}

/**
 * Fetches pages whose positions are tokens. Because each page names the next page, only one page is fetched
 * at a time. That page is fetched while the caller still works on the page before.
 * @param most the maximum number of fetched pages that wait for the caller
 */
function chainPages(startPage: StartPage, most: number): FetchPage {
  let waiting: StartedPage[] = []
  let last: StartedPage | null = null
  // The position after the last fetched page; null until that page has arrived, and at the end of the list.
  let next: string | null = null

  return (position) => {
    const asked = take(position) ?? start(position)
    goOn()
    return asked.page
  }

  /**
   * Takes the first waiting page if it has the requested position. If it has another position, the caller
   * continues elsewhere in the list, and all waiting pages are dropped.
   */
  function take(position: string | null): StartedPage | undefined {
    if (waiting[0]?.position === position) return waiting.shift()
    for (const { dropped } of waiting) dropped.abort()
    waiting = []
    return undefined
  }

  function start(position: string | null): StartedPage {
    const started = startPage(position)
    last = started
    next = null
    started.page.then(
      (page) => {
        if (last !== started) return
        next = page.next
        goOn()
      },
      // The caller who asks for the page gets the failure.
      () => undefined,
    )
    return started
  }

  function goOn(): void {
    if (next !== null && waiting.length < most) waiting.push(start(next))
  }
}

/**
 * The number of fetched pages after which one more page is fetched at the same time, unless the upstream
 * answers that requests come too fast.
 */
const PAGES_TO_WIDEN = 8

/**
 * Fetches several pages at the same time if positions are numbers. The next positions are guessed from the
 * distance between the last two positions. A page at a wrongly guessed position is dropped.
 * @param first the position of the first page
 */
function guessPages(
  startPage: StartPage,
  { profile: { paging, limits }, usage }: Pick<Source, 'profile' | 'usage'>,
  first: number,
): FetchPage {
  let guesses: StartedPage[] = []
  let last: { readonly at: number; readonly stride: number | null } | null = null
  let width: number = limits.concurrency
  let throttled = usage.throttled
  // No page is guessed from these positions on. `totalEnd` is the end of the list according to its total, and
  // `knownEnd` is the first page that failed or was the last.
  let totalEnd = Number.POSITIVE_INFINITY
  let knownEnd = Number.POSITIVE_INFINITY

  return (position) => {
    const at = Number(position ?? first)
    const asked = take(at) ?? start(position, at)
    const stride = last === null ? null : at - last.at
    const isSteady = stride !== null && (last?.stride === null || last?.stride === stride)
    last = { at, stride }
    width = adapt(width, limits.concurrency, usage.throttled > throttled)
    throttled = usage.throttled
    if (isSteady && stride > 0) guessFrom(at, stride)
    return asked.page
  }

  function guessFrom(at: number, stride: number): void {
    while (guesses.length + 1 < Math.floor(width)) {
      const next = at + stride * (guesses.length + 1)
      if (next >= totalEnd || next >= knownEnd) break
      guesses.push(start(String(next), next))
    }
  }

  /**
   * Takes the guessed page at a position. The guesses before that page were wrong. If no guess has the
   * position, all guesses were wrong.
   */
  function take(at: number): StartedPage | undefined {
    const index = guesses.findIndex((guess) => Number(guess.position) === at)
    const wrong = index === -1 ? guesses : guesses.slice(0, index)
    for (const { dropped } of wrong) dropped.abort()
    if (wrong.length > 0) knownEnd = Number.POSITIVE_INFINITY
    const taken = index === -1 ? undefined : guesses[index]
    guesses = index === -1 ? [] : guesses.slice(index + 1)
    return taken
  }

  function start(position: string | null, at: number): StartedPage {
    const started = startPage(position)
    started.page.then(
      (page) => noteEnd(page, at),
      () => started.dropped.signal.aborted || noteEnd(null, at),
    )
    return started
  }

  function noteEnd(page: RawPage | null, at: number): void {
    if (page === null || page.next === null || page.records.length === 0) {
      knownEnd = Math.min(knownEnd, at)
    } else if (page.total !== null) {
      const places = paging.kind === 'page' ? Math.ceil(page.total / page.records.length) : page.total
      totalEnd = first + places
    }
  }
}

/**
 * Returns the number of pages to fetch at the same time: half of `width` if the upstream answered that
 * requests come too fast, otherwise slightly more than `width`, up to `max`.
 */
export function adapt(width: number, max: number, isTooFast: boolean): number {
  return isTooFast ? Math.max(1, width / 2) : Math.min(max, width + 1 / PAGES_TO_WIDEN)
}

/** Fetches the page at a position; throws like `Source.listLeads`. */
export type FetchPage = (position: string | null) => Promise<RawPage>

interface StartedPage {
  readonly position: string | null
  /** The page. A failed request is ignored until somebody waits for the page. */
  readonly page: Promise<RawPage>
  /** Aborts the request for a page that nobody will ask for. */
  readonly dropped: AbortController
}

type StartPage = (position: string | null) => StartedPage

/**
 * The maximum number of rows by which two pages overlap. If positions count rows, an added or deleted row
 * shifts all rows after it, so each page begins a few rows early.
 */

const OVERLAP_ROWS_MAX = 20
/** The largest overlap as a share of the page. The limit lets small pages still make progress. */
const OVERLAP_SHARE = 0.2

/** Returns whether positions are numbers. A request can then go past the end of the list. */
export function isNumbered(paging: PagingProfile): boolean {
  return paging.kind === 'page' || paging.kind === 'offset' || paging.kind === 'range'
}

/**
 * Returns whether rows may shift between pages. Rows do not shift with a cursor, which points at a row. Rows
 * may shift with a link, which may contain a page number.
 */
export function canShift(paging: PagingProfile): boolean {
  return isNumbered(paging) || paging.kind === 'link' || paging.kind === 'next_url'
}

/** Returns how many rows of a page the next page repeats; 0 if a page cannot begin at an arbitrary row. */
export function overlapRows(paging: PagingProfile, largestPage: number): number {
  if (paging.kind !== 'offset' && paging.kind !== 'range') return 0
  return Math.min(OVERLAP_ROWS_MAX, Math.floor(largestPage * OVERLAP_SHARE))
}

/** Returns the position that is `rows` rows earlier, but not before the first row. */
export function rewind(paging: PagingProfile, position: string | null, rows: number): string | null {
  if (position === null || rows === 0) return position
  const first = paging.kind === 'offset' ? paging.start : 0
  return String(Math.max(first, Number(position) - rows))
}
