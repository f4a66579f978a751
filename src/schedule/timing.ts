/**
 * The timing of a schedule: a cron expression of five fields, or words such as `every weekday at 07:00`
 * (all forms: docs/how-to/schedules.md), and the policy for scheduled runs that were missed.
 */
import { Cron, CronPattern } from 'croner'
import { isWorkingDay } from './holidays.ts'
import { DAY_MS, firstOfMonth, lastOfMonth, weekdayOf } from './zone.ts'

export interface Timing {
  /** A cron expression of five fields, or words such as `every weekday at 07:00`. */
  readonly expression: string
  readonly timeZone: string
  /** The entries of the setting: regions such as `DE-BY`, and dates such as `2026-12-25`. */
  readonly holidays: readonly string[]
}

export const CATCH_UP_POLICIES = ['latest', 'all', 'none'] as const

export interface CatchUp {
  /** The missed scheduled runs that are caught up on: the latest, all of them (oldest first), or none. */
  readonly policy: (typeof CATCH_UP_POLICIES)[number]
  /** The number of hours after which a missed scheduled run is skipped. */
  readonly windowHours: number
}

/** The delay in milliseconds after which a scheduled run counts as late. */
export const LATE_MS = 5 * 60_000

/** @param holidays the regions and dates whose days are not working days, besides Saturdays and Sundays */
export function parseExpression(text: string, holidays: readonly string[]): Pattern | Fault {
  return isCron(text) ? parseCron(text) : parseWords(text, holidays)
}

/** The first field of cron has only digits and characters such as `*` and `/`; that of words has letters. */
function isCron(text: string): boolean {
  return /^[\d*?][\d*?,/-]*(\s|$)/.test(text.trim())
}

/** An arbitrary time. A cron expression is refused if it has no time after this one. */
const SOME_DAY_MS = Date.UTC(2026, 0, 1)
/** The names of the five fields of a cron expression, in their order. */
const FIELDS = [
  ...['minute (0 to 59)', 'hour (0 to 23)', 'day of the month (1 to 31)'],
  ...['month (1 to 12, or JAN to DEC)', 'weekday (0 to 7, or SUN to SAT)'],
]

/** Croner computes the times in UTC, so its own handling of clock changes has no effect. */
function parseCron(expression: string): Pattern | Fault {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5) return { fault: 'it has not five fields' }
  const pattern = read(expression)
  if (pattern === null) return { fault: formatWrong(fields) }
  if (!pattern.starDOM && !pattern.starDOW) {
    return {
      fault:
        'it restricts both day of month and weekday, which some crons read as "and", others as "or"; restrict one',
    }
  }
  const job = new Cron(expression, { utcOffset: 0, paused: true })
  const next = (afterMs: number) => job.nextRun(new Date(afterMs))?.getTime() ?? null
  if (next(SOME_DAY_MS) === null) return { fault: 'that day never comes' }
  return { isContinuous: /[*?]/.test(fields.slice(0, 2).join('')), next }
}

function read(expression: string): CronPattern | null {
  try {
    return new CronPattern(expression, undefined, { mode: '5-part' })
  } catch {
    return null
  }
}

/** Croner's own messages are not used, because they count days and months from 0. */
function formatWrong(fields: readonly string[]): string {
  const wrong = fields.findIndex(
    (field, at) => read(FIELDS.map((_, each) => (each === at ? field : '*')).join(' ')) === null,
  )
  return `${JSON.stringify(fields[wrong])} cannot be read as its ${FIELDS[wrong]}`
}

/** The local times of a schedule, in milliseconds as if they were UTC. Clock changes are not considered. */
export interface Pattern {
  /** False if the schedule has times of day, such as 07:00, each of which occurs once on a date. */
  readonly isContinuous: boolean
  /** Returns the first time of the schedule after a time; null if there is none. */
  readonly next: (afterMs: number) => number | null
}

/** The reason why an expression cannot be read, worded so that it can stand after "expected …;". */
interface Fault {
  readonly fault: string
  /** The unknown word that makes the expression unreadable; absent if all words are known. */
  readonly unknown?: string
}

