/** When something comes, in words: told from the times themselves, however the schedule is written. */
import type { Instant } from '../model.ts'
import { DAY_MS, mondayOf, weekdayOf } from '../schedule/calendar.ts'
import { nextSlot } from '../schedule/slots.ts'
import type { Timing } from '../schedule/timing.ts'
import { localDay } from '../schedule/zone.ts'
import type { Voice } from './voice.ts'
import type { PageWords } from './words/page-en.ts'

/** So many days after today tell what repeats from week to week. */
const DAYS_TOLD = 28
/** A schedule with more times than these comes often, whatever the rest. */
const TIMES_MAX = 400

/** The next times of a schedule, as far as the others here look. */
export function listDueTimes(timing: Timing, now: Date): Instant[] {
  const until = now.getTime() + (DAYS_TOLD + 2) * DAY_MS
  const times: Instant[] = []
  let next = nextSlot(timing, now)
  while (next !== null && next.getTime() < until && times.length < TIMES_MAX) {
    times.push(next.toISOString())
    next = nextSlot(timing, next)
  }
  return times
}

/** `Monday to Friday at 07:00`; null where they do not repeat from week to week. */
export function tellTimes(times: readonly Instant[], voice: Voice, words: PageWords): string | null {
  const today = localDay(Date.parse(voice.now), voice.timeZone)
  const byDay = Map.groupBy(times, (at) => localDay(Date.parse(at), voice.timeZone))
  const days = [...byDay.keys()].filter((day) => day > today && day <= today + DAYS_TOLD)
  const weekdays = [...new Set(days.map(weekdayOf))].sort()
  const clocks = days.map((day) => (byDay.get(day) ?? []).map(voice.dates.time))
  const [first = []] = clocks
  const isSameEachWeek = days.length * 7 === weekdays.length * DAYS_TOLD
  const isSameEachDay = clocks.every((each) => each.join() === first.join())
  return days.length > 0 && isSameEachWeek && isSameEachDay ? words.due(weekdays, first) : null
}

/** The first time in each ISO week after that of `now`, by the calendar of a zone. */
export function firstOfEachWeek(times: readonly Instant[], now: Instant, timeZone: string): Instant[] {
  const weeks = Map.groupBy(times, (at) => weekOf(at, timeZone))
  weeks.delete(weekOf(now, timeZone))
  return [...weeks.values()].flatMap(([first]) => first ?? [])
}

/** Whether there is an ISO week with more than one of them. */
export function areMoreThanWeekly(times: readonly Instant[], timeZone: string): boolean {
  return new Set(times.map((at) => weekOf(at, timeZone))).size < times.length
}

/** Its Monday. */
function weekOf(at: Instant, timeZone: string): number {
  return mondayOf(localDay(Date.parse(at), timeZone))
}
