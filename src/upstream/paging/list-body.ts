/**
 * Splits the body of a list into records without parsing the unchanged ones, whose fingerprints (hashes) the
 * store has. The body is cut at commas that probably separate records. The cuts were right if each piece is
 * unchanged or parses as an object. The rest of the body is then parsed with a mark in place of the records. If a
 * piece does not parse, the whole body is parsed instead.
 */
import { randomUUID } from 'node:crypto'
import { decode } from '../client/answer.ts'
import {
  type FindUnchanged,
  fingerprintBytes,
  type RawRecord,
  recordOf,
  UnchangedRecord,
} from '../mapping/raw-record.ts'
import { type FieldRule, readField, toId } from '../profile/field-rule.ts'
import type { Profile } from '../profile/profile.ts'
import {
  CLOSE_BRACKET,
  COMMA,
  endOfString,
  endOfValue,
  type FieldPath,
  findValue,
  OPEN_BRACE,
  OPEN_BRACKET,
  parseJson,
  parseStrictJson,
  readPath,
  skipSpace,
} from '../values/json.ts'

/** The mark that replaces the records in the body. It is random, so that an upstream cannot send it. */
const MARK = randomUUID()

type ListProfile = Pick<Profile, 'envelope' | 'paging' | 'mapping'>

export interface ListBody {
  /** Its list may be empty, because the records may have been split off before. */
  readonly body: unknown
  readonly records: readonly RawRecord[] | null
}

/** @throws SyntaxError if the body is not JSON, even if all its records are unchanged */
export function readListBody(bytes: Buffer, profile: ListProfile, findUnchanged?: FindUnchanged): ListBody {
  const path = profile.envelope.leads
  const split = looksIntoList(profile) ? null : splitBody(bytes, path, findUnchanged)
  return split ?? parseBody(bytes, profile, findUnchanged)
}

/** Must give the same records as splitting the body. */
export function parseBody(
  bytes: Buffer,
  { envelope, mapping }: ListProfile,
  findUnchanged?: FindUnchanged,
): ListBody {
  const body = parseJson(decode(bytes))
  const list = itemsOf(body, envelope.leads, mapping.lead.id)
  return { body, records: list?.map((value) => recordOf(value, findUnchanged)) ?? null }
}

/**
 * Returns the items of the list at a path; null if there is no list. PHP writes a list with gaps as an object
 * whose names are numbers, and what makes JSON of XML writes a list of one as the record itself.
 * @param id the rule for the id, by which a record is told from another object
 */
export function itemsOf(
  body: unknown,
  path: FieldPath,
  id: FieldRule | undefined,
): readonly unknown[] | null {
  const list = readPath(body, path)
  if (Array.isArray(list)) return list
  if (typeof list !== 'object' || list === null) return null
  const items = Object.entries(list)
  const isList = items.every(
    ([name, item]) => /^\d+$/.test(name) && typeof item === 'object' && item !== null,
  )
  if (isList && items.length > 0) return items.map(([, item]) => item)
  return path.length > 0 && toId(readField(list, id)) !== null ? [list] : null
}

/** Objects that stand beside a list, also beside an empty one that is left out, as by Spring. */
const BESIDE_LIST = /^_?(links?|meta(data)?|page|paging|pagination)$/i

/** A body may leave out an empty list if it has only links, paging values, and values that stand for none. */
export function leavesOutList(body: unknown, { envelope, paging }: ListProfile): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  if (readPath(body, envelope.leads) !== undefined) return false
  const paged = pathsOfPaging(paging).map((path) => path?.[0])
  return Object.entries(body).every(([name, value]) => {
    if (!value) return true
    if (typeof value !== 'object') return paged.includes(name)
    const hasList = Array.isArray(value) || Object.values(value).some(Array.isArray)
    return (paged.includes(name) || BESIDE_LIST.test(name)) && (!hasList || /link/i.test(name))
  })
}

