/** Times as upstreams write them, to UTC. */
import type { Instant } from '../model.ts'

/** Epoch numbers below are seconds: as milliseconds they would lie before 1973. */
const MILLISECONDS_FROM = 100_000_000_000
const EARLIEST = Date.parse('1970-01-02T00:00:00Z')
const LATEST = Date.parse('2200-01-01T00:00:00Z')
const WRITTEN =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)\s*(Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/i

/**
 * RFC 3339 in any offset, without seconds or zone (then UTC), a day alone (its midnight), epoch seconds or
 * milliseconds as number or text, `{"__type": "Date", "iso": …}`. Null for anything else, and for years
 * before 1970 or after 2199, which are placeholders.
 */
export function toInstant(value: unknown): Instant | null {
  const ms = milliseconds(value)
  if (ms === null || !Number.isFinite(ms) || ms < EARLIEST || ms >= LATEST) return null
  return new Date(ms).toISOString()
}

function milliseconds(value: unknown): number | null {
  if (typeof value === 'number') return value < MILLISECONDS_FROM ? value * 1000 : value
  if (typeof value === 'object' && value !== null && 'iso' in value) return milliseconds(value.iso)
  if (typeof value !== 'string') return null
  const text = value.trim()
  if (/^\d{9,13}(\.\d+)?$/.test(text)) return milliseconds(Number(text))
  const [, day, time, zone] = WRITTEN.exec(text) ?? []
  if (day === undefined) return null
  // The parser rolls 30 February over; a day that is none is no time.
  const midnight = new Date(`${day}T00:00:00Z`)
  if (!Number.isFinite(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null
  return Date.parse(`${day}T${(time ?? '00:00').replace(',', '.')}${offsetOf(zone)}`)
}

function offsetOf(zone: string | undefined): string {
  if (zone === undefined || /^(Z|UTC)$/i.test(zone)) return 'Z'
  return zone.length === 3 ? `${zone}:00` : zone.replace(/^(.\d\d):?(\d\d)$/, '$1:$2')
}
