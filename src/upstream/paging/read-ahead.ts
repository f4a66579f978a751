/**
 * Fetches pages of a list before the caller asks for them. When a page arrives, the next page is requested at
 * once. If positions are numbers, several pages are requested at the same time. The caller gets the same
 * pages as if it requested them one by one.
 */
import { LeadsheetError } from '../../errors.ts'
import type { FindUnchanged } from '../mapping/raw-record.ts'
import type { PagingProfile } from '../profile/profile.ts'
import type { Source } from '../source.ts'
import type { LeadFilters } from './paging.ts'
import type { RawPage } from './raw-page.ts'

/**
 * @param signal ends all requests; must be aborted when no more pages are needed
 * @param firstRows the rows of the first page, if reading goes on behind it; otherwise 0
 */
export function readAhead(
  source: Pick<Source, 'listLeads' | 'profile' | 'paging' | 'usage'>,
  filters: LeadFilters,
  size: number,
  signal: AbortSignal,
  findUnchanged?: FindUnchanged,
  firstRows = 0,
): PageReader {
  const { paging } = source
  const first = firstPosition(paging)
  let pageSize = paging.kind === 'page' && isCut(firstRows, size) ? firstRows : size
  let fetchPage = newFetch()
  const read: FetchPage = (position) => {
    const page = handOut(fetchPage(position))
    // If the caller stops reading, nobody waits for this page. Its failure must not become an unhandled
    // rejection.
    page.catch(() => undefined)
    return page
  }
  return Object.assign(read, { behind })

  function newFetch(): FetchPage {
    return first === null
      ? chainPages(startPage, source.profile.limits.concurrency)
      : guessPages(startPage, source, first, size)
  }

  function behind(position: string | null, pages: number): string {
    const at = Number(position ?? first)
    if (paging.kind !== 'page') return String(at + size * pages)
    const read = Math.floor(((at - paging.start + 1) * pageSize) / size)
    if (pageSize !== size) {
      pageSize = size
      fetchPage = newFetch()
    }
    return String(paging.start + Math.max(1, read) + pages - 1)
  }

  function startPage(position: string | null): StartedPage {
    const dropped = new AbortController()
    const ask = (rows: number): Promise<RawPage> =>
      source.listLeads(filters, position, rows, {
        signal: AbortSignal.any([signal, dropped.signal]),
        findUnchanged,
      })
    const asked = pageSize
    const page = ask(asked).catch((thrown: unknown) => {
      // The upstream may take some sizes only, so a refusal of a smaller size does not end the list.
      const isSizeRefused = thrown instanceof LeadsheetError && thrown.code === 'api_rejected' && asked < size
      if (!isSizeRefused) throw thrown
      pageSize = size
      return ask(size)
    })
    const isFirst = position === null && paging.kind === 'page'
    return { position, page: isFirst ? page.then((first) => fitSize(first, ask)) : page, dropped }
  }

  /**
   * Sets the size of the further pages to that of a first page that the upstream has cut, unless it then gives fewer
   * rows, because it has hidden some.
   */
  async function fitSize(page: RawPage, ask: (rows: number) => Promise<RawPage>): Promise<RawPage> {
    const rows = page.records.length
    if (!isCut(rows, size)) return page
    const isSure = page.total !== null || filters.updatedSince !== undefined
    const again = isSure ? page : await ask(rows).catch(() => page)
    if (again.records.length >= rows) pageSize = rows
    return page
  }
}

/**
 * Returns whether an upstream has probably cut its first page to the most that it gives, such as 100 of 500. It
 * may then place the next page by the size that was asked for, so the other pages are asked for in the size of
 * the first one. A page that lacks a few rows, which the upstream may have hidden, is not cut.
 */
function isCut(rows: number, wanted: number): boolean {
  return rows > 0 && rows < wanted && (rows <= wanted / 2 || rows % 25 === 0 || rows % 64 === 0)
}

function firstPosition(paging: PagingProfile): number | null {
  if (paging.kind === 'page' || paging.kind === 'offset') return paging.start
  return paging.kind === 'range' ? 0 : null
}

/** Waits until the next requests were really sent, because the caller may then keep the thread busy. */
async function handOut(page: Promise<RawPage>): Promise<RawPage> {
  const read = await page
  // Undici waits one turn of the event loop before it writes on an idle connection.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  return read
}

/**
 * Each page names the next one, so only one is requested at a time, while the caller works on another.
 * @param most the maximum number of fetched pages that wait for the caller
 */
function chainPages(startPage: StartPage, most: number): FetchPage {
  let waiting: StartedPage[] = []
  let last: StartedPage | null = null
  // The position of the page to fetch next; null at the end of the list, and until the page before has
  // arrived.
  let next: string | null = null

  return (position) => {
    const asked = take(position) ?? start(position)
    goOn()
    return asked.page
  }

  /** At another position, the caller goes on elsewhere in the list, so all waiting pages are dropped. */
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
      // A failure is ignored here. The caller gets it when it asks for the page.
      () => undefined,
    )
    return started
  }

  function goOn(): void {
    if (next !== null && waiting.length < most) waiting.push(start(next))
  }
}

