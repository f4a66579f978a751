/**
 * Finds out how to get the second page of the list. Kinds of paging that stay correct while records change
 * are tried first. A kind is proved if its second page shares no record with the first.
 */
import type { z } from 'zod'
import { linkNext, resolveLink } from '../upstream/paging/paging.ts'
import type { pagingSchema } from '../upstream/profile/profile.ts'
import { pathText } from '../upstream/values/json.ts'
import type { Asker, Budget, Effect, Headers, List, Page, Params } from './ask.ts'
import { clashes, findEffective, isDisjoint, namesFor, pageOf, readPage } from './ask.ts'
import {
  CURSOR_PARAMS,
  CURSOR_PARAMS_IN_BRACKETS,
  LAST_ID_PARAMS,
  LAST_ID_PARAMS_IN_BRACKETS,
  POSITION_PARAMS,
  POSITION_PARAMS_IN_BRACKETS,
  SIZE_PARAMS,
  SIZE_PARAMS_IN_BRACKETS,
} from './candidates.ts'
import type { PageSize } from './list-parameters.ts'
import { hasMorePath, nextCursors, nextUrls, paramsWith, placeInput, placeText } from './page-signals.ts'

const TRIES = 10
/** Once the whole probe has sent this many requests, no further kind of parameter is tried. */
const QUESTIONS_MAX = 60

export type PagingInput = z.input<typeof pagingSchema>

export interface NextPage {
  readonly paging: PagingInput
  readonly second: Page
  readonly evidence: string
}

export interface Trial {
  readonly asker: Asker
  readonly list: List
  /** The answer to a request without parameters. It shows the order of the first records. */
  readonly first: Page
  readonly size: PageSize
}

export async function findNextPage(trial: Trial): Promise<NextPage | null> {
  const isPromised = hasMorePath(trial.size.small) !== null
  // Where each name costs a request, the number of the next page is not taken for a cursor first.
  const isNumber = /^\d{1,4}$/.test(nextCursors(trial.size.small)[0]?.token ?? '')
  const kinds = isPromised
    ? [byLink, byNextUrl, byToken, byShortLink, byLastId, byPosition, byRange]
    : trial.list.isStrict && isNumber
      ? [byLink, byNextUrl, byPosition, byToken, byShortLink, byRange, byLastId]
      : [byLink, byNextUrl, byToken, byShortLink, byPosition, byRange, byLastId]
  for (const kind of kinds) {
    const found = await kind(trial)
    if (found !== null) return found
  }
  return null
}

async function byLink({ asker, list, size }: Trial, isAnyLink = false): Promise<NextPage | null> {
  const { small } = size
  const next = linkNext(small.reply.headers.link)
  const second =
    next !== null && (isAnyLink || keepsSize(next, size)) ? await follow(asker, list, next, small) : null
  return (
    second && { paging: { kind: 'link' }, second, evidence: `Link: <${shortUrl(next ?? '')}>; rel="next"` }
  )
}

async function byNextUrl({ asker, list, size }: Trial, isAnyLink = false): Promise<NextPage | null> {
  const { small } = size
  for (const { path, token } of nextUrls(small)) {
    if (!isAnyLink && !keepsSize(token, size)) continue
    const second = await follow(asker, list, token, small)
    if (second === null) continue
    return {
      paging: { kind: 'next_url', next: pathText(path) },
      second,
      evidence: `${pathText(path)}: ${shortUrl(token)}`,
    }
  }
  return null
}

/** A link would also drop a filter, so it is tried only after cursors. */
async function byShortLink(trial: Trial): Promise<NextPage | null> {
  return (await byLink(trial, true)) ?? (await byNextUrl(trial, true))
}

function keepsSize(next: string, { param, small }: PageSize): boolean {
  return param === null || URL.parse(next, small.reply.url.href)?.searchParams.has(param) === true
}

