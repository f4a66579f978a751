/**
 * Parses the upstream's JSON, reads values at paths, and finds the records in an answer of unknown format.
 */
import { z } from 'zod'

/** The digits are repeated because the engine is far slower with `\d{16}`. */
const SUSPECT = new RegExp(`${'\\d'.repeat(16)}|\\d[eE]\\+?\\d\\d\\d`)
/** Sixteen digits or a three-digit exponent may be more than a JavaScript number can hold. */
const LARGE = /(?<![^\s:,[-])\d(?:\d{15}|[\d.]*[eE]\+?\d{3})/
const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi
const WHOLE = /^(-?\d+)(?:\.0+)?$/
/** Matches a value that Python and JavaScript write although JSON has no such value, such as `:NaN`. */
const BARE = /([:,[]\s*)-?(?:nan|inf(?:inity)?|undefined)(?=\s*[,}\]])/gi
/** The number that stands for such a value. JSON.parse makes Infinity of it. */
const NO_NUMBER = '1e99999'

/**
 * Parses JSON like {@link parseStrictJson}, but a bare `NaN`, `Infinity` or `undefined` becomes Infinity, which
 * the mapping takes for no value.
 * @throws SyntaxError if the text is not JSON for another reason
 */
export function parseJson(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (thrown) {
    const mended = changeOutside(text, (outside) =>
      outside.replace(BARE, (_match, before: string) => before + NO_NUMBER),
    )
    if (mended === text) throw thrown
    return parseStrictJson(mended)
  }
}

/**
 * Parses JSON like JSON.parse, but whole numbers beyond 2^53 (`9007199254740993`, `9007199254740993.0`) and
 * numbers too large for JavaScript become text. A byte order mark is skipped. No recursion is used, so that
 * deep nesting cannot exhaust the stack.
 * @throws SyntaxError if the text is not JSON
 */
export function parseStrictJson(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  const value: unknown = JSON.parse(json)
  // Only valid JSON gets quotes around its large numbers. In the invalid `{12345678901234567890:1}`, the
  // quotes would hide the mistake.
  return SUSPECT.test(json) && LARGE.test(json) ? JSON.parse(changeOutside(json, quoteLarge)) : value
}

function quoteLarge(outside: string): string {
  return LARGE.test(outside) ? outside.replace(NUMBER, quoteIfAltered) : outside
}

function changeOutside(json: string, change: (outside: string) => string): string {
  const parts: string[] = []
  let at = 0
  while (at < json.length) {
    const open = json.indexOf('"', at)
    const outside = json.slice(at, open === -1 ? json.length : open)
    parts.push(change(outside))
    if (open === -1) break
    at = stringEnd(json, open)
    parts.push(json.slice(open, at))
  }
  return parts.join('')
}

function quoteIfAltered(digits: string): string {
  if (digits === NO_NUMBER) return digits
  const value = Number(digits)
  if (Number.isSafeInteger(value)) return digits
  const whole = WHOLE.exec(digits)?.[1]
  if (whole !== undefined) return `"${whole}"`
  return Number.isFinite(value) ? digits : `"${digits}"`
}

/** Returns the index after the closing quote. A quote after an odd number of backslashes is escaped. */
function stringEnd(json: string, open: number): number {
  for (let close = json.indexOf('"', open + 1); close !== -1; close = json.indexOf('"', close + 1)) {
    let backslashes = 0
    while (json[close - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return close + 1
  }
  return json.length
}

/*
 * The following functions find where values begin and end without parsing. Their results are right only for
 * valid JSON, so the caller must parse the pieces. The functions compare only the bytes of JSON's
 * punctuation. In UTF-8, no byte of another character equals one of these bytes.
 */

export const COMMA = 0x2c
export const OPEN_BRACE = 0x7b
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
const CLOSE_BRACE = 0x7d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const BYTE_ORDER_MARK = 0xef

/** Returns the index at which the value at a path begins; null if it is missing or inside a list. */
export function findValue(bytes: Buffer, path: FieldPath): number | null {
  let at = skipSpace(bytes, bytes[0] === BYTE_ORDER_MARK ? 3 : 0)
  for (const name of path) {
    const value = findMember(bytes, at, name)
    if (value === null) return null
    at = value
  }
  return at
}

/** Returns the index after the value. No recursion, so that deep nesting cannot exhaust the stack. */
export function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start]
  if (first === QUOTE) return endOfString(bytes, start)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfScalar(bytes, start)
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at) - 1
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at + 1
  }
  return bytes.length
}

