/**
 * The body of a list's answer, taken apart without parsing the records that are known already. The list between
 * its brackets is cut into pieces at commas. Pieces that each are one JSON object make, joined by commas, a JSON
 * list of exactly these: so where to cut may be guessed, as long as each piece is parsed, or known to have been.
 * The rest of the body is parsed with a mark in place of the records, which must turn up where the list belongs.
 * Whatever does not work out so is parsed as a whole, and refused there if it is no JSON.
 */
import { randomUUID } from 'node:crypto'
import { decode } from '../client/answer.ts'
import {
  type FindKnown,
  fingerprintBytes,
  KnownRecord,
  type RawRecord,
  recordOf,
} from '../mapping/raw-record.ts'
import type { Profile } from '../profile/profile.ts'
import { type FieldPath, readPath } from '../values/field-path.ts'
import {
  CLOSE_BRACKET,
  COMMA,
  endOfString,
  endOfValue,
  findValue,
  OPEN_BRACE,
  OPEN_BRACKET,
  parseJson,
  skipSpace,
} from '../values/json.ts'

/** In place of the records; no upstream can know it. */
const MARK = randomUUID()

/** As much of a profile as says where the records are, and what else is looked for in the body. */
type ListProfile = Pick<Profile, 'envelope' | 'paging'>

export interface ListBody {
  /** The body as parsed, perhaps without what is in the list. */
  readonly body: unknown
  /** Null where there is no list at the path. */
  readonly records: readonly RawRecord[] | null
}

/** @throws SyntaxError where the body is not JSON, also if all its records are known */
export function readListBody(bytes: Buffer, profile: ListProfile, findKnown?: FindKnown): ListBody {
  const path = profile.envelope.leads
  const split = looksIntoList(profile) ? null : splitBody(bytes, path, findKnown)
  return split ?? parseBody(bytes, path, findKnown)
}

/** The plain way, and what the other one must agree with. */
export function parseBody(bytes: Buffer, path: FieldPath, findKnown?: FindKnown): ListBody {
  const body = parseJson(decode(bytes))
  const list = readPath(body, path)
  return { body, records: Array.isArray(list) ? list.map((value) => recordOf(value, findKnown)) : null }
}

/** Whether something else is read from the list's records, such as a total that each of them repeats. */
function looksIntoList({ envelope, paging }: ListProfile): boolean {
  const places = [paging.total, 'pages' in paging ? paging.pages : undefined]
  const paths = [
    envelope.error,
    paging.has_more,
    'next' in paging ? paging.next : undefined,
    ...places.map((place) => (place !== undefined && 'path' in place ? place.path : undefined)),
  ]
  const list = envelope.leads
  return paths.some(
    (path) => path?.[list.length] !== undefined && list.every((name, at) => path[at] === name),
  )
}

function splitBody(bytes: Buffer, path: FieldPath, findKnown: FindKnown | undefined): ListBody | null {
  const open = findValue(bytes, path)
  if (open === null || bytes[open] !== OPEN_BRACKET) return null
  const split = splitList(bytes, open, findKnown)
  if (split === null) return null
  const before = decode(bytes.subarray(0, open + 1))
  const after = decode(bytes.subarray(split.close))
  const body = parseOrNull(`${before}"${MARK}"${after}`)
  const list = readPath(body, path)
  if (!Array.isArray(list) || list[0] !== MARK) return null
  list.pop()
  return { body, records: split.records }
}

interface SplitList {
  readonly records: readonly RawRecord[]
  /** Where the closing bracket is. */
  readonly close: number
}

/**
 * The same bytes mostly part one record from the next: they are searched for, which is fast, as long as the
 * pieces are JSON. From the first one on that is not, and for the last one, each record's end is looked for.
 */
function splitList(bytes: Buffer, open: number, findKnown: FindKnown | undefined): SplitList | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const records: RawRecord[] = []
  let at = skipSpace(bytes, open + 1)
  if (bytes[at] === CLOSE_BRACKET) return { records, close: at }
  const separator = findSeparator(bytes, at)
  if (separator !== null) {
    const distance = separator.indexOf(OPEN_BRACE)
    for (let end = bytes.indexOf(separator, at); end !== -1; end = bytes.indexOf(separator, at)) {
      const record = readRecord(bytes, view, at, end + 1, findKnown)
      if (record === null) break
      records.push(record)
      at = end + distance
    }
  }
  for (;;) {
    const end = endOfValue(bytes, at)
    const record = readRecord(bytes, view, at, end, findKnown)
    if (record === null) return null
    records.push(record)
    const next = skipSpace(bytes, end)
    if (bytes[next] === CLOSE_BRACKET) return { records, close: next }
    if (bytes[next] !== COMMA) return null
    at = skipSpace(bytes, next + 1)
  }
}

/** `},{"id"` or the like, spaces included: what stands from the end of the first record to the second's first name. */
function findSeparator(bytes: Buffer, first: number): Buffer | null {
  const end = endOfValue(bytes, first)
  const comma = skipSpace(bytes, end)
  const second = skipSpace(bytes, comma + 1)
  if (bytes[comma] !== COMMA || bytes[second] !== OPEN_BRACE) return null
  return bytes.subarray(end - 1, endOfString(bytes, skipSpace(bytes, second + 1)))
}

/** Null where the bytes are no object. */
function readRecord(
  bytes: Buffer,
  view: DataView,
  start: number,
  end: number,
  findKnown: FindKnown | undefined,
): RawRecord | null {
  if (bytes[start] !== OPEN_BRACE) return null
  const { high, low } = fingerprintBytes(view, start, end)
  const known = findKnown?.(high, low) ?? null
  if (known !== null) return new KnownRecord({ high, low }, known, bytes, start, end)
  const text = bytes.toString('utf8', start, end)
  const value = parseOrNull(text)
  return value === null ? null : { high, low, known, text, value }
}

/** Null also for `null`, which is neither a record nor a list's body. */
function parseOrNull(text: string): unknown {
  try {
    return parseJson(text)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null
    throw thrown
  }
}
