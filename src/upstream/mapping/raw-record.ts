/**
 * A record of a list as the upstream sent it, with the fingerprint by which a known one is recognised. What is
 * known is parsed only when its value is asked for.
 */

import { parseJson } from '../values/json.ts'
import { type Fingerprint, fingerprintBytes } from './fingerprint.ts'
import { writeJson } from './record-limits.ts'

/**
 * Says whether the bytes with this 64-bit hash (two unsigned halves) are known, and as what; null where not. Known
 * may be only what was the text of a record before: it is not looked at again.
 */
export type FindKnown = (high: number, low: number) => number | null

export interface RawRecord extends Fingerprint {
  /** What {@link FindKnown} said. */
  readonly known: number | null
  /** JSON, as sent. */
  readonly text: string
  /** Parsed on first use, large numbers kept as text as `parseJson` does. */
  readonly value: unknown
}

/** A record of which only the value is there: its text is written anew. */
export function recordOf(value: unknown, findKnown?: FindKnown): RawRecord {
  const text = writeJson(value)
  const bytes = Buffer.from(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { high, low } = fingerprintBytes(view, 0, bytes.length)
  return { high, low, known: findKnown?.(high, low) ?? null, text, value }
}

/** A record that is a part of its page's bytes, and known to be JSON. */
export class KnownRecord implements RawRecord {
  readonly high: number
  readonly low: number
  readonly known: number
  // Not the part itself: each view of bytes is dear, and few of them are ever looked at.
  readonly #page: Buffer
  readonly #start: number
  readonly #end: number
  #value: unknown

  constructor({ high, low }: Fingerprint, known: number, page: Buffer, start: number, end: number) {
    this.high = high
    this.low = low
    this.known = known
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
