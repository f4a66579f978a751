/** Numbers, sizes and lengths of time in the pages of the window, which are in English. */
import { numbersOf } from '../../report/numbers.ts'

export const LOCALE = 'en-GB'
export const numbers = numbersOf(LOCALE)
export const { count } = numbers

const MINUTE_MS = 60_000

/** `812 kB`, `24.1 MB`, `3 GB` */
export function bytes(size: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log10(Math.max(size, 1)) / 3), units.length - 1)
  return `${numbers.decimal(size / 1000 ** power, power < 2 ? 0 : 1)} ${units[power]}`
}

/** `840 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min` */
export function duration(ms: number): string {
  const seconds = ms / 1000
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (seconds < 59.95) return `${numbers.decimal(seconds, 1)} s`
  const whole = Math.round(seconds)
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** Of what is known from reading to reading: `15 min`, from two hours on `15.3 h`, from two days on `29 days` */
export function lengthOf(ms: number): string {
  const minutes = ms / MINUTE_MS
  if (minutes < 120) return `${numbers.count(minutes)} min`
  if (minutes < 48 * 60) return `${numbers.decimal(minutes / 60, 1)} h`
  return `${numbers.count(minutes / 60 / 24)} days`
}
