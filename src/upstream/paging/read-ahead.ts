/**
 * Pages of a list, on their way before they are asked for: the next one as soon as the one before has come, and
 * several at once where positions are numbers. A reader sees what it would have seen asking one after another.
 */
import type { FindKnown } from '../mapping/raw-record.ts'
import type { PagingProfile } from '../profile/profile.ts'
import type { RawPage, Source } from '../source.ts'
import type { LeadFilters } from './list-filters.ts'

/** @param signal ends all that is under way; whoever stops reading must abort it */
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
    // A reader that stops leaves it under way: that it is then ended is nobody's failure.
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

/** Null where positions are no numbers. */
function firstPosition(paging: PagingProfile): number | null {
  if (paging.kind === 'page' || paging.kind === 'offset') return paging.start
  return paging.kind === 'range' ? 0 : null
}

/** The page, after the requests that its coming has led to have left: its reader may keep the thread busy. */
async function handOut(page: Promise<RawPage>): Promise<RawPage> {
  const read = await page
  // Undici watches an idle connection for a turn of the event loop before it writes on it.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  return read
}

/*
 * Pages whose positions are tokens: each names the next, so they can only come one after another. The next one
 * is asked for as soon as the one before has come, whatever its reader is still doing with those before.
 */

/** @param most pages that may wait for their reader */
export function chainPages(startPage: StartPage, most: number): FetchPage {
  let waiting: StartedPage[] = []
  let last: StartedPage | null = null
  // Where the list goes on behind the last page; null while that is not known, and at its end.
  let next: string | null = null

  return (position) => {
    const asked = take(position) ?? start(position)
    goOn()
    return asked.page
  }

  /** The first that waits, if it is the one; else its reader goes on from elsewhere, and none of them is wanted. */
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
      // Told to who asks for the page.
      () => undefined,
    )
    return started
  }

  function goOn(): void {
    if (next !== null && waiting.length < most) waiting.push(start(next))
  }
}

/*
 * Pages whose positions are numbers, several under way at once. Where a page begins is a guess, from the distance
 * between the last two; one that proves wrong is thrown away.
 */

/** Pages without a "too fast" for one more page at once. */
const PAGES_TO_WIDEN = 8

/** @param first the position of the first page */
export function guessPages(
  startPage: StartPage,
  { profile: { paging, limits }, usage }: Pick<Source, 'profile' | 'usage'>,
  first: number,
): FetchPage {
  let guesses: StartedPage[] = []
  let last: { readonly at: number; readonly stride: number | null } | null = null
  let width: number = limits.concurrency
  let throttled = usage.throttled
  // No page is guessed at or behind these: what the total says, and where a page failed or was the last.
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

  /** The guess for a position. Those before it and, if it is none of them, all others were wrong. */
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

/** Halves on "too fast", and grows back page by page. */
export function adapt(width: number, max: number, isTooFast: boolean): number {
  return isTooFast ? Math.max(1, width / 2) : Math.min(max, width + 1 / PAGES_TO_WIDEN)
}

/* A page of a list that is fetched before its reader asks for it: what the two ways of reading ahead hold. */

/** Fetches the page at a position; throws as `Source.listLeads` does. */
export type FetchPage = (position: string | null) => Promise<RawPage>

export interface StartedPage {
  readonly position: string | null
  /** A failure that nobody waits for is none. */
  readonly page: Promise<RawPage>
  /** For a page that nobody will ask for. */
  readonly dropped: AbortController
}

export type StartPage = (position: string | null) => StartedPage

/*
 * Lists whose pages are counted from the start: a row that goes or comes before the place in hand moves all
 * rows behind it from page to page. Where rows are counted, each page can begin a few rows early.
 */

const OVERLAP_ROWS_MAX = 20
/** The share of a page that is read again, so that small pages still get on. */
const OVERLAP_SHARE = 0.2

/** Whether a position is a number that one can count past the end with. */
export function isNumbered(paging: PagingProfile): boolean {
  return paging.kind === 'page' || paging.kind === 'offset' || paging.kind === 'range'
}

/** Whether rows may shift between pages. A cursor points at a row; links may hide page numbers. */
export function canShift(paging: PagingProfile): boolean {
  return isNumbered(paging) || paging.kind === 'link' || paging.kind === 'next_url'
}

/** How many rows of a page the next one shows again; 0 where pages cannot begin anywhere. */
export function overlapRows(paging: PagingProfile, largestPage: number): number {
  if (paging.kind !== 'offset' && paging.kind !== 'range') return 0
  return Math.min(OVERLAP_ROWS_MAX, Math.floor(largestPage * OVERLAP_SHARE))
}

/** The position so many rows before another, and not before the first. */
export function rewind(paging: PagingProfile, position: string | null, rows: number): string | null {
  if (position === null || rows === 0) return position
  const first = paging.kind === 'offset' ? paging.start : 0
  return String(Math.max(first, Number(position) - rows))
}
