/**
 * When schedules are due, found the slow way: every minute is looked at, with what the clock on the wall shows then.
 * Knows nothing of src/schedule nor of its packages; a proof by the code that is proven would be none.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** What a clock on the wall shows. */
export interface WallTime {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
  readonly daysInMonth: number
  /** 0 is Sunday. */
  readonly weekday: number
  readonly hour: number
  readonly minute: number
}

export interface Rule {
  /**
   * `fixed`: times of day; one that the clock jumps over is due once it has jumped, one that it shows twice the first
   * time. `absolute`: all through the day; due whenever the clock shows it.
   */
  readonly times: 'fixed' | 'absolute'
  readonly matches: (wall: WallTime) => boolean
}

/** Of each rule all instants after `from`, up to and including `to`, at which it is due. */
export function dueTimes(rules: readonly Rule[], timeZone: string, from: Date, to: Date): Date[][] {
  const due = rules.map((): Date[] => [])
  const offsetAt = offsetsOf(timeZone)
  // From a day before, so that it is known what the clock had shown by then.
  const start = Math.floor(from.getTime() / MINUTE_MS) * MINUTE_MS - DAY_MS
  let latest = start + offsetAt(start)
  for (let at = start + MINUTE_MS; at <= to.getTime(); at += MINUTE_MS) {
    const shown = at + offsetAt(at)
    const now = wallTime(shown)
    const reached = shown === latest + MINUTE_MS ? [now] : reachedBetween(latest, shown).map(wallTime)
    latest = Math.max(latest, shown)
    if (at <= from.getTime()) continue
    for (const [index, { times, matches }] of rules.entries()) {
      if (times === 'fixed' ? reached.some(matches) : matches(now)) due[index]?.push(new Date(at))
    }
  }
  return due
}

/**
 * What the clock shows for the first time, or has jumped over: nothing while it repeats itself, and nothing of a date
 * that it has jumped over as a whole.
 */
function reachedBetween(latest: number, shown: number): number[] {
  const times: number[] = []
  const dates = [dateOf(latest), dateOf(shown)]
  for (let time = latest + MINUTE_MS; time <= shown; time += MINUTE_MS) {
    if (dates.includes(dateOf(time))) times.push(time)
  }
  return times
}

function dateOf(shown: number): number {
  return Math.floor(shown / DAY_MS)
}

/** @param shown the instant at which a clock of UTC shows the same */
function wallTime(shown: number): WallTime {
  const date = new Date(shown)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return {
    year,
    month: month + 1,
    day: date.getUTCDate(),
    daysInMonth: new Date(Date.UTC(year, month + 1, 0)).getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
  }
}

/** How far the clock of a zone is from UTC: asked of Intl each hour, and each minute of an hour in which it changes. */
function offsetsOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  const ask = (at: number): number => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at
  let hour = Number.NaN
  let [first, last] = [0, 0]
  return (at) => {
    const begin = Math.floor(at / HOUR_MS) * HOUR_MS
    if (begin !== hour) {
      hour = begin
      first = ask(begin)
      last = ask(begin + HOUR_MS)
    }
    return first === last ? first : ask(at)
  }
}

/** When the clock of a zone changes, to the hour. */
export function clockChanges(timeZone: string, from: Date, to: Date): Date[] {
  const offsetAt = offsetsOf(timeZone)
  const changes: Date[] = []
  for (let at = from.getTime(); at < to.getTime(); at += HOUR_MS) {
    if (offsetAt(at) !== offsetAt(at + HOUR_MS)) changes.push(new Date(at))
  }
  return changes
}

/** The date that the clock of a zone shows, as `2026-11-21`. */
export function localDates(timeZone: string): (at: Date) => string {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' })
  return (at) => format.format(at)
}

/** What it shows, as `2026-11-21 07:00`. */
export function localTimes(timeZone: string): (at: Date) => string {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return (at) => format.format(at)
}