/**
 * The number of pages after which one more page is fetched at the same time, unless the upstream has said that
 * requests come too fast.
 */
const PAGES_TO_WIDEN = 8

/**
 * Fetches several pages at the same time if positions are numbers. The next positions are guessed from the
 * distance between the last two positions. A page at a wrongly guessed position is dropped.
 * @param first the position of the first page
 * @param size the number of rows of a full page
 */
function guessPages(
  startPage: StartPage,
  { profile: { limits }, paging, usage }: Pick<Source, 'profile' | 'paging' | 'usage'>,
  first: number,
  size: number,
): FetchPage {
  let guesses: StartedPage[] = []
  let last: { readonly at: number; readonly stride: number | null } | null = null
  let width: number = limits.concurrency
  let throttled = usage.throttled
  // The end of the list by its total. No page at or after this position is guessed.
  let totalEnd = Number.POSITIVE_INFINITY
  // The position of the first page that failed or was the last. No page at or after this position is guessed.
  let knownEnd = Number.POSITIVE_INFINITY
  // The rows of a short first page without a total; otherwise 0. The list probably ends there, so no page is guessed
  // until one has come with more than half as many rows.
  let shortRows = 0

  return (position) => {
    const at = Number(position ?? first)
    const asked = take(at) ?? start(position, at)
    const stride = last === null ? null : at - last.at
    const isSteady = stride !== null && (last?.stride === null || last?.stride === stride)
    last = { at, stride }
    width = adapt(width, limits.concurrency, usage.throttled > throttled)
    throttled = usage.throttled
    if (isSteady && stride > 0 && shortRows === 0) guessFrom(at, stride)
    return asked.page
  }

  function guessFrom(at: number, stride: number): void {
    while (guesses.length + 1 < Math.floor(width)) {
      const next = at + stride * (guesses.length + 1)
      if (next >= totalEnd || next >= knownEnd) break
      guesses.push(start(String(next), next))
    }
  }

  /** Drops the guesses before the position, which were wrong, or all if none is right. */
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
    const rows = page?.records.length ?? 0
    if (at === first && page?.total === null && rows < size) shortRows = rows
    else if (rows * 2 > shortRows) shortRows = 0
    if (page === null || page.next === null || page.records.length === 0) {
      knownEnd = Math.min(knownEnd, at)
    } else if (page.total !== null) {
      const places = paging.kind === 'page' ? Math.ceil(page.total / page.records.length) : page.total
      totalEnd = first + places
    }
  }
}

/** Half of `width` if requests come too fast, otherwise slightly more, but at most `max`. */
export function adapt(width: number, max: number, isTooFast: boolean): number {
  return isTooFast ? Math.max(1, width / 2) : Math.min(max, width + 1 / PAGES_TO_WIDEN)
}

export type FetchPage = (position: string | null) => Promise<RawPage>

/** Fetches pages, and can look whether rows follow a page of a numbered list that seems to be the last. */
interface PageReader extends FetchPage {
  /**
   * Returns the position some pages behind that page. If pages are asked for in the smaller size of the first page, it
   * goes back to the size that was asked for: the first page may have hidden rows. Some rows of the page at the
   * position may then have been read.
   */
  behind(position: string | null, pages: number): string
}

interface StartedPage {
  readonly position: string | null
  /** The requested page. Its failure is ignored until the caller asks for the page. */
  readonly page: Promise<RawPage>
  readonly dropped: AbortController
}

type StartPage = (position: string | null) => StartedPage

/** The maximum overlap of pages. A row that is added or deleted shifts all later rows, so pages begin a few rows early. */
const OVERLAP_ROWS_MAX = 20
/** The maximum overlap as a share of the page, so that a small page still has new rows. */
const OVERLAP_SHARE = 0.2

/** Returns whether positions are numbers. A page past the end can then be requested. */
export function isNumbered(paging: PagingProfile): boolean {
  return paging.kind === 'page' || paging.kind === 'offset' || paging.kind === 'range'
}

/**
 * Returns whether a new or deleted row can move other rows to another page. This is possible if positions are
 * numbers or links, because a link may contain a number. It is impossible if positions point at a row, as a
 * cursor does.
 */
export function canShift(paging: PagingProfile): boolean {
  return isNumbered(paging) || paging.kind === 'link' || paging.kind === 'next_url'
}

/** Returns by how many rows two pages overlap; 0 if positions do not count rows. */
export function overlapRows(paging: PagingProfile, largestPage: number): number {
  if (paging.kind !== 'offset' && paging.kind !== 'range') return 0
  return Math.min(OVERLAP_ROWS_MAX, Math.floor(largestPage * OVERLAP_SHARE))
}

/** Moves a position back by `rows` rows, but not before the first row. */
export function rewind(paging: PagingProfile, position: string | null, rows: number): string | null {
  if (position === null || rows === 0) return position
  const first = paging.kind === 'offset' ? paging.start : 0
  return String(Math.max(first, Number(position) - rows))
}