const WEEKDAYS: readonly string[] = [
  ...['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
]
const ORDINALS: readonly string[] = ['first', 'second', 'third', 'fourth']
/** All words that a schedule in words can contain, besides numbers and times. */
export const WORDS: readonly string[] = [
  ...['every', 'minute', 'minutes', 'hour', 'hours', 'day', 'weekday', 'working', 'at', 'and'],
  ...['of', 'the', 'month', 'last', ...ORDINALS, ...WEEKDAYS],
]
const IN_MONTH = new RegExp(
  `^(?:the |every )?(.+?)(?: (day|weekday|working day|${WEEKDAYS.join('|')}))? of (?:the|every) month$`,
)

const MINUTE_MS = 60_000
/** The maximum number of days to search for the next day of a schedule. A year has at least one such day. */
const DAYS_MAX = 366
/** Stands for the last place in a month, as in `last Friday of the month`. */
const LAST = -1

/** Returns whether the schedule runs on a day, which is given in days since 1970-01-01. */
type IsDay = (day: number) => boolean

/**
 * Parses a schedule in words. A text that is not fully understood is refused, because a guess could be wrong
 * by a day.
 * @param holidays the regions and dates whose days are not working days, besides Saturdays and Sundays
 */
function parseWords(text: string, holidays: readonly string[]): Pattern | Fault {
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ')
  const unknown = words.split(/[ ,]+/).find((word) => !WORDS.includes(word) && !/^\d/.test(word))
  if (unknown !== undefined) return { fault: `${JSON.stringify(unknown)} is none of its words`, unknown }
  const [, step = '1', unit] = /^every (?:(\d+) )?(minute|hour)s?$/.exec(words) ?? []
  if (unit !== undefined) return parseStep(Number(step), unit)
  const [, days = words, times] = /^(.*?) at (.*)$/.exec(words) ?? []
  const isDay = parseDays(days, holidays)
  if (typeof isDay === 'string') return { fault: isDay }
  if (times === undefined) return { fault: `the time is missing: "${words} at 07:00"` }
  const wrong = listOf(times).find((time) => minuteOf(time) === null)
  if (wrong !== undefined) return { fault: `"${wrong}" is no time such as 07:00 or 17:30` }
  const minutes = listOf(times).flatMap((time) => minuteOf(time) ?? [])
  return { isContinuous: false, next: nextOf(isDay, minutes) }
}

/** Steps restart with each hour or day, so one that does not divide it is refused. */
function parseStep(step: number, unit: string): Pattern | Fault {
  const ofHour = unit === 'minute'
  const whole = ofHour ? 60 : 24
  const even = Array.from({ length: whole / 2 }, (_, at) => at + 1).filter((each) => whole % each === 0)
  if (even.includes(step)) return parseCron(ofHour ? `*/${step} * * * *` : `0 */${step} * * *`)
  return {
    fault: `${ofHour ? 'an hour' : 'a day'} has no even steps of ${step} ${unit}s, but of ${even.join(', ')}`,
  }
}

/** Parses the days of a schedule, such as `every weekday`. Returns the reason as a text if that fails. */
function parseDays(days: string, holidays: readonly string[]): IsDay | string {
  const inMonth = IN_MONTH.exec(days)
  if (inMonth) return parsePlaces(inMonth[1] ?? '', inMonth[2] ?? 'day', holidays)
  const names = listOf(days.replace(/^every /, ''))
  const kind = names.length === 1 ? kindOf(names[0] ?? '', holidays) : null
  const weekdays = names.map((name) => WEEKDAYS.indexOf(name) + 1)
  if (!days.startsWith('every ') || (kind === null && weekdays.includes(0))) return examplesFor(days)
  return kind ?? ((day) => weekdays.includes(weekdayOf(day)))
}

/** @param what the kind of days among which the places are counted, such as `weekday` */
function parsePlaces(list: string, what: string, holidays: readonly string[]): IsDay | string {
  const counts = kindOf(what, holidays)
  const places = listOf(list).map(placeOf)
  if (counts === null || places.includes(0)) return examplesFor('month')
  const most = what === 'day' ? 31 : what === 'weekday' || what === 'working day' ? 15 : 4
  if (places.some((place) => place > most))
    return `not every month has so many of them; "last ${what} of the month" is in each`
  return (day) => counts(day) && places.some((place) => isAt(place, day, counts))
}

function kindOf(name: string, holidays: readonly string[]): IsDay | null {
  if (name === 'day') return () => true
  if (name === 'weekday') return (day) => weekdayOf(day) <= 5
  if (name === 'working day') return (day) => isWorkingDay(day, holidays)
  const weekday = WEEKDAYS.indexOf(name) + 1
  return weekday === 0 ? null : (day) => weekdayOf(day) === weekday
}

/** Returns the place in a month: 1 for `first` and `1st`, LAST for `last`, 0 if the text names no place. */
function placeOf(text: string): number {
  if (text === 'last') return LAST
  const number = /^(\d+)(?:st|nd|rd|th)$/.exec(text)?.[1]
  return number === undefined ? ORDINALS.indexOf(text) + 1 : Number(number)
}

/** Only days that `counts` accepts are counted. */
function isAt(place: number, day: number, counts: IsDay): boolean {
  const [from, to] = place === LAST ? [day, lastOfMonth(day)] : [firstOfMonth(day), day]
  let count = 0
  for (let each = from; each <= to; each++) if (counts(each)) count++
  return count === (place === LAST ? 1 : place)
}

function minuteOf(time: string): number | null {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(time) ?? []
  return hour === undefined ? null : Number(hour) * 60 + Number(minute)
}

function nextOf(isDay: IsDay, minutes: readonly number[]): Pattern['next'] {
  const times = minutes.map((minute) => minute * MINUTE_MS).sort((a, b) => a - b)
  return (afterMs) => {
    const today = Math.floor(afterMs / DAY_MS)
    for (let day = today; day <= today + DAYS_MAX; day++) {
      const time = times.find((each) => day * DAY_MS + each > afterMs)
      if (time !== undefined && isDay(day)) return day * DAY_MS + time
    }
    return null
  }
}

function listOf(text: string): string[] {
  return text.split(/, and |, | and /)
}

function examplesFor(days: string): string {
  return days.includes('month')
    ? 'of a month it is written as "1st and 15th of the month at 07:00", "first Monday of the month at 08:00" or "last working day of the month at 17:00"'
    : 'it is written as "every 15 minutes", "every weekday at 07:00", "every Monday and Thursday at 07:30" or "last day of the month at 18:00"'
}
