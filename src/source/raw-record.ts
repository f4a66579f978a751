/**
 * A record of a list as the upstream sent it, with the fingerprint by which a known one is recognised. What is
 * known is parsed only when its value is asked for.
 */
import { type Fingerprint, fingerprintBytes } from './fingerprint.ts'
import { parseJson } from './json.ts'
import { fitRecord } from './record-limits.ts'

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

/** A record of which only the value is there: its text is written anew, or says how it begins where it is too large. */
export function recordOf(value: unknown, findKnown?: FindKnown): RawRecord {
  const fit = fitRecord(value)
  const text = 'reason' in fit ? fit.stub : fit.text
  const bytes = Buffer.from(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { high, low } = fingerprintBytes(view, 0, bytes.length)
  return { high, low, known: findKnown?.(high, low) ?? null, text, value }
}

/** A record whose bytes are known to be JSON. */
export function knownRecord(bytes: Buffer, { high, low }: Fingerprint, known: number): RawRecord {
  let value: unknown
  return {
    high,
    low,
    known,
    get text() {
      return bytes.toString()
    },
    get value() {
      value ??= parseJson(this.text)
      return value
    },
  }
}
