/**
 * A record of a list as the upstream sent it, with a fingerprint (a hash of its bytes). A record is unchanged if
 * the store has its fingerprint: its lead is then unchanged too, and the record is parsed only if its value is
 * needed.
 */
import { parseJson } from '../values/json.ts'

/**
 * The number of the stored lead with this 64-bit fingerprint (two unsigned halves), or null. All must be of
 * whole records, because bytes with a stored fingerprint are not parsed.
 */
export type FindUnchanged = (high: number, low: number) => number | null

export interface RawRecord extends Fingerprint {
  readonly unchangedNo: number | null
  /** The record's JSON as it was sent, or as {@link recordOf} has written it. */
  readonly text: string
  /** The parsed JSON, with large numbers as text. An unchanged record is parsed at the first access. */
  readonly value: unknown
}

/** The text is written from the value, so it may differ from the JSON that was sent. */
export function recordOf(value: unknown, findUnchanged?: FindUnchanged): RawRecord {
  const text = writeJson(value)
  const bytes = Buffer.from(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { high, low } = fingerprintBytes(view, 0, bytes.length)
  return { high, low, unchangedNo: findUnchanged?.(high, low) ?? null, text, value }
}

/** A record whose fingerprint is stored. It is kept as a part of its page's bytes and parsed only on demand. */
export class UnchangedRecord implements RawRecord {
  readonly high: number
  readonly low: number
  readonly unchangedNo: number
  // The page and two offsets are kept instead of a Buffer for each record. Buffers would cost much, although
  // few unchanged records are ever parsed.
  readonly #page: Buffer
  readonly #start: number
  readonly #end: number
  #value: unknown

  constructor({ high, low }: Fingerprint, unchangedNo: number, page: Buffer, start: number, end: number) {
    this.high = high
    this.low = low
    this.unchangedNo = unchangedNo
    this.#page = page
    this.#start = start
    this.#end = end
  }

  get text(): string {
    return this.#page.toString('utf8', this.#start, this.#end)
  }

  get value(): unknown {
    this.#value ??= parseJson(this.text)
    return this.#value
  }
}

/** A fast hash; an attacker could make two records with the same one. */
export interface Fingerprint {
  readonly high: number
  readonly low: number
}

const SEED_HIGH = 0x243f6a88
const SEED_LOW = 0x85a308d3

/**
 * Computes the fingerprint. Each word of four bytes is mixed into both halves by reversible steps, so records
 * that differ in only one word always have different fingerprints. Even and odd words are hashed apart,
 * because the processor can then compute both at the same time.
 */
export function fingerprintBytes(view: DataView, start: number, end: number): Fingerprint {
  let evenHigh = SEED_HIGH ^ (end - start)
  let evenLow = SEED_LOW
  let oddHigh = SEED_LOW
  let oddLow = SEED_HIGH
  let at = start
  for (; at + 8 <= end; at += 8) {
    let even = Math.imul(view.getUint32(at, true), 0xcc9e2d51)
    let odd = Math.imul(view.getUint32(at + 4, true), 0x1b873593)
    even ^= even >>> 16
    odd ^= odd >>> 16
    evenHigh = Math.imul(rotate(evenHigh, 13) ^ even, 0x9e3779b1)
    evenLow = Math.imul(rotate(evenLow, 15) ^ even, 0x85ebca6b)
    oddHigh = Math.imul(rotate(oddHigh, 17) ^ odd, 0xc2b2ae35)
    oddLow = Math.imul(rotate(oddLow, 11) ^ odd, 0x27d4eb2f)
  }
  for (; at < end; at++) {
    evenHigh = Math.imul(rotate(evenHigh, 13) ^ view.getUint8(at), 0x9e3779b1)
    evenLow = Math.imul(rotate(evenLow, 15) ^ view.getUint8(at), 0x85ebca6b)
  }
  return { high: join(evenHigh, oddHigh), low: join(oddLow, evenLow) }
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

/** Combines two hashes. If only one of them changes, the result is certain to change. */
function join(one: number, other: number): number {
  let hash = Math.imul(one ^ (one >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15) ^ other, 0x846ca68b)
  hash = Math.imul(hash ^ (hash >>> 16), 0x9e3779b1)
  return (hash ^ (hash >>> 15)) >>> 0
}

// Deep nesting or a huge text in one record must not prevent the rest of its page from being read.

const DEPTH_MAX = 64
const RECORD_BYTES_MAX = 1024 * 1024
const FIELD_BYTES_MAX = 64 * 1024
const STUB_CHARS = 2_000
/** The maximum number of UTF-8 bytes for one unit of a string's `length`. */
const BYTES_A_UNIT = 3

interface FittingRecord {
  readonly record: unknown
  readonly text: string
  readonly cut: number
}

/** `stub` is JSON with the beginning of the record, or with only the names of its fields. */
export interface OversizedRecord {
  readonly reason: string
  readonly stub: string
}

/**
 * The limits are 64 levels and 1 MiB. A text over 64 kB is shortened.
 * @param sent the JSON as received, which is kept if no text had to be shortened
 */
export function fitRecord(record: unknown, sent?: string): FittingRecord | OversizedRecord {
  if (isTooDeep(record)) {
    return { reason: `nested deeper than ${DEPTH_MAX} levels`, stub: writeJson(record) }
  }
  if (sent !== undefined && sent.length <= FIELD_BYTES_MAX / BYTES_A_UNIT)
    return { record, text: sent, cut: 0 }
  const isSentShort = sent !== undefined && Buffer.byteLength(sent) <= RECORD_BYTES_MAX
  const text = isSentShort ? sent : (JSON.stringify(record) ?? 'null')
  const bytes = Buffer.byteLength(text)
  if (bytes > RECORD_BYTES_MAX) {
    const reason = `${bytes} bytes long, and more than ${RECORD_BYTES_MAX} are not read`
    return { reason, stub: JSON.stringify({ begins: text.slice(0, STUB_CHARS) }) }
  }
  if (bytes <= FIELD_BYTES_MAX) return { record, text, cut: 0 }
  let cut = 0
  const short = JSON.stringify(record, (_name, value: unknown) => {
    if (typeof value !== 'string' || Buffer.byteLength(value) <= FIELD_BYTES_MAX) return value
    cut++
    return cutText(value)
  })
  return cut === 0 ? { record, text, cut } : { record: JSON.parse(short), text: short, cut }
}

export function isTooDeep(value: unknown): boolean {
  return isDeeper(value, DEPTH_MAX)
}

/** JSON.stringify could exhaust the stack on a deep value, so only its top-level names are written. */
export function writeJson(value: unknown): string {
  if (!isTooDeep(value)) return JSON.stringify(value) ?? 'null'
  return JSON.stringify({ names: Object.keys(Object(value)).slice(0, 100) })
}

/** Shortens a text to at most 64 kB without cutting a character in two. */
function cutText(text: string): string {
  const bytes = Buffer.from(text).subarray(0, FIELD_BYTES_MAX - 3)
  return `${new TextDecoder('utf-8').decode(bytes, { stream: true })}…`
}

/** Returns whether a value is nested deeper than `levels`. The recursion never goes deeper than that. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((each) => typeof each === 'object' && isDeeper(each, levels - 1))
}
