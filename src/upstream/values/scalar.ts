/** Reads numbers and times in the many forms that upstreams use, and cleans texts of unwanted characters. */
import type { Instant } from '../../domain/model.ts'

/** A smaller number of milliseconds would be a time before 1974, so it is read in seconds. */
const SECONDS_FROM = 1e9
const MILLISECONDS_FROM = 1e11
const MICROSECONDS_FROM = 1e14
const NANOSECONDS_FROM = 1e17
/** The largest microseconds and the smallest nanoseconds that are a plausible time. */
const MICROSECONDS_MAX = 7.3e15
const NANOSECONDS_MIN = 1e18
const YEAR_9999 = Date.parse('9999-01-01T00:00:00Z')
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00Z')
const EARLIEST = Date.parse('1970-01-02T00:00:00Z')
const LATEST = Date.parse('2200-01-01T00:00:00Z')
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
/** Our own format with a day of at most 28 is certainly valid and needs no further check. */
const CANONICAL =
  /^(?:197[1-9]|19[89]\d|20\d\d|21[0-8]\d)-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const WRITTEN =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?$/i
const COMPACT = /^(\d{4})(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)Z?)?$/
const EPOCH = /^-?\d{9,19}(\.\d+)?$/
/** Matches dates as in mails (RFC 5322) and in HTTP headers. */
const MESSAGE = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)? (?:GMT|UTC|[+-]\d{4})$/
/** Matches dates of older Microsoft services: `/Date(1700000000000)/`. */
const WRAPPED = /^\/Date\((-?\d+)(?:[+-]\d{4})?\)\/$/

/**
 * Converts a time to UTC. Returns null for the times of {@link isPlaceholderTime}, and for a value in none of
 * these formats:
 * - RFC 3339 with any offset. The seconds and the zone may be missing; without a zone, the time is in UTC.
 * - A day alone, which stands for its midnight in UTC.
 * - The compact format (`20261121T060000Z`), dates of RFC 5322, and `/Date(1700000000000)/`.
 * - An epoch number from seconds to nanoseconds, as a number or as text, see {@link epoch}.
 * - An object `{"__type": "Date", "iso": …}`.
 */
export function toInstant(value: unknown): Instant | null {
  if (typeof value === 'string' && CANONICAL.test(value)) return value
  const ms = milliseconds(value)
  return ms === null || isUnlikelyTime(ms) ? null : new Date(ms).toISOString()
}

/** Before 1970-01-02 (such as 0001-01-01 or the number 0), after 2199, or `0000-00-00`. */
export function isPlaceholderTime(value: unknown): boolean {
  if (typeof value === 'string' && /^0000-00-00/.test(value.trim())) return true
  const ms = milliseconds(value)
  return ms !== null && isUnlikelyTime(ms)
}

function isUnlikelyTime(ms: number): boolean {
  return ms < EARLIEST || ms >= LATEST
}

function milliseconds(value: unknown): number | null {
  const ms = typeof value === 'number' ? epoch(value) : parsed(value)
  return Number.isFinite(ms) ? ms : null
}

function parsed(value: unknown): number {
  if (typeof value === 'object' && value !== null && 'iso' in value) return parsed(value.iso)
  if (typeof value !== 'string') return Number.NaN
  const text = value.trim()
  const [, day, time = '00:00', zone] = WRITTEN.exec(text) ?? []
  if (day !== undefined) return written(day, time, offsetOf(zone))
  const [, year, month, date, hour = '00', minute = '00', second = '00'] = COMPACT.exec(text) ?? []
  if (year !== undefined) return written(`${year}-${month}-${date}`, `${hour}:${minute}:${second}`, 'Z')
  if (EPOCH.test(text)) return epoch(Number(text))
  const wrapped = WRAPPED.exec(text)?.[1]
  if (wrapped !== undefined) return Number(wrapped)
  return MESSAGE.test(text) ? Date.parse(text) : Number.NaN
}

/** NaN for a day that does not exist, which Date.parse may move. The second 60 (a leap second) becomes 59. */
function written(day: string, time: string, offset: string): number {
  if (!isDay(Number(day.slice(0, 4)), Number(day.slice(5, 7)), Number(day.slice(8)))) return Number.NaN
  return Date.parse(`${day}T${time.replace(',', '.').replace(/^(\d\d:\d\d):60/, '$1:59')}${offset}`)
}

function isDay(year: number, month: number, day: number): boolean {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && !isLeapYear ? 28 : (DAYS[month - 1] ?? 0)
  return day >= 1 && day <= days
}

/**
 * Returns the milliseconds of an epoch number. A number that may count something else gives NaN: days of Excel
 * and seconds since 2001 (Cocoa), which would be times before September 2001, microseconds since 1601 (WebKit),
 * and .NET ticks and FILETIME, which would be nanoseconds before September 2001. The year 9999, which stands
 * for "never", is known in every unit.
 */
