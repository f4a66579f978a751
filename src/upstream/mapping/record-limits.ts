/** How large a record may be: a nest or a heap of text in one record must not keep out the rest of its page. */

const DEPTH_MAX = 64
const RECORD_BYTES_MAX = 1024 * 1024
export const FIELD_BYTES_MAX = 64 * 1024
const STUB_CHARS = 2_000
/** At most, of UTF-8 for a unit of a string. */
const BYTES_A_UNIT = 3

export interface FittingRecord {
  readonly record: unknown
  /** The record as JSON. */
  readonly text: string
  /** How many of its texts were cut to 64 kB. */
  readonly cut: number
}

/** A record over a limit; `stub` is JSON that says how it begins. */
export interface OversizedRecord {
  readonly reason: string
  readonly stub: string
}

/**
 * Holds a record against the limits: 64 levels, 1 MiB as a whole, 64 kB a text (longer ones are cut).
 * @param sent its JSON as it came, which is kept where it is no longer than that
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

/** Whether a value is nested deeper than a record may be. */
export function isTooDeep(value: unknown): boolean {
  return isDeeper(value, DEPTH_MAX)
}

/** JSON; of what is nested so deep that writing it would exhaust the stack, the names at its top. */
export function writeJson(value: unknown): string {
  if (!isTooDeep(value)) return JSON.stringify(value) ?? 'null'
  return JSON.stringify({ names: Object.keys(Object(value)).slice(0, 100) })
}

/** The first 64 kB at most, without half a character at the end. */
function cutText(text: string): string {
  const bytes = Buffer.from(text).subarray(0, FIELD_BYTES_MAX - 3)
  return `${new TextDecoder('utf-8').decode(bytes, { stream: true })}…`
}

/** Goes no deeper than `levels` itself. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const child of Object.values(value)) if (isDeeper(child, levels - 1)) return true
  return false
}
