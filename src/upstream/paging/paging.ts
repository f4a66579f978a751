/**
 * Moves through a list from page to page, and adds the filters of the lead list. A position is a text that
 * the caller stores; null means the first page. A list ends at a page that has no next position. A page with fewer
 * records than requested does not mean the end.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Instant } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import { unexpected } from '../client/upstream-failure.ts'
import type { RawRecord } from '../mapping/raw-record.ts'
import type { PagingProfile, Place, Profile, TimeFilter } from '../profile/profile.ts'
import { isFilledObject, pathText, readPath } from '../values/json.ts'
import { COUNT, isOutside, toNumber } from '../values/scalar.ts'

export interface PageAnswer {
  readonly url: URL
  readonly body: unknown
  readonly headers: IncomingHttpHeaders
  readonly records: readonly Pick<RawRecord, 'value'>[]
  /** Tells whether a cursor can be sent back as JSON, in the body of a POST. */
  readonly takesJson?: boolean
}

/** Begins a position that is the JSON of a cursor, such as the key of DynamoDB. */
export const JSON_CURSOR = 'as JSON: '

/**
 * May add headers to `headers`.
 * @param list the URL of the list, with its filters
 */
export function requestPage(
  paging: PagingProfile,
  list: URL,
  headers: Record<string, string>,
  position: string | null,
  size: number,
): URL {
  const wanted = Math.min(size, paging.size_max)
  const isLinked = paging.kind === 'next_url' || paging.kind === 'link'
  if (isLinked && position !== null) return linkedFrom(list, position)
  const url = new URL(list)
  if (paging.kind === 'range') {
    const from = Number(position ?? 0)
    headers.range = `${paging.unit}=${from}-${from + wanted - 1}`
    return url
  }
  if (paging.size_param !== undefined) url.searchParams.set(paging.size_param, String(wanted))
  const at = 'start' in paging ? (position ?? String(paging.start)) : position
  if ('param' in paging && at !== null) url.searchParams.set(paging.param, at)
  return url
}

export function namesNext({ kind }: PagingProfile): boolean {
  return kind === 'cursor' || kind === 'next_url' || kind === 'link'
}

/**
 * Returns the position of the next page; null at the end of the list. A page without records ends the list
 * unless it names a next page: an upstream may leave records out after it has cut the page.
 * @param size the number of records that were asked for, if known
 */
export function nextPosition(
  paging: PagingProfile,
  position: string | null,
  answer: PageAnswer,
  size?: number,
): string | null {
  const isEmpty = answer.records.length === 0
  if (isEmpty && !namesNext(paging)) return null
  const more = saysMore(paging, position, answer)
  if (more === false) return null
  const next = positionAfter(paging, position, answer, size)
  // The answer says that more records follow, but does not say where. This must not pass as the end of the
  // list.
  if (next === null && !isEmpty && more === true && namesNext(paging))
    throw unexpected(answer.url, 'says that more follow, but not where')
  return next
}

/**
 * Returns the position after a full page that is the last one by the upstream's count of pages or of records, because
 * that count may be old; null after another page.
 * @param first the number of records of the first page, which shows best how many a full page has
 */
export function behindCounted(
  paging: PagingProfile,
  position: string | null,
  answer: PageAnswer,
  size: number,
  first: number,
): string | null {
  if (paging.kind !== 'page' && paging.kind !== 'offset') return null
  const full = paging.stop_at_total ? Math.min(size, first) : Math.min(size, paging.size_max)
  if (answer.records.length < full) return null
  const uncounted = { ...paging, stop_at_total: false, pages: undefined }
  return nextPosition(uncounted, position, answer, size)
}

/**
 * Returns whether a list ends with exactly as many records as some searches give at most: 10,000 in Elasticsearch and
 * services that search by it, 1,000 in Meilisearch, whose total is called an estimate.
 */
export function isWindow(records: number | null, total: Place | undefined): boolean {
  return records === 10_000 || (records === 1_000 && isEstimate(total))
}

/** Returns whether the name of a total says that it is an estimate, which proves no end. */
export function isEstimate(place: Place | undefined): boolean {
  return place !== undefined && /estimat|approx/i.test('path' in place ? pathText(place.path) : place.header)
}

/** Returns whether an answer says at least that no page follows: the cursor or link is there, if only as null. */
export function saysWhetherMore(paging: PagingProfile, position: string | null, answer: PageAnswer): boolean {
  if (saysMore(paging, position, answer) !== null) return true
  if (paging.kind === 'link') return answer.headers.link !== undefined
  if (paging.kind === 'next_url') return readPath(answer.body, paging.next) !== undefined
  return paging.kind !== 'cursor' || valueAt(paging.next, answer) !== undefined
}

