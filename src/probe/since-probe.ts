/**
 * Finds the parameter that lists only leads changed since a time. Because servers ignore unknown parameters,
 * the effect must be proved. A time far in the future must give no record. A time between the times of known
 * records must give exactly the later records.
 */
import { isDeepStrictEqual } from 'node:util'
import { fillTime, formatTime } from '../upstream/paging/paging.ts'
import type { TimeFilter } from '../upstream/profile/profile.ts'
import type { FieldPath } from '../upstream/values/json.ts'
import { readPath } from '../upstream/values/json.ts'
import { toInstant } from '../upstream/values/scalar.ts'
import type { Asker, Budget, Effect, Finding, Headers, List, Page, Params } from './ask.ts'
import { apart, evidenceOf, findEffective, finding, readPage } from './ask.ts'
import {
  SINCE_BODIES,
  SINCE_BOTH,
  SINCE_EXPRESSIONS,
  SINCE_FAMILIES,
  SINCE_PARAMS,
  SINCE_PARAMS_IN_BRACKETS,
  type SinceBody,
} from './candidates.ts'

const FAR_FUTURE = '2150-01-01T00:00:00.000Z'
/** A time of the past also if its milliseconds are read as seconds. */
const FAR_PAST = '1970-01-02T00:00:00.000Z'
/** The number of requests for filters, and of all requests after which no filter is tried any more. */
const BUDGET = 24
const QUESTIONS_MAX = 60
const ROUND_BUDGET = 10
/** A filter is proved with a time after which this share of the known records changed. */
const SHARE_AFTER = 0.2

export interface SinceSearch {
  readonly asker: Asker
  readonly list: List
  /** The parameters with which the largest page was requested. */
  readonly params: Params
  readonly headers: Headers
  readonly updated: FieldPath
  readonly created: FieldPath | null
  /** The number of records on the largest page without a filter. */
  readonly pageSize: number
  readonly records: readonly unknown[]
}

type Guess = Pick<TimeFilter, 'param' | 'value' | 'in'>

export async function findSince(
  search: SinceSearch,
): Promise<{ filter: TimeFilter; finding: Finding } | null> {
  const between = timeBetween(search)
  if (between === null) return null
  const budget: Budget = { left: Math.min(BUDGET, search.asker.left(QUESTIONS_MAX)) }
  let idle: readonly string[] | null = search.list.body === undefined ? null : []
  for (const [guesses, format] of roundsOf(search)) {
    if (idle === null && guesses[0]?.value !== '{value}') idle = await findIdle(search, guesses, budget)
    let left = guesses.filter(({ param }) => idle?.includes(param) !== true)
    // If the parameter has another effect, such as created-since, it is dropped and the search goes on.
    for (let tries = 0; tries < 3 && left.length > 0; tries++) {
      const round: Budget = { left: Math.min(budget.left, ROUND_BUDGET) }
      const before = round.left
      const found = await findEffective(
        left,
        (some) => emptiesList(search, some, format),
        round,
        search.list.isStrict,
      )
      budget.left -= before - round.left
      if (found === null) break
      for (const each of format === 'epoch_ms' ? (['epoch_ms', 'epoch_s'] as const) : [format]) {
        const filter: TimeFilter = { ...found, format: each }
        const finding = await proveSince(search, filter, between)
        if (finding !== null) return { filter, finding }
      }
      left = left.filter((each) => each !== found)
    }
  }
  return null
}

/** Returns a time that is later than most of the records but not all; null if there is none. */
function timeBetween(search: SinceSearch): string | null {
  const times = search.records
    .map((record) => timeOf(search, record))
    .filter((time) => time !== '')
    .sort()
  const at = times[Math.floor(times.length * (1 - SHARE_AFTER))]
  return at === undefined || at === times[0] ? null : at
}

/** Returns when a record last changed. Some upstreams give no such time before the first change. */
function timeOf({ updated, created }: SinceSearch, record: unknown): string {
  return toInstant(readPath(record, updated)) ?? (created && toInstant(readPath(record, created))) ?? ''
}

export function isUndated(record: unknown, updated: FieldPath): boolean {
  return toInstant(readPath(record, updated)) === null
}

/** Expressions with an unknown field, as text and as JSON. An upstream that reads them refuses them or finds nothing. */
const NONSENSE = ['leadsheet', '{"where":{"leadsheet":"-"},"leadsheet":{"_eq":"-"}}']

/** Returns the parameters of expressions that this upstream does not read, because nonsense in them changes nothing. */
async function findIdle(
  { asker, list, params, headers, pageSize }: SinceSearch,
  guesses: readonly Guess[],
  budget: Budget,
): Promise<string[]> {
  // A search by words finds something or nothing by chance, and the address may need what it has.
  const tried = guesses
    .map(({ param }) => param)
    .filter((param) => !/^(q|query)$/.test(param) && !list.url.searchParams.has(param))
  for (const value of NONSENSE) {
    budget.left--
    const nonsense = Object.fromEntries(tried.map((param) => [param, value]))
    const page = await readPage(asker, list, { ...params, ...nonsense }, headers)
    if (page === null || page.ids.length * 2 <= pageSize) return []
  }
  return tried
}