export function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  return bytes.length
}

export function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while (isSpace(bytes[at])) at++
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Null if there is none, or if the name is written with escapes. */
function findMember(bytes: Buffer, open: number, name: string): number | null {
  if (bytes[open] !== OPEN_BRACE) return null
  for (let at = skipSpace(bytes, open + 1); bytes[at] === QUOTE; ) {
    const end = endOfString(bytes, at)
    const value = skipSpace(bytes, skipSpace(bytes, end) + 1)
    if (bytes.toString('utf8', at + 1, end - 1) === name) return value
    const comma = skipSpace(bytes, endOfValue(bytes, value))
    if (bytes[comma] !== COMMA) return null
    at = skipSpace(bytes, comma + 1)
  }
  return null
}

function endOfScalar(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && !isSpace(bytes[at]) && !isClosing(bytes[at])) at++
  return at
}

function isClosing(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET
}

export type FieldPath = readonly string[]

/**
 * The path of a value, written `paging.next.after` (a dot in a name as `\.`, or the name as `['@odata.nextLink']`)
 * or as a list of names. The empty path is the whole value. A number is an index in a list, also as
 * `contacts[0].email`. `links[rel=next].href` takes the first item of `links` whose `rel` is `next`.
 */
export const fieldPathSchema = z
  .union([z.string(), z.array(z.string().min(1))])
  .transform((path): FieldPath => (typeof path === 'string' ? splitPath(path) : path))