async function byToken(trial: Trial): Promise<NextPage | null> {
  const { small } = trial.size
  for (const { place, token } of nextCursors(small).slice(0, 3)) {
    const names =
      'path' in place ? [place.path.at(-1) ?? '', place.path.slice(-2).join('_')] : [bareName(place.header)]
    const derived = [...paramsWith(small, token), ...names.flatMap(namesFrom)]
    const found =
      (await findParam(trial, [...new Set(derived)], token)) ??
      (await findParam(
        trial,
        CURSOR_PARAMS.filter((name) => !derived.includes(name)),
        token,
      )) ??
      (await findParam(trial, namesFor(trial.list, CURSOR_PARAMS_IN_BRACKETS), token))
    if (found === null) continue
    const evidence = `${placeText(place)}: ${JSON.stringify(token).slice(0, 40)}, sent as ${found.param}`
    return {
      paging: { kind: 'cursor', param: found.param, next: placeInput(place) },
      second: found.second,
      evidence,
    }
  }
  return null
}

async function byLastId(trial: Trial): Promise<NextPage | null> {
  const { list } = trial
  const { small } = trial.size
  const last = small.ids.at(-1)
  if (last === undefined) return null
  const found =
    (await findParam(trial, LAST_ID_PARAMS, last)) ??
    (await findParam(trial, namesFor(list, LAST_ID_PARAMS_IN_BRACKETS), last))
  if (found === null) return null
  const evidence = `the id of the last record, sent as ${found.param}`
  return {
    paging: { kind: 'last_id', param: found.param, id: pathText(trial.list.id) },
    second: found.second,
    evidence,
  }
}

async function byPosition(trial: Trial): Promise<NextPage | null> {
  const { param: sizeParam, small } = trial.size
  const pairs = Object.entries({ ...SIZE_PARAMS, ...SIZE_PARAMS_IN_BRACKETS })
  const [, beside = []] = pairs.find(([name]) => namesFor(trial.list, [name])[0] === sizeParam) ?? []
  const paired = namesFor(trial.list, beside)
  const moves = async (some: readonly string[]): Promise<Effect> => {
    const page = await readAt(trial, Object.fromEntries(some.map((name) => [name, '2'])))
    if (page === null || page.ids.length === 0) return 'refused'
    return page.ids[0] !== small.ids[0] ? 'effect' : 'none'
  }
  const groups = [
    ...paired.map((name) => [name]),
    POSITION_PARAMS.filter((name) => !paired.includes(name)),
    namesFor(trial.list, POSITION_PARAMS_IN_BRACKETS),
  ]
  for (const group of groups) {
    const param = await findEffective(besideSize(trial, group), moves, budgetOf(trial), trial.list.isStrict)
    const found =
      param === null
        ? null
        : await positionOf(small, trial.first, (value) => readAt(trial, { [param]: String(value) }))
    if (param === null || found === null) continue
    const { kind, start, second } = found
    return {
      paging: { kind, param, start },
      second,
      evidence: `${param}=${found.value} gives the records ${kind === 'page' ? 'of the second page' : 'from that place on'}`,
    }
  }
  return null
}

async function byRange({ asker, list, first }: Trial): Promise<NextPage | null> {
  const headers = `${first.reply.headers['accept-ranges'] ?? ''} ${first.reply.headers['content-range'] ?? ''}`
  const unit = /^\s*([a-z]+)\b/i.exec(headers.replace(/\b(bytes|none)\b/gi, ''))?.[1] ?? 'items'
  const range = (from: number, to: number): Headers => ({ range: `${unit}=${from}-${to}` })
  const start = await readPage(asker, list, {}, range(0, 2))
  if (start === null || start.ids.length !== 3 || first.ids.length <= 3) return null
  const second = await readPage(asker, list, {}, range(3, 5))
  if (second === null || !isDisjoint(second, start.ids)) return null
  const evidence = `Content-Range: ${second.reply.headers['content-range'] ?? 'none'}`
  return { paging: { kind: 'range', unit }, second, evidence }
}

/** Finds a parameter that, with the token as its value, leads to the next page. */
async function findParam(
  trial: Trial,
  params: readonly string[],
  token: string,
): Promise<{ param: string; second: Page } | null> {
  const { small } = trial.size
  const test = async (some: readonly string[]): Promise<Effect> => {
    const page = await readAt(trial, Object.fromEntries(some.map((name) => [name, token])))
    if (page === null) return 'refused'
    return isDisjoint(page, small.ids) && comesAfter(page, trial) ? 'effect' : 'none'
  }
  const param = await findEffective(besideSize(trial, params), test, budgetOf(trial), trial.list.isStrict)
  const second = param === null ? null : await readAt(trial, { [param]: token })
  return param === null || second === null ? null : { param, second }
}

