/** Formats instants, numbers and states for the pages of the dashboard, which are in English. */

import type { Instant } from '../../domain/model.ts'
import { oneLine } from '../../report/words/clean-text.ts'
import { datesOf } from '../../report/words/dates.ts'
import { numbersOf } from '../../report/words/numbers.ts'
import { formatSpan } from '../../time.ts'

export interface Clock {
  readonly now: Date
  /** Formats an instant of today as `06:00`, any other as `Fri 20 Nov, 06:00`. */
  at(instant: Instant): string
  /** Formats a past instant as `4 min ago`. */
  ago(instant: Instant): string
  /** Formats a future instant as `in 3 h`. */
  until(instant: Instant): string
  /** Replaces each instant in a sentence, such as `2026-11-20 07:00 UTC`, by the text that `at` makes. */
  within(sentence: string): string
}

// Matches instants in ISO 8601, and instants as `formatUtc` writes them.
const INSTANT = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?: UTC|:\d\d(?:\.\d+)?Z)/g

export function clockOf(timeZone: string, now: Date): Clock {
  const { recent } = datesOf(LOCALE, timeZone, now.toISOString())
  const away = (instant: Instant) => formatSpan(now.getTime() - Date.parse(instant))
  return {
    now,
    at: recent,
    ago: (instant) => `${away(instant)} ago`,
    until: (instant) => `in ${away(instant)}`,
    within: (sentence) =>
      sentence.replace(INSTANT, (text, day: string, time: string) => {
        const instant = `${day}T${time}:00.000Z`
        // A sentence may quote foreign text such as `2026-99-99 07:00 UTC`, which only looks like an instant.
        return Number.isNaN(Date.parse(instant)) ? text : recent(instant)
      }),
  }
}

export const LOCALE = 'en-GB'
export const numbers = numbersOf(LOCALE)
export const { count } = numbers

const MINUTE_MS = 60_000

/** Formats a size: `812 kB`, `24.1 MB`, `3 GB`. */
export function bytes(size: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log10(Math.max(size, 1)) / 3), units.length - 1)
  return `${numbers.decimal(size / 1000 ** power, power < 2 ? 0 : 1)} ${units[power]}`
}

/** Formats a duration: `840 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  const seconds = ms / 1000
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (seconds < 59.95) return `${numbers.decimal(seconds, 1)} s`
  const whole = Math.round(seconds)
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** Shows `15 min`, `15.3 h` or `29 days`, and no more digits, because samples are not more exact. */
export function lengthOf(ms: number): string {
  const minutes = ms / MINUTE_MS
  if (minutes < 120) return `${numbers.count(minutes)} min`
  if (minutes < 48 * 60) return `${numbers.decimal(minutes / 60, 1)} h`
  return `${numbers.count(minutes / 60 / 24)} days`
}

/** The dash that is shown if there is no number. */
export const NONE = '–'

const NAME_LENGTH = 80

export function nameOf(text: string): string {
  return oneLine(text, NAME_LENGTH)
}

/** A state as a short text. The CSS class `.tag` gives each kind its colour. */
export interface Tag {
  readonly kind: 'ok' | 'warn' | 'fail' | 'busy' | 'off'
  readonly text: string
}