function pathsOfPaging(paging: ListProfile['paging']): (FieldPath | undefined)[] {
  const places = [
    paging.total,
    'pages' in paging ? paging.pages : undefined,
    paging.kind === 'cursor' ? paging.next : undefined,
  ]
  return [
    paging.has_more,
    paging.kind === 'next_url' ? paging.next : undefined,
    ...places.map((place) => (place !== undefined && 'path' in place ? place.path : undefined)),
  ]
}

/** If other values, such as a total, are read from inside the list, it must not be split off. */
function looksIntoList({ envelope, paging }: ListProfile): boolean {
  const paths = [envelope.error, ...pathsOfPaging(paging)]
  const list = envelope.leads
  return paths.some(
    (path) => path?.[list.length] !== undefined && list.every((name, at) => path[at] === name),
  )
}

function splitBody(bytes: Buffer, path: FieldPath, findUnchanged?: FindUnchanged): ListBody | null {
  const open = findValue(bytes, path)
  if (open === null || bytes[open] !== OPEN_BRACKET) return null
  const split = splitList(bytes, open, findUnchanged)
  if (split === null) return null
  const before = decode(bytes.subarray(0, open + 1))
  const after = decode(bytes.subarray(split.close))
  const body = parseOrNull(`${before}"${MARK}"${after}`)
  const list = readPath(body, path)
  if (!Array.isArray(list) || list[0] !== MARK) return null
  list.pop()
  return { body, records: split.records }
}

/**
 * Splits the list into records. The bytes between the first two records usually stand between all records.
 * The function therefore searches for these bytes first, which is fast. After the first piece that is not
 * JSON, and for the last record, it follows the JSON to the end of each record.
 */
function splitList(bytes: Buffer, open: number, findUnchanged?: FindUnchanged) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const records: RawRecord[] = []
  let at = skipSpace(bytes, open + 1)
  if (bytes[at] === CLOSE_BRACKET) return { records, close: at }
  const separator = findSeparator(bytes, at)
  if (separator !== null) {
    const distance = separator.indexOf(OPEN_BRACE)
    for (let end = bytes.indexOf(separator, at); end !== -1; end = bytes.indexOf(separator, at)) {
      const record = readRecord(bytes, view, at, end + 1, findUnchanged)
      if (record === null) break
      records.push(record)
      at = end + distance
    }
  }
  for (;;) {
    const end = endOfValue(bytes, at)
    const record = readRecord(bytes, view, at, end, findUnchanged)
    if (record === null) return null
    records.push(record)
    const next = skipSpace(bytes, end)
    if (bytes[next] === CLOSE_BRACKET) return { records, close: next }
    if (bytes[next] !== COMMA) return null
    at = skipSpace(bytes, next + 1)
  }
}

/** Returns the bytes between two records, such as `},{"id"`; null if there is no second record. */
function findSeparator(bytes: Buffer, first: number): Buffer | null {
  const end = endOfValue(bytes, first)
  const comma = skipSpace(bytes, end)
  const second = skipSpace(bytes, comma + 1)
  if (bytes[comma] !== COMMA || bytes[second] !== OPEN_BRACE) return null
  return bytes.subarray(end - 1, endOfString(bytes, skipSpace(bytes, second + 1)))
}

function readRecord(
  bytes: Buffer,
  view: DataView,
  start: number,
  end: number,
  findUnchanged?: FindUnchanged,
): RawRecord | null {
  if (bytes[start] !== OPEN_BRACE) return null
  const { high, low } = fingerprintBytes(view, start, end)
  const unchangedNo = findUnchanged?.(high, low) ?? null
  if (unchangedNo !== null) return new UnchangedRecord({ high, low }, unchangedNo, bytes, start, end)
  const text = bytes.toString('utf8', start, end)
  const value = parseOrNull(text)
  return value === null ? null : { high, low, unchangedNo, text, value }
}

/**
 * Parses JSON. Returns null if the text is not JSON; a bare NaN is left to {@link parseBody}, which writes the
 * texts of the records anew. The JSON `null` also gives null, because it is neither a
 * record nor the body of a list.
 */
function parseOrNull(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null
    throw thrown
  }
}
