/**
 * Finds due times the slow way: it checks every minute with the local time of that minute. It uses nothing of
 * src/schedule and its packages, because it is the proof of them.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A local time. */
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
   * `fixed`: times of day. A skipped time is due after the jump, a repeated one only the first time.
   * `absolute`: times through the whole day, due whenever the local time reaches them.
   */
  readonly times: 'fixed' | 'absolute'
  readonly matches: (wall: WallTime) => boolean
}

/** Returns for each rule its due instants after `from`, up to and including `to`. */
export function dueTimes(rules: readonly Rule[], timeZone: string, from: Date, to: Date): Date[][] {
  const due = rules.map((): Date[] => [])
  const offsetAt = offsetsOf(timeZone)
  // The search starts a day early, so that it knows the local times already reached at `from`.
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
 * Returns the local times reached or skipped in this minute. A repeated time is not returned, nor is a date
 * that was skipped as a whole.
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

/** @param shown the instant at which UTC shows the same local time */
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

/**
 * Returns a function from instants to the offset of the zone. It asks Intl for each hour, and for each minute
 * of an hour with a change.
 */
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

/** Returns the hours in which the clock of a zone changes. */
export function clockChanges(timeZone: string, from: Date, to: Date): Date[] {
  const offsetAt = offsetsOf(timeZone)
  const changes: Date[] = []
  for (let at = from.getTime(); at < to.getTime(); at += HOUR_MS) {
    if (offsetAt(at) !== offsetAt(at + HOUR_MS)) changes.push(new Date(at))
  }
  return changes
}