/** Returns whether an answer says explicitly that more records follow, or that none do; null if it does not say. */
export function saysMore(paging: PagingProfile, position: string | null, answer: PageAnswer): boolean | null {
  const said = paging.has_more === undefined ? undefined : readPath(answer.body, paging.has_more)
  // Null may mean that the upstream has not looked, so it says nothing where each page names the next one.
  if (said === null ? !namesNext(paging) : isNo(said)) return false
  if (/^(true|yes|y|1)$/i.test(String(said))) return true
  if (namesNoNext(paging, answer)) return false
  if (paging.kind !== 'page') return null
  const pages = readTotal(paging.pages, answer)
  const read = Number(position ?? paging.start) - paging.start + 1
  // A page with records shows that a lower number of pages is wrong.
  if (pages === null || (pages < read && answer.records.length > 0)) return null
  return read < pages
}

function namesNoNext(paging: PagingProfile, { body }: Pick<PageAnswer, 'body'>): boolean {
  if (paging.kind !== 'cursor' && paging.kind !== 'next_url') return false
  const place = paging.kind === 'next_url' ? { path: paging.next } : paging.next
  const next = 'path' in place ? readPath(body, place.path) : undefined
  return next === null || next === false || next === ''
}

function positionAfter(
  paging: PagingProfile,
  position: string | null,
  answer: PageAnswer,
  size: number | undefined,
): string | null {
  switch (paging.kind) {
    case 'none':
      return null
    case 'page':
      return nextPage(paging, Number(position ?? paging.start), answer, size)
    // Counts the received records and not the requested ones, because some upstreams send fewer.
    case 'offset': {
      const at = Number(position ?? paging.start)
      const next = at + answer.records.length
      return isPastTotal(paging, at - paging.start, next - paging.start, answer) ? null : String(next)
    }
    case 'range':
      return nextRange(position, answer, Math.min(size ?? paging.size_max, paging.size_max))
    case 'cursor':
      return nextCursor(paging, answer)
    case 'next_url':
      return linkAfter(readPath(answer.body, paging.next), { path: paging.next }, answer.url)
    case 'link':
      return linkAfter(linkNext(answer.headers.link), { header: 'Link' }, answer.url)
    case 'last_id':
      return lastId(paging, answer)
  }
}

