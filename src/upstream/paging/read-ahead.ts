/**
 * Pages of a list, on their way before they are asked for: the next one as soon as the one before has come, and
 * several at once where positions are numbers. A reader sees what it would have seen asking one after another.
 */

import type { FindKnown } from '../mapping/raw-record.ts'
import type { PagingProfile } from '../profile/profile.ts'
import type { RawPage, Source } from '../source.ts'
import type { LeadFilters } from './list-filters.ts'
import { chainPages } from './prefetch-cursor.ts'
import { guessPages } from './prefetch-numbered.ts'
import type { FetchPage, StartedPage } from './prefetched-page.ts'

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
