/** When something comes, in words: told from the times themselves, however the schedule is written. */
import type { Instant } from '../model.ts'
import type { Voice } from './voice.ts'
import type { PageWords } from './words/page-en.ts'
import { localDay } from '../schedule/zone.ts'

/** So many days after that of `voice.now` the times must cover. */
export const DAYS_TOLD = 28

/** `Monday to Friday at 07:00`; null where they do not repeat from week to week. */
export function tellTimes(times: readonly Instant[], voice: Voice, words: PageWords): string | null {
  const today = localDay(Date.parse(voice.now), voice.timeZone)
  const dayOf = (at: Instant) => localDay(Date.parse(at), voice.timeZone) - today
  const byDay = Map.groupBy(times, dayOf)
  const days = [...byDay.keys()].filter((day) => day >= 1 && day <= DAYS_TOLD)
  const weekdays = [...new Set(days.map((day) => weekdayOf(today + day)))].sort()
  const clocks = days.map((day) => (byDay.get(day) ?? []).map(voice.dates.time))
  const [first = []] = clocks
  const isSameEachWeek = days.length * 7 === weekdays.length * DAYS_TOLD
  const isSameEachDay = clocks.every((each) => each.join() === first.join())
  return days.length > 0 && isSameEachWeek && isSameEachDay ? words.due(weekdays, first) : null
}

/** The first time in each ISO week after that of `voice.now`, by the calendar of a zone. */
export function firstOfEachWeek(times: readonly Instant[], now: Instant, timeZone: string): Instant[] {
  const weekOf = (at: Instant) => Math.floor((localDay(Date.parse(at), timeZone) + 3) / 7)
  const weeks = Map.groupBy(times, weekOf)
  weeks.delete(weekOf(now))
  return [...weeks.values()].flatMap(([first]) => first ?? [])
}

/** 0 for Monday; 1970-01-01 was a Thursday. */
function weekdayOf(day: number): number {
  return (day + 3) % 7
}