/** True if `first` does not show which record comes next. */
function comesAfter(page: Page, { first, size: { small } }: Trial): boolean {
  const expected = first.ids[0] === small.ids[0] ? first.ids[small.ids.length] : undefined
  return expected === undefined || page.ids[0] === expected
}

function readAt({ asker, list, size }: Trial, position: Params): Promise<Page | null> {
  const wanted = size.param === null ? {} : { [size.param]: String(size.small.ids.length) }
  return readPage(asker, list, { ...size.along, ...wanted, ...position })
}

function besideSize({ size }: Trial, params: readonly string[]): string[] {
  const along = [size.param ?? '', ...Object.keys(size.along)]
  return params.filter((name) => !along.some((other) => clashes(name, other)))
}

function budgetOf({ asker }: Trial): Budget {
  return { left: Math.min(TRIES, asker.left(QUESTIONS_MAX)) }
}

/** Follows a link, but never to another origin, because the API key would be sent there. */
async function follow(asker: Asker, list: List, next: string, from: Page): Promise<Page | null> {
  const url = resolveLink(from.reply.url, next)
  if (url === null) return null
  const page = pageOf(await asker.ask({ ...from.reply.question, url }), list)
  return page !== null && isDisjoint(page, from.ids) ? page : null
}

/**
 * `next_cursor` -> `cursor`; `nextPageToken` -> `pageToken`, `page_token`; `cursor_next` -> `cursor`,
 * `_cursor`.
 */
function namesFrom(name: string): string[] {
  const bare = name.replace(/^_*next[_-]?|[_-]?next$|^end(?=C)/gi, '')
  const lower = bare.charAt(0).toLowerCase() + bare.slice(1)
  const snake = lower.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return [lower, snake, `_${lower}`, name].filter((each) => each.replace(/_/g, '') !== '')
}

/** Turns the name of a header into the name of a field: `X-Next-Cursor` becomes `next_cursor`. */
function bareName(header: string): string {
  return header.toLowerCase().replace(/^x-/, '').replaceAll('-', '_')
}

function shortUrl(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

// Finds out whether a parameter counts pages or records, and whether from 0 or from 1.

interface Reading {
  readonly kind: 'page' | 'offset'
  readonly start: number
  /** The index of a page's first record in the whole list; `value` is the page's number or offset. */
  readonly begins: (value: number, size: number) => number
}

const READINGS: readonly Reading[] = [
  { kind: 'page', start: 1, begins: (value, size) => (value - 1) * size },
  { kind: 'page', start: 0, begins: (value, size) => value * size },
  { kind: 'offset', start: 0, begins: (value) => value },
  { kind: 'offset', start: 1, begins: (value) => value - 1 },
]

/** The values to try. The answers to them show which of the four `READINGS` applies. */
const VALUES = [2, 1, 3] as const

/**
 * Finds out whether a parameter counts pages or records, and from which number.
 * @param first a page at least as large as `small`, which shows the order of the first records
 * @param read fetches the page for a value of the parameter, with the page size of `small`
 * @returns null if the parameter counts neither pages nor records
 */
export async function positionOf(small: Page, first: Page, read: (value: number) => Promise<Page | null>) {
  const size = small.ids.length
  const known = first.ids[0] === small.ids[0] && first.ids.length > size ? first.ids : small.ids
  let left = READINGS
  for (const value of VALUES) {
    const page = await read(value)
    left = left.filter((reading) => fits(page, reading.begins(value, size), known))
    if (left.length <= 1) break
  }
  const [reading] = left
  if (reading === undefined) return null
  const value = reading.kind === 'page' ? reading.start + 1 : reading.start + size
  const second = await read(value)
  return second && isDisjoint(second, small.ids)
    ? { kind: reading.kind, start: reading.start, second, value }
    : null
}

/** If the record at `place` is unknown, the page must not have any known record. */
function fits(page: Page | null, place: number, known: readonly string[]): boolean {
  const expected = known[place]
  if (page === null) return false
  return expected === undefined ? isDisjoint(page, known) : page.ids[0] === expected
}
