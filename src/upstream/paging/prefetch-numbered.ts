/**
 * Pages whose positions are numbers, several under way at once. Where a page begins is a guess, from the distance
 * between the last two; one that proves wrong is thrown away.
 */
import type { RawPage, Source } from '../source.ts'
import type { FetchPage, StartedPage, StartPage } from './prefetched-page.ts'

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
