/**
 * Reads a list whose searches end after some records, such as 10,000, as a chain of searches in the order of change.
 * A page is followed by a new search from the time of its last records, which come once more. So a record that
 * changes meanwhile cannot shift others past a page: it moves to the end of the list, and is read again there. Before,
 * the page behind in the same search is looked at, because the upstream may ignore the order. If the new search would
 * leave out a record of it, or if a page has too many records of one time, the same search goes on.
 */
import type { Instant } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import { readInstant } from '../profile/field-rule.ts'
import type { PagingProfile, Profile, TimeFilter } from '../profile/profile.ts'
import type { RawPage, ReadPage } from './raw-page.ts'

/** The precision in which each format writes a time. */
const UNIT_MS: Readonly<Record<TimeFilter['format'], number>> = {
  iso: 1,
  epoch_ms: 1,
  iso_seconds: 1_000,
  epoch_s: 1_000,
  datetime: 1_000,
  date: 86_400_000,
}
/** The number of last records of a page of which one is expected again. More than one, because one may change. */
const LINKS = 3
/** The share of a page that may come once more. If it is more, the same search goes on, as long as it can. */
const REPEATED_SHARE = 0.2
/** The share of records that may be older than the record before, because a search may lag behind the records. */
const DISORDER_SHARE = 0.1

/** A place in the chain, which is stored as the position of a scan. */
interface Place {
  /** The time from which the search reads; null for the first search, which has the filters of the scan alone. */
  readonly since: Instant | null
  /** The time of the last record before the search, which must not begin behind it. */
  readonly last: Instant | null
  /** The position in the search; null for its first page. */
  readonly inner: string | null
  /** The number of records that the search has given before. */
  readonly read: number
  /** Tells whether a search of the chain before had several pages. */
  readonly wasDeep: boolean
}

/** Reads a page of the same search, before which it has given `before` records. */
type ReadOn = (inner: string | null, before: number) => Promise<RawPage>

const FIRST: Place = { since: null, last: null, inner: null, read: 0, wasDeep: false }

/** Returns the paging as a scan sees it: in a chain of searches, each page names the next one. */
export function scannedPaging({ paging, limits }: Pick<Profile, 'paging' | 'limits'>): PagingProfile {
  if (limits.search_records === undefined) return paging
  return { kind: 'cursor', param: '', next: { path: [] }, size_max: paging.size_max }
}

/** Returns a function that reads pages of the chain; `readPage` itself if the profile has no limit of a search. */
export function chainSearches(readPage: ReadPage, { limits, filters, mapping, paging }: Profile): ReadPage {
  const { updated_since: filter } = filters
  if (limits.search_records === undefined || filter === undefined) return readPage
  const limit = limits.search_records
  const unitMs = UNIT_MS[filter.format]
  const floor = (ms: number): number => Math.floor(ms / unitMs) * unitMs

  return async (wanted, position, size, options) => {
    const place: Place = position === null ? FIRST : JSON.parse(position)
    const since = place.since ?? wanted.updatedSince
    const read: ReadOn = (inner, before) => {
      // Leaves room for the page behind. Numbers of pages count pages of one size.
      const room = paging.kind === 'page' ? size : Math.min(size, Math.ceil((limit - before) / 2))
      return readPage({ ...wanted, updatedSince: since }, inner, room, options)
    }
    const page = await read(place.inner, place.read)
    const times = timesOf(page)
    refuseDisorder(place, times, floor)
    const next = await follow(place, since, page, read, Math.min(size, paging.size_max))
    const isFirst = place.inner === null
    const begin = times[0] ?? Number.POSITIVE_INFINITY
    return {
      ...page,
      next: next && JSON.stringify(next),
      // The totals of later searches are without the records before them.
      total: place.since === null ? page.total : null,
      // The search was cut at its limit, and a new one goes on from there.
      partialSign: next !== null && isOfLimit(page) ? null : (page.partialSign ?? null),
      chain: {
        isFirst,
        isDeep: !isFirst || (next !== null && next.inner !== null),
        wasDeep: place.wasDeep,
        isBroken: isFirst && place.last !== null && begin > Date.parse(place.last),
      },
    }
  }

  function timesOf({ records }: RawPage): number[] {
    return records.flatMap(({ value }) => {
      const at = readInstant(value, mapping.lead.updated_at)
      return at === null ? [] : floor(Date.parse(at))
    })
  }

  /** Returns where the chain goes on behind a page; null at the end of the list. */
  async function follow(
    place: Place,
    since: Instant | undefined,
    page: RawPage,
    readOn: ReadOn,
    size: number,
  ): Promise<Place | null> {
    const times = timesOf(page)
    const rows = page.records.length
    const read = place.read + rows
    const isCut = rows > 0 && (read >= limit || isOfLimit(page))
    if (page.next === null && !isCut) return null
    const from = Math.min(...times.slice(-LINKS)) - unitMs
    const repeated = times.filter((at) => at >= from).length
    const isAhead = Number.isFinite(from) && (since === undefined || from > floor(Date.parse(since)))
    // A page that has a number cannot be smaller, so that it must fit whole before the limit.
    const least = paging.kind === 'page' ? size : 1
    const isNearEnd = isCut || read + size + least > limit
    if (isAhead && (isNearEnd || repeated <= rows * REPEATED_SHARE)) {
      const canLook = page.next !== null && read + least <= limit
      // A page behind the end may be refused. If the search goes on, this is met again.
      const behind = canLook ? await readOn(page.next, read).then(timesOf, () => null) : []
      if (behind?.every((at) => at >= from)) {
        const wasDeep = place.wasDeep || place.inner !== null
        // Without a look at the page behind, leads may be left out. The next search then counts as one that begins too
        // late.
        const last = new Date(canLook ? Math.max(...times.slice(-LINKS)) : 0).toISOString()
        return { since: new Date(from).toISOString(), last, inner: null, read: 0, wasDeep }
      }
    }
    if (read >= limit || page.next === null) throw endless(read, since)
    return { ...place, since: place.since, inner: page.next, read }
  }
}

/** Returns whether the page says that the search was cut at its limit, as Notion does. */
function isOfLimit({ partialSign }: RawPage): boolean {
  return /limit/i.test(partialSign ?? '')
}

/** @throws LeadsheetError api_unexpected for a search that is not in the order of change, or ignores its filter */
function refuseDisorder({ since }: Place, times: readonly number[], floor: (ms: number) => number): void {
  const first = times[0]
  if (since !== null && first !== undefined && first < floor(Date.parse(since))) {
    throw new LeadsheetError(
      'api_unexpected',
      `The list of leads has a lead of ${new Date(first).toISOString()} in a search for changes since ${since}`,
      {
        hint: 'Correct filters.updated_since of the profile: its format, or the time zone in which it is read.',
      },
    )
  }
  const falls = times.filter((at, index) => at < (times[index - 1] ?? at)).length
  if (falls <= times.length * DISORDER_SHARE) return
  throw new LeadsheetError(
    'api_unexpected',
    'The list of leads is not in the order of change, the oldest first, by which limits.search_records reads it',
    { hint: 'Sort the list by the time of change in the profile: by sort, or in request.body.' },
  )
}

function endless(read: number, since: Instant | undefined): LeadsheetError {
  const from = since === undefined ? '' : ` since ${since}`
  return new LeadsheetError(
    'api_unexpected',
    `The list of leads has ${read} leads or more that changed at one time${from}, and a search ends there (limits.search_records)`,
    {
      hint: 'What was read is kept. Read another list that has no such limit, or narrow this one by a filter in the profile.',
    },
  )
}