function epoch(value: number): number {
  const never = [value * 1000, value, value / 1000].find((ms) => ms >= YEAR_9999 && ms <= YEAR_10000)
  if (never !== undefined) return never
  const size = Math.abs(value)
  if (size < MILLISECONDS_FROM) return value > 0 && value < SECONDS_FROM ? Number.NaN : value * 1000
  if (size < MICROSECONDS_FROM) return value
  if (size < NANOSECONDS_FROM) return size > MICROSECONDS_MAX ? Number.NaN : value / 1000
  return size < NANOSECONDS_MIN ? Number.NaN : value / 1e6
}

function offsetOf(zone: string | undefined): string {
  if (zone === undefined || /^[A-Z]/i.test(zone)) return 'Z'
  return zone.length === 3 ? `${zone}:00` : zone.replace(/^(.\d\d):?(\d\d)$/, '$1:$2')
}

const GROUPED = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/
const PLAIN = /^[+-]?(\d+(\.\d+)?|\.\d+)(e[+-]?\d{1,3})?$/i

/** A number outside its range was misread or is malicious. Ranges also keep sums finite. */
export interface NumberRange {
  readonly min: number
  readonly max: number
}

export const AMOUNT = { min: -1e15, max: 1e15 }
export const COUNT = { min: 0, max: 1e12 }
/** The range of rates: some upstreams give 0 to 1, others give percentages. */
export const RATE = { min: 0, max: 100 }

/** The decimal sign of the numbers in texts: "1,234.56" with a point, "1.234,56" or "1 234,56" with a comma. */
export type DecimalSign = 'point' | 'comma'

/**
 * Converts a value to a finite number. Accepts JSON numbers and text that contains a number (`"42"`,
 * `"1,234.5"`, `" 7 "`). Returns null for anything else, such as `"N/A"`, `""`, `"12 %"`, `true`, 1e400 and
 * NaN.
 */
export function toNumber(value: unknown, decimal?: DecimalSign): number | null {
  const number = parseNumber(value, decimal)
  // Turns -0 into 0, because -0 would be printed with a minus sign.
  return Number.isFinite(number) ? number + 0 : null
}

/** A number too large for JavaScript is Infinity, which is outside every range. */
export function isOutside(value: unknown, { min, max }: NumberRange, decimal?: DecimalSign): boolean {
  const number = parseNumber(value, decimal)
  return number < min || number > max
}

function parseNumber(value: unknown, decimal?: DecimalSign): number {
  // Infinity stands for a bare NaN in the JSON, see `parseJson`.
  if (typeof value === 'number') return Number.isFinite(value) ? value : Number.NaN
  if (typeof value !== 'string') return Number.NaN
  const text = decimal === 'comma' ? pointed(value.trim()) : value.trim()
  const digits = GROUPED.test(text) ? text.replaceAll(',', '') : text
  return PLAIN.test(digits) ? Number(digits) : Number.NaN
}

/** Writes a number with a decimal comma as one with a decimal point: `1.234,56` becomes `1,234.56`. */
function pointed(text: string): string {
  return text
    .replace(/(\d)[\s'’](?=\d{3}(?!\d))/g, '$1')
    .replace(/[.,]/g, (sign) => (sign === '.' ? ',' : '.'))
}

/** Matches a number with three digits after its point, which may also be a whole number of thousands. */
const THOUSANDS = /^[+-]?[1-9]\d{0,2}\.\d{3}$/

/**
 * Returns why the value of a number column may be read wrongly: `none` if it is no number, `thousands` if its
 * point may part thousands; null if neither is so, or if there is no value.
 */
export function findUnsureReason(value: unknown, decimal?: DecimalSign): 'none' | 'thousands' | null {
  if (typeof value !== 'string' || value.trim() === '') return null
  if (toNumber(value, decimal) === null) return 'none'
  return decimal === undefined && THOUSANDS.test(value.trim()) ? 'thousands' : null
}

/** Control characters except tabs and line breaks, direction controls, and the byte order mark. */
const UNWANTED = /[^\P{Cc}\t\n\r]|[\u202A-\u202E\u2066-\u2069\uFEFF]/gu

const PRINTABLE = /^[ -~]*$/

/** Removes unwanted characters, and replaces halves of surrogate pairs by U+FFFD. */
export function cleanText(text: string): string {
  return PRINTABLE.test(text) ? text : text.toWellFormed().replace(UNWANTED, '')
}

/** Matches what can be seen: not a space, a control or zero-width character, a filler, or a mark without a letter. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Returns whether nothing of a text can be seen, so that it names nothing. */
export function isBlank(text: string): boolean {
  return !VISIBLE.test(text)
}

/** Returns whether {@link cleanText} would change the text, or the text has a U+FFFD from earlier damage. */
export function isOddText(text: string): boolean {
  return !PRINTABLE.test(text) && (text.includes('\uFFFD') || cleanText(text) !== text)
}

const ESCAPED = /[^\P{Cc}\t\n\r]|[\u202A-\u202E\u2066-\u2069\uFEFF]|\p{Cs}|\\(?=u[\da-f]{4})/gu

/** Writes unwanted characters as `\u0001`, so that different ids stay different; see {@link unescapeId}. */
export function escapeId(id: string): string {
  return id.replace(ESCAPED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function unescapeId(id: string): string {
  return id.replace(/\\u([\da-f]{4})/g, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
