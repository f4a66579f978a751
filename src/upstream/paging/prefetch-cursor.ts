/**
 * Pages whose positions are tokens: each names the next, so they can only come one after another. The next one
 * is asked for as soon as the one before has come, whatever its reader is still doing with those before.
 */
import type { FetchPage, StartedPage, StartPage } from './prefetched-page.ts'

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