/** A page without records may have many reasons, so that a single parameter must also give some again. */
async function emptiesList(
  search: SinceSearch,
  guesses: readonly Guess[],
  format: TimeFilter['format'],
): Promise<Effect> {
  const page = await ask(search, guesses, format, FAR_FUTURE)
  if (page === null) return 'refused'
  if (page.ids.length > 0) return 'none'
  if (guesses.length > 1) return 'effect'
  // With a time in the far past, the filter must give records again. A filter for one exact time would give
  // none.
  const past = await ask(search, guesses, format, FAR_PAST)
  return past !== null && past.ids.length > 0 ? 'effect' : 'refused'
}

/** It must give all known records later than `between`, and no earlier one. Null if the proof fails. */
async function proveSince(search: SinceSearch, filter: TimeFilter, between: string): Promise<Finding | null> {
  const page = await ask(search, [filter], filter.format, between)
  if (page === null || page.ids.length === 0) return null
  const first = formatTime(between, filter.format) === between ? between : dayOf(between, filter.format)
  if (page.records.some((record) => timeOf(search, record) < first)) return null
  const given = new Set(page.ids)
  const expected = search.records.filter((record) => timeOf(search, record) > between)
  const missing = expected.filter((record) => !given.has(String(readPath(record, search.list.id))))
  const undated = (each: unknown): boolean => isUndated(each, search.updated)
  if (missing.some(undated) && !page.records.some(undated)) return null
  // A full page may lack known records, because they may be on the next page. In that case, at least one
  // record of the page must have been created before `between`. Otherwise the filter may use the time of
  // creation, and would then miss changes of old records.
  const { created } = search
  const isOlder = (record: unknown): boolean =>
    created !== null && (toInstant(readPath(record, created)) ?? first) < first
  if (missing.length > 0 && (page.ids.length < search.pageSize || !page.records.some(isOlder))) return null
  const evidence = `${evidenceOf(page.reply, `${page.ids.length} records, all at or after it`)}; none with a time in ${FAR_FUTURE.slice(0, 4)}`
  return finding('filters.updated_since', filterText(filter, search.list), 'proved', evidence)
}

async function ask(
  { asker, list, params, headers }: SinceSearch,
  guesses: readonly Guess[],
  format: TimeFilter['format'],
  instant: string,
): Promise<Page | null> {
  const put = (where: Guess['in']): [string, unknown][] =>
    guesses
      .filter((each) => each.in === where)
      .map(({ param, value }) => [param, fillTime(value, instant, format)])
  const inHeader = put('header').map(([name, value]) => [name, String(value)])
  const asked = { ...params, ...Object.fromEntries(put('query')) }
  return readPage(asker, list, asked, { ...headers, ...Object.fromEntries(inHeader) })
}

type Round = readonly [guesses: readonly Guess[], format: TimeFilter['format']]

/**
 * Returns the rounds of trials, the likeliest first. The first rounds use the time format of the records: for
 * names that resemble the paging parameters, plain names, names in brackets, and expressions. The header
 * If-Modified-Since and other time formats follow. No round has the same parameter twice.
 */
function roundsOf(search: SinceSearch): Round[] {
  const field = search.updated.at(-1) ?? ''
  const created = search.created?.at(-1) ?? ''
  if (search.list.body !== undefined) return roundsByPost(search, field)
  const withField = (text: string): string =>
    text.replaceAll('{field}', field).replaceAll('{created}', created)
  const both =
    search.records.some((each) => isUndated(each, search.updated)) && created !== '' ? SINCE_BOTH : []
  const named = (names: readonly string[]): Guess[] => [...new Set(names.map(withField))].map(guess)
  const plain = named(SINCE_PARAMS)
  const bracketed = named(SINCE_PARAMS_IN_BRACKETS)
  const expressions = [...both, ...SINCE_EXPRESSIONS].map(
    ({ param, value }): Guess => ({ param: withField(param), value: withField(value), in: 'query' }),
  )
  const paging = Object.keys(search.params)
  const family = SINCE_FAMILIES.find((each) => paging.some((name) => each.paging.test(name)))
  const isAlike = ({ param }: Guess): boolean => family?.since.test(param) ?? false
  const unlike = (guesses: readonly Guess[]): Guess[] => guesses.filter((each) => !isAlike(each))
  const [own = 'iso', ...others] = formatsFor(search)
  const inFormat = (guesses: readonly Guess[], format: TimeFilter['format']): Round[] =>
    apart(guesses, ({ param }) => param).map((each) => [each, format] as const)
  const rounds: Round[] = [
    ...inFormat([...plain, ...bracketed, ...expressions].filter(isAlike), own),
    ...[[...plain, ...bracketed], expressions].flatMap((each) => inFormat(unlike(each), own)),
    [[{ ...guess('If-Modified-Since'), in: 'header' }], 'iso_seconds'],
    ...others.flatMap((format) => inFormat(plain, format)),
  ]
  return rounds.map(([guesses, format]) => [
    guesses.flatMap((each) => besideAddress(each, search.list.url)),
    format,
  ])
}

