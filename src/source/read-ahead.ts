/**
 * Pages of a numbered list, fetched before they are asked for. Where the next page begins is a guess from the
 * distance between the last two; one that proves wrong is thrown away, so that a reader sees what it would have
 * seen asking one page after another. Positions that are tokens cannot be guessed and pass through.
 */
import type { LeadFilters } from './filters.ts'
import type { RawPage, Source } from './open.ts'
import type { PagingProfile } from './profile.ts'
import type { FindKnown } from './raw-record.ts'

/** Pages without a "too fast" for one more page at once. */
const PAGES_TO_WIDEN = 8

/** Fetches the page at a position; throws as `Source.listLeads` does. */
export type FetchPage = (position: string | null) => Promise<RawPage>

interface Guess {
  readonly at: number | null
  readonly page: Promise<RawPage>
  readonly drop: () => void
}

/** @param signal ends all that is under way; whoever stops reading must abort it */
export function readAhead(
  source: Pick<Source, 'listLeads' | 'profile' | 'usage'>,
  filters: LeadFilters,
  size: number,
  signal: AbortSignal,
  findKnown?: FindKnown,
): FetchPage {
  const { paging, limits } = source.profile
  const first = firstPosition(paging)
  let guesses: Guess[] = []
  let last: { readonly at: number; readonly stride: number | null } | null = null
  let width: number = limits.concurrency
  let throttled = source.usage.throttled
  // No page is guessed at or behind these: what the total says, and where a page failed or was the last.
  let totalEnd = Number.POSITIVE_INFINITY
  let knownEnd = Number.POSITIVE_INFINITY

  return (position) => {
    if (first === null) return start(position, null).page
    const at = Number(position ?? first)
    const asked = take(at) ?? start(position, at)
    const stride = last === null ? null : at - last.at
    const isSteady = stride !== null && (last?.stride === null || last?.stride === stride)
    last = { at, stride }
    width = adapt(width, limits.concurrency, source.usage.throttled > throttled)
    throttled = source.usage.throttled
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
  function take(at: number): Guess | undefined {
    const index = guesses.findIndex((guess) => guess.at === at)
    const wrong = index === -1 ? guesses : guesses.slice(0, index)
    for (const guess of wrong) guess.drop()
    if (wrong.length > 0) knownEnd = Number.POSITIVE_INFINITY
    const taken = index === -1 ? undefined : guesses[index]
    guesses = index === -1 ? [] : guesses.slice(index + 1)
    return taken
  }

  function start(position: string | null, at: number | null): Guess {
    const dropped = new AbortController()
    const page = source.listLeads(filters, position, size, {
      signal: AbortSignal.any([signal, dropped.signal]),
      findKnown,
    })
    // A failure is met by who asks for the page; until then it must not count as unhandled.
    page.then(
      (read) => noteEnd(read, at),
      () => dropped.signal.aborted || noteEnd(null, at),
    )
    return { at, page, drop: () => dropped.abort() }
  }

  function noteEnd(page: RawPage | null, at: number | null): void {
    if (at === null || first === null) return
    if (page === null || page.next === null || page.records.length === 0) {
      knownEnd = Math.min(knownEnd, at)
    } else if (page.total !== null) {
      const places = paging.kind === 'page' ? Math.ceil(page.total / page.records.length) : page.total
      totalEnd = first + places
    }
  }
}

/** Null where positions are no numbers. */
function firstPosition(paging: PagingProfile): number | null {
  if (paging.kind === 'page' || paging.kind === 'offset') return paging.start
  return paging.kind === 'range' ? 0 : null
}

/** Halves on "too fast", and grows back page by page. */
export function adapt(width: number, max: number, isTooFast: boolean): number {
  return isTooFast ? Math.max(1, width / 2) : Math.min(max, width + 1 / PAGES_TO_WIDEN)
}
