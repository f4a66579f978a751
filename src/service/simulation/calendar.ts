/** Defines the working week of the simulation, in UTC. People get no messages at night or at weekends. */

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The activity on each day of the week, Sunday first. An average working day is 1. */
export const WEEKDAY_ACTIVITY = [0.04, 0.9, 1.15, 1.2, 1.1, 0.7, 0.05] as const

/** The hours at which the offices of a region open and close, in UTC. No office hours cross midnight. */
const OFFICE_HOURS: Readonly<Record<string, readonly [number, number]>> = {
  'North America': [14, 23],
  'Latin America': [13, 22],
  Europe: [7, 16],
  Africa: [7, 16],
  'Middle East and North Africa': [6, 15],
  'South Asia': [4, 13],
  'Southeast Asia': [1, 10],
  'East Asia': [1, 10],
  Oceania: [0, 7],
}
const OFFICE_HOURS_ELSEWHERE = [8, 17] as const

export function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS
}

/** Returns the day of the week; 0 is Sunday. */
export function weekday(at: number): number {
  return new Date(at).getUTCDay()
}

export function isWeekend(at: number): boolean {
  return weekday(at) % 6 === 0
}

/** Weekends do not count. The time is shortened to 5/7, so that adding seven days still ends a week later. */
export function addWorkingTime(from: number, ms: number): number {
  let left = (ms * 5) / 7
  for (let at = from; ; at = startOfDay(at) + DAY_MS) {
    const ofDay = isWeekend(at) ? 0 : startOfDay(at) + DAY_MS - at
    if (left < ofDay) return at + left
    left -= ofDay
  }
}

/**
 * Returns the instant itself if it is in the region's office hours, otherwise a time soon after the office
 * next opens.
 * @param settleMs the time after the opening, in milliseconds; it must be shorter than the office hours
 */
export function intoOfficeHours(at: number, region: string | null, settleMs: number): number {
  const [opens, closes] = (region === null ? undefined : OFFICE_HOURS[region]) ?? OFFICE_HOURS_ELSEWHERE
  for (let day = startOfDay(at); ; day += DAY_MS) {
    if (isWeekend(day) || at >= day + closes * HOUR_MS) continue
    return at >= day + opens * HOUR_MS ? at : day + opens * HOUR_MS + settleMs
  }
}