export function splitPath(text: string): FieldPath {
  if (text === '') return []
  return [...text.matchAll(/(?:\['([^']+)'\]|((?:\\.|[^.\\])*))(?:\.|$)/g)]
    .map(([, whole, name = '']) => whole ?? name.replace(/\\(.)/g, '$1'))
    .slice(0, text.endsWith('.') ? undefined : -1)
}

/** Writes a path as text, which `splitPath` reads back. */
export function pathText(path: FieldPath): string {
  return path.map((name) => name.replace(/[.\\]/g, '\\$&')).join('.')
}

/** Returns whether a value is an object or a list that has something in it. */
export function isFilledObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

/** Returns the value at a path; undefined if there is none. Inherited properties are ignored. */
export function readPath(value: unknown, path: FieldPath): unknown {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = Object.hasOwn(at, name) ? (at as Readonly<Record<string, unknown>>)[name] : findItem(at, name)
  }
  return at
}

/**
 * Finds an item of a list by its index, or by a field: `link[relation=next]` is the first item whose `relation`
 * is `next`.
 */
function findItem(group: object, name: string): unknown {
  if (!name.endsWith(']')) return undefined
  const [, list = '', field = '', wanted = ''] = /^(.+)\[(?:([^=[\]]+)=)?([^[\]]*)\]$/.exec(name) ?? []
  const items: unknown = Object.hasOwn(group, list) ? Reflect.get(group, list) : null
  if (!Array.isArray(items)) return undefined
  return field === ''
    ? items[Number(wanted || Number.NaN)]
    : items.find((item) => readPath(item, [field]) === wanted)
}

const DEPTH_MAX = 4
const LEAF_DEPTH_MAX = 5

const GOOD_NAMES =
  /^(data|items?|results?|records?|rows|entries|values?|list|content|objects|docs|hits|elements|leads?|contacts?|people|persons?|companies|deals|prospects|customers|members|users|issues)$/i
const BAD_NAMES =
  /^(included|errors?|warnings?|links?|meta|facets?|columns|fields|filters?|schema|aggregations?|messages?|breadcrumbs|sorts?)$/i
/** A list of errors is never one of records: some upstreams answer so with status 200. */
const ERROR_NAMES = /^(errors?|warnings?|faults?)$/i
const ID_NAMES = /^(_?id|uuid|guid|key|slug|objectid|sys_id)$|[_a-z]id$|Id$|ID$|Uuid$/

interface RecordList {
  readonly path: FieldPath
  readonly records: readonly object[]
}

/** Judged by name, ids, size and depth; null if there is no list of objects. */
export function findRecords(body: unknown): RecordList | null {
  let best: (RecordList & { points: number }) | null = null
  for (const list of listsOf(body, []).filter(({ path }) => !ERROR_NAMES.test(path.at(-1) ?? ''))) {
    const points = pointsOf(list)
    if (best === null || points > best.points) best = { ...list, points }
  }
  return best
}

/** Returns whether an answer has an empty list in a place where records usually are. */
export function isEmptyList(body: unknown, depth = 0): boolean {
  if (Array.isArray(body)) return body.length === 0
  if (typeof body !== 'object' || body === null || depth >= DEPTH_MAX) return false
  return Object.entries(body).some(
    ([name, value]) => (GOOD_NAMES.test(name) || !Array.isArray(value)) && isEmptyList(value, depth + 1),
  )
}

/**
 * Yields the path and value of every text, number, boolean and null outside the records. Lists are skipped,
 * except lists of links.
 * @param records the path of the records
 */
export function* leavesAround(body: unknown, records: FieldPath, path: FieldPath = []): Generator<Leaf> {
  if (path.length > LEAF_DEPTH_MAX || (path.length === records.length && isPrefix(records, path))) return
  if (Array.isArray(body)) {
    yield* linksIn(body, path)
    return
  }
  if (typeof body !== 'object' || body === null) {
    yield { path, value: body }
    return
  }
  for (const [name, value] of Object.entries(body)) yield* leavesAround(value, records, [...path, name])
}

/** Yields the texts in a list of links. A path names each link by its relation: `links[rel=next].href`. */
function* linksIn(list: readonly unknown[], path: FieldPath): Generator<Leaf> {
  for (const item of list) {
    const [sign, relation] = Object.entries(Object(item)).find(([name]) => /^rel(ation)?$/i.test(name)) ?? []
    if (typeof relation !== 'string') continue
    const found = [...path.slice(0, -1), `${path.at(-1) ?? ''}[${sign}=${relation}]`]
    for (const [name, value] of Object.entries(Object(item)))
      if (typeof value === 'string' && name !== sign) yield { path: [...found, name], value }
  }
}

export interface Leaf {
  readonly path: FieldPath
  readonly value: unknown
}

/** Yields the path and value of each field of a record. Nested objects are entered, lists are not. */
export function* fieldsOf(record: unknown, path: FieldPath = []): Generator<Leaf> {
  if (typeof record === 'object' && record !== null && !Array.isArray(record) && path.length < DEPTH_MAX) {
    for (const [name, value] of Object.entries(record)) yield* fieldsOf(value, [...path, name])
  } else if (path.length > 0) {
    yield { path, value: record }
  }
}

function* listsOf(value: unknown, path: FieldPath): Generator<RecordList> {
  if (Array.isArray(value)) {
    const records = value.filter(
      (item): item is object => typeof item === 'object' && item !== null && !Array.isArray(item),
    )
    if (records.length > 0 && records.length === value.length) yield { path, records }
    return
  }
  if (typeof value !== 'object' || value === null || path.length >= DEPTH_MAX) return
  for (const [name, inner] of Object.entries(value)) yield* listsOf(inner, [...path, name])
}

function pointsOf({ path, records }: RecordList): number {
  const name = path.at(-1) ?? ''
  const hasIds = [...fieldsOf(records[0])].some(({ path: field }) => ID_NAMES.test(field.at(-1) ?? ''))
  return (
    (hasIds ? 6 : 0) +
    (path.length === 0 || GOOD_NAMES.test(name) ? 3 : 0) -
    (path.some((each) => BAD_NAMES.test(each)) ? 8 : 0) -
    path.length / 2 +
    Math.log10(records.length)
  )
}

function isPrefix(whole: FieldPath, start: FieldPath): boolean {
  return start.every((name, index) => whole[index] === name)
}