/** Null if it is not plausible: an upstream that has not counted may write 0 beside records. */
export function readTotal(place: Place | undefined, answer: PageAnswer): number | null {
  if (place === undefined) return null
  const value = valueAt(place, answer)
  // In a header, the number after the slash is the total: `Content-Range: items 0-24/319`.
  const total = toCount('path' in place ? value : String(value ?? '').replace(/^.*\//, ''))
  return total === 0 && answer.records.length > 0 ? null : total
}

function valueAt(place: Place, { body, headers }: Pick<PageAnswer, 'body' | 'headers'>): unknown {
  return 'path' in place ? readPath(body, place.path) : headers[place.header.toLowerCase()]
}

function toCount(value: unknown): number | null {
  const number = toNumber(value)
  return Number.isInteger(number) && !isOutside(number, COUNT) ? number : null
}

/** Returns the URL of the link with rel="next" in a Link header (RFC 8288); null if there is none. */
export function linkNext(header: string | string[] | undefined): string | null {
  const links = [header ?? []].flat().join(',')
  for (const [, address, parameters] of links.matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (
      /;\s*rel\s*=\s*("([^"]*\s)?next(\s[^"]*)?"|'([^']*\s)?next(\s[^']*)?'|next(?![\w-]))/i.test(
        parameters ?? '',
      )
    )
      return address ?? null
  }
  return null
}

function nextPage(
  paging: Extract<PagingProfile, { kind: 'page' }>,
  page: number,
  answer: PageAnswer,
  size: number = paging.size_max,
): string | null {
  const read = page - paging.start + 1
  // The first page may have been cut. Further pages are asked for in the size of the first, see `readAhead`.
  const asked = read > 1 && paging.size_param ? Math.min(size, paging.size_max) : 0
  const rows = asked || answer.records.length
  return isPastTotal(paging, (read - 1) * rows, read * rows, answer) ? null : String(page + 1)
}

/**
 * Returns whether the total says that the list ends with this page. A total that this page begins behind is wrong.
 * @param before the number of records before the page
 * @param read the number of records up to its end
 */
function isPastTotal(
  paging: { stop_at_total: boolean; total?: Place | undefined },
  before: number,
  read: number,
  answer: PageAnswer,
): boolean {
  const total = paging.stop_at_total ? readTotal(paging.total, answer) : null
  return total !== null && before < total && read >= total
}

/** An answer that ignored the range says none, and has another number of records than were asked for. */
export function ignoresRange(
  paging: PagingProfile,
  { status, headers }: { readonly status: number; readonly headers: IncomingHttpHeaders },
  rows: number,
  size: number,
): boolean {
  const isPart = status === 206 || headers['content-range'] !== undefined
  return paging.kind === 'range' && !isPart && rows > 0 && rows !== Math.min(size, paging.size_max)
}

/**
 * Returns where the next range begins. The total of Content-Range may be an estimate or that of the page alone, so it
 * ends no list behind a full page.
 * @param size the number of records that were asked for
 */
function nextRange(position: string | null, answer: PageAnswer, size: number): string | null {
  const [, last, total] =
    /(?<!\d)(\d+)\/(\d+|\*)\s*$/.exec(String(answer.headers['content-range'] ?? '')) ?? []
  const next = last === undefined ? Number(position ?? 0) + answer.records.length : Number(last) + 1
  const isFull = answer.records.length === size
  return total !== undefined && total !== '*' && next >= Number(total) && !isFull ? null : String(next)
}

/**
 * Returns the id of the last record on the page.
 * @throws LeadsheetError api_unexpected if that record has no id, because the next page is then unknown and
 * the list must not pass as ended
 */
function lastId(paging: Extract<PagingProfile, { kind: 'last_id' }>, answer: PageAnswer): string {
  const id = tokenOf(readPath(answer.records.at(-1)?.value, paging.id))
  if (id !== null) return id
  throw new LeadsheetError(
    'api_unexpected',
    `The last record of a page of ${answer.url.origin}${answer.url.pathname} has nothing at ${pathText(paging.id)}, behind which the next page begins`,
    { hint: 'Correct paging.id in the profile, or look at the upstream.' },
  )
}

function nextCursor({ next, end }: Extract<PagingProfile, { kind: 'cursor' }>, answer: PageAnswer) {
  const value = valueAt(next, answer)
  // A text that begins like such a position is sent back as JSON too, so that it stays the text that it was.
  const isOurs = isFilledObject(value) || String(value).startsWith(JSON_CURSOR)
  const isJson = answer.takesJson === true && isOurs
  return isJson ? JSON_CURSOR + JSON.stringify(value) : nextOf(value, next, answer.url, end)
}

/** A missing value, null, false and "" mean that there is no next page. */
function tokenOf(value: unknown): string | null {
  return (typeof value === 'string' && value !== '') || Number.isFinite(value) ? String(value) : null
}

/** The values that name no next page unless the profile lists others: nothing can follow at the beginning. */
export const NO_NEXT = /^(0|-1|null|undefined|none|nil|#|)$/i

/**
 * Returns the cursor or link of the next page. JSON:API may write a link as an object with `href`.
 * @throws LeadsheetError api_unexpected for a value that is there and cannot be sent back, because the list must not
 * pass as ended
 */
function nextOf(value: unknown, place: Place, url: URL, end?: readonly (string | number)[]): string | null {
  if (typeof value === 'object' && value !== null && 'href' in value)
    return nextOf(value.href, place, url, end)
  const isObject = isFilledObject(value)
  if (isObject || value === true) {
    const at = 'path' in place ? pathText(place.path) : place.header
    throw unexpected(
      url,
      `has ${isObject ? 'an object or a list' : 'true'} at ${at}, where the next page is named: neither text nor a number`,
      'Let paging.next of the profile name the text or the number of the next page.',
    )
  }
  const token = tokenOf(value)
  const isEnd = end === undefined ? NO_NEXT.test(token ?? '') : end.some((each) => String(each) === token)
  return isEnd ? null : token
}

function linkAfter(value: unknown, place: Place, url: URL): string | null {
  const next = nextOf(value, place, url)
  return next === null ? null : linkedFrom(url, next).href
}

function isNo(value: unknown): boolean {
  return /^(false|no|n|0)$/i.test(String(value))
}

/**
 * Returns the URL of a link, with its query as it stands; null for another host or port, because the API key
 * would be sent there. A service behind a proxy writes the links that it sees itself: with `http:`, without the
 * port, or without the beginning of the path that the proxy cuts off. So such a link keeps the scheme, the port
 * and that beginning of `from`.
 */
export function resolveLink(from: URL, link: string): URL | null {
  const to = URL.parse(link, from.href)
  if (to?.hostname !== from.hostname || !/^https?:$/.test(to.protocol)) return null
  if (to.port !== '' && to.port !== from.port) return null
  const url = new URL(from.origin)
  url.pathname = from.pathname.endsWith(to.pathname) ? from.pathname : to.pathname
  url.search = to.search
  return url
}

function linkedFrom(from: URL, link: string): URL {
  const url = resolveLink(from, link)
  if (url !== null) return url
  const there = URL.parse(link, from.href)?.origin ?? 'what is no address'
  throw new LeadsheetError(
    'api_unexpected',
    `${from.origin} says that its next page is at ${there}, which is not followed since the API key would go along`,
    { hint: 'If both are the same service, set api.url to the one that the links name.' },
  )
}

/** The filters of the lead list. Times are written as in RFC 3339. */
export interface LeadFilters {
  readonly pipelineId?: string | undefined
  readonly status?: readonly string[] | undefined
  readonly updatedSince?: Instant | undefined
  readonly createdSince?: Instant | undefined
  readonly minScore?: number | undefined
  readonly q?: string | undefined
  /** The order in which the leads are listed. It replaces the order that the profile names. */
  readonly sort?: string | undefined
}

/** A parameter of the lead list. A repeatable one has several values, such as statuses. */
interface ListParameter {
  readonly name: string
  /** A text, or JSON for the body of a request. */
  readonly values: readonly unknown[]
  readonly in: TimeFilter['in']
  readonly isRepeatable: boolean
}

/**
 * Returns the parameters that sort and filter the list.
 * @throws LeadsheetError usage_invalid for a filter that the upstream does not have
 */
export function filterParameters(
  profile: Pick<Profile, 'sort' | 'filters'>,
  filters: LeadFilters,
): ListParameter[] {
  const single = (name: string, value: unknown, where: TimeFilter['in'] = 'query'): ListParameter => ({
    name,
    values: [value],
    in: where,
    isRepeatable: false,
  })
  const sorted = Object.entries(profile.sort).map(([name, value]) => single(name, filters.sort ?? value))
  const times = { updated_since: filters.updatedSince, created_since: filters.createdSince }
  const timed = (['updated_since', 'created_since'] as const).flatMap((name) => {
    const instant = times[name]
    if (instant === undefined) return []
    const filter = profile.filters[name] ?? throwNoFilter(name)
    return single(filter.param, fillTime(filter.value, instant, filter.format), filter.in)
  })
  const { status = [], pipelineId: pipeline, minScore: min_score, q } = filters
  const given = { status, pipeline, min_score, q }
  const others = (['status', 'pipeline', 'min_score', 'q'] as const).flatMap((name): ListParameter[] => {
    const values = [given[name] ?? []].flat().map(String)
    if (values.length === 0) return []
    return [{ name: profile.filters[name] ?? throwNoFilter(name), values, in: 'query', isRepeatable: true }]
  })
  return [...sorted, ...timed, ...others]
}

/** Writes a time into the template of a filter. In JSON, a text that is nothing but an epoch becomes a number. */
export function fillTime(template: unknown, instant: Instant, format: TimeFilter['format']): unknown {
  const time = formatTime(instant, format)
  const fill = (part: unknown): unknown => {
    if (typeof part === 'string')
      return part === '{value}' && format.startsWith('epoch')
        ? Number(time)
        : part.replaceAll('{value}', time)
    if (Array.isArray(part)) return part.map(fill)
    if (typeof part !== 'object' || part === null) return part
    const filled = Object.entries(part).map(([name, inner]) => [
      name.replaceAll('{value}', time),
      fill(inner),
    ])
    return Object.fromEntries(filled)
  }
  return fill(template)
}

/** Digits for which the format has no place are cut off: an earlier time misses no record. */
export function formatTime(instant: Instant, format: TimeFilter['format']): string {
  switch (format) {
    case 'iso':
      return instant
    case 'iso_seconds':
      return `${instant.slice(0, 19)}Z`
    case 'datetime':
      return instant.slice(0, 19).replace('T', ' ')
    case 'date':
      return instant.slice(0, 10)
    case 'epoch_s':
      return String(Math.floor(Date.parse(instant) / 1000))
    case 'epoch_ms':
      return String(Date.parse(instant))
  }
}

function throwNoFilter(name: string): never {
  throw new LeadsheetError(
    'usage_invalid',
    `This upstream has no filter for ${name} (filters.${name} of its profile is not set)`,
    { hint: 'Leave the filter out, or name its parameter in the profile.' },
  )
}
