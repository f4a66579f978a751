/** Units of time in milliseconds, and how instants and spans of time are written for operators. */
import type { Instant } from './domain/model.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Formats a span of time as `20 s`, `4 min`, `3 h` or `5 days`. */
export function formatSpan(ms: number): string {
  const minutes = Math.abs(ms) / MINUTE_MS
  if (minutes < 1) return `${Math.round(minutes * 60)} s`
  if (minutes < 120) return `${Math.floor(minutes)} min`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`
  return `${Math.floor(minutes / 60 / 24)} days`
}

/** Formats how long ago an instant was. */
export function formatAge(now: Date, since: Instant): string {
  return formatSpan(now.getTime() - Date.parse(since))
}

/** Formats an instant as `2026-11-20 07:00 UTC`. */
export function formatUtc(instant: Instant): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`
}

export function minutesBefore(now: Date, minutes: number): Instant {
  return new Date(now.getTime() - minutes * MINUTE_MS).toISOString()
}

/** Returns the date that many days before a date such as `2026-11-20`. */
export function dateBefore(date: string, days = 1): string {
  return new Date(Date.parse(date) - days * DAY_MS).toISOString().slice(0, 10)
}
