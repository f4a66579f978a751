/** The limits of a record: deep nesting or a huge text in one record must not block the rest of its page. */

const DEPTH_MAX = 64
const RECORD_BYTES_MAX = 1024 * 1024
export const FIELD_BYTES_MAX = 64 * 1024
const STUB_CHARS = 2_000
/** The maximum number of UTF-8 bytes for one UTF-16 unit of a string. */
const BYTES_A_UNIT = 3

export interface FittingRecord {
  readonly record: unknown
  /** The record as JSON. */
  readonly text: string
  /** The number of texts of the record that were cut to 64 kB. */
  readonly cut: number
}

/** A record over a limit. `stub` is JSON with the beginning of the record. */
export interface OversizedRecord {
  readonly reason: string
  readonly stub: string
}

/**
 * Checks a record against the limits: 64 levels, 1 MiB in all, 64 kB for a text (longer texts are cut).
 * @param sent the record's JSON as received, which is kept if it is within the limit
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

/** Returns whether a value is nested deeper than a record may be. */
export function isTooDeep(value: unknown): boolean {
  return isDeeper(value, DEPTH_MAX)
}

/**
 * Writes a value as JSON. For a value that is nested too deep, which would exhaust the stack, only its
 * top-level names are written.
 */
export function writeJson(value: unknown): string {
  if (!isTooDeep(value)) return JSON.stringify(value) ?? 'null'
  return JSON.stringify({ names: Object.keys(Object(value)).slice(0, 100) })
}

/** Cuts a text to at most 64 kB, never within a character. */
function cutText(text: string): string {
  const bytes = Buffer.from(text).subarray(0, FIELD_BYTES_MAX - 3)
  return `${new TextDecoder('utf-8').decode(bytes, { stream: true })}…`
}

/** Returns whether a value has more than `levels` levels. The recursion stops at this depth. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const child of Object.values(value)) if (isDeeper(child, levels - 1)) return true
  return false
}