/** Returns the rounds for a list by POST: the filters of well-known searches one by one, and then plain names. */
function roundsByPost(search: SinceSearch, field: string): Round[] {
  const [own = 'iso'] = formatsFor(search)
  const bodies = bodiesFor(field).map(({ param, value = '{value}', format }): Round => {
    return [[{ param, value, in: 'query' }], format ?? own]
  })
  const plain = SINCE_PARAMS.map((name) => guess(name.replaceAll('{field}', field)))
  return [...bodies, ...apart(plain, ({ param }) => param).map((each) => [each, own] as const)]
}

function bodiesFor(field: string): SinceBody[] {
  return JSON.parse(JSON.stringify(SINCE_BODIES).replaceAll('{field}', field))
}

interface SearchOrder {
  /** The part of the body that sorts the list by the time of change. */
  readonly body: Readonly<Record<string, unknown>>
  /** The number of records after which such a search ends; null if it is not known. */
  readonly records: number | null
  readonly findings: readonly Finding[]
}

/** Finds what sorts a list by POST in the order of change; the form of its filter tells how. */
export async function findSearchOrder(search: SinceSearch, filter: TimeFilter): Promise<SearchOrder | null> {
  const field = search.updated.at(-1) ?? ''
  const { order, records = null } =
    bodiesFor(field).find(
      ({ param, value = '{value}' }) => param === filter.param && isDeepStrictEqual(value, filter.value),
    ) ?? {}
  if (order === undefined) return null
  const page = await readPage(search.asker, search.list, { ...search.params, ...order })
  const times = page?.records.map((record) => timeOf(search, record)) ?? []
  const isRising = times.every((time, index) => time >= (times[index - 1] ?? ''))
  if (page === null || !isRising || new Set(times).size < 2) return null
  const evidence = evidenceOf(page.reply, 'oldest change first')
  const findings = [finding('request.body', 'in the order of change', 'proved', evidence)]
  if (records !== null) {
    const why = 'by the documentation of such a search, it ends there; the list is read by the time of change'
    findings.push(finding('limits.search_records', String(records), 'likely', why))
  }
  return { body: order, records, findings }
}

/** A guess that would overwrite the address's own value for the parameter is left out. */
function besideAddress(guess: Guess, { searchParams }: URL): Guess[] {
  const fixed = guess.in === 'query' ? searchParams.get(guess.param) : null
  if (fixed === null) return [guess]
  const { value } = guess
  const isExpression = typeof value === 'string' && value.includes(' ') && !value.startsWith('{"')
  return isExpression ? [{ ...guess, value: `(${fixed}) and (${value})` }] : []
}

/**
 * Returns the time formats to try. The format that the records themselves use comes first. A number of milliseconds
 * stands for one of seconds too.
 */
function formatsFor({ records, updated }: SinceSearch): TimeFilter['format'][] {
  const value = records
    .map((record) => readPath(record, updated))
    .find((each) => each !== null && each !== undefined)
  if (typeof value === 'number') return ['epoch_ms', 'iso']
  const text = typeof value === 'string' ? value : ''
  const own: TimeFilter['format'] = /^\d{4}-\d\d-\d\d$/.test(text)
    ? 'date'
    : /^\d{4}-\d\d-\d\d \d\d:\d\d/.test(text)
      ? 'datetime'
      : /:\d\d(Z|[+-]\d\d:?\d\d)$/.test(text)
        ? 'iso_seconds'
        : 'iso'
  return [...new Set([own, 'iso', 'epoch_ms', 'iso_seconds', 'date'] as const)]
}

/** Rounds an instant down to the day or second, as the filter's format does. */
function dayOf(instant: string, format: TimeFilter['format']): string {
  return format === 'date' ? `${instant.slice(0, 10)}T00:00:00.000Z` : `${instant.slice(0, 19)}.000Z`
}

function guess(param: string): Guess {
  return { param, value: '{value}', in: 'query' }
}

function filterText({ param, value, format, in: where }: TimeFilter, { body }: List): string {
  const place = where === 'header' || body !== undefined ? `${param}: ` : `?${param}=`
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `${place}${text.replaceAll('{value}', `{${format}}`)}`
}
