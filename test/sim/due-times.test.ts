/** Compares due times with a search through every minute: ten time zones, three years each. */
import { expect, it } from 'vitest'
import { nextScheduledRun } from '../../src/schedule/scheduled-runs.ts'
import { timing } from '../support/schedule/schedule.ts'
import { clockChanges, dueTimes, type Rule, type WallTime } from './due-times.ts'
import { IS_FULL } from './scale.ts'

const DAY_MS = 86_400_000

/** Time zones, each with a year in which its clocks change in a different way. */
const ZONES = [
  { timeZone: 'Europe/Vienna', year: 2026 },
  { timeZone: 'America/New_York', year: 2026 },
  { timeZone: 'Australia/Sydney', year: 2026 },
  { timeZone: 'Asia/Kathmandu', year: 2026, why: 'never changes, and is 5:45 ahead' },
  { timeZone: 'Australia/Lord_Howe', year: 2026, why: 'changes by half an hour' },
  { timeZone: 'Antarctica/Troll', year: 2026, why: 'changes by two hours' },
  { timeZone: 'America/Santiago', year: 2026, why: 'at midnight' },
  { timeZone: 'Africa/Cairo', year: 2026, why: 'on Fridays, at midnight' },
  { timeZone: 'Africa/Casablanca', year: 2026, why: 'for Ramadan' },
  { timeZone: 'America/Sao_Paulo', year: 2017, why: 'at midnight, and no more since 2019' },
  { timeZone: 'Pacific/Apia', year: 2011, why: 'had no 30 December 2011' },
] as const

type When = (wall: WallTime) => boolean
const at =
  (hour: number, ...minutes: readonly number[]): When =>
  (wall) =>
    wall.hour === hour && minutes.includes(wall.minute)
const fixed = (...all: readonly When[]): Rule => ({
  times: 'fixed',
  matches: (wall) => all.every((holds) => holds(wall)),
})
const absolute = (...all: readonly When[]): Rule => ({ ...fixed(...all), times: 'absolute' })

const firstOfWeekday: When = (wall) => wall.day <= 7
const isWorkingDay: When = (wall) => wall.weekday >= 1 && wall.weekday <= 5
/** Finds the last working day of a month without holidays. */
const isLastWorkingDay: When = (wall) => {
  const left = wall.daysInMonth - wall.day
  return isWorkingDay(wall) && (left === 0 || (wall.weekday === 5 && left <= 2))
}
const EXPRESSIONS: Readonly<Record<string, Rule>> = {
  '0 7 * * *': fixed(at(7, 0)),
  '30 2 * * *': fixed(at(2, 30)),
  '0 3 * * *': fixed(at(3, 0)),
  '0 0 * * *': fixed(at(0, 0)),
  '45 23 * * *': fixed(at(23, 45)),
  'every 15 minutes': absolute((wall) => wall.minute % 15 === 0),
  'every hour': absolute((wall) => wall.minute === 0),
  'every weekday at 07:00': fixed(at(7, 0), isWorkingDay),
  'every Monday and Thursday at 7:30': fixed(at(7, 30), (wall) => [1, 4].includes(wall.weekday)),
  'first Monday of the month at 08:00': fixed(at(8, 0), firstOfWeekday, (wall) => wall.weekday === 1),
  'last day of the month at 18:00': fixed(at(18, 0), (wall) => wall.day === wall.daysInMonth),
  'last working day of the month at 02:30': fixed(at(2, 30), isLastWorkingDay),
  '5,35 * * * *': absolute((wall) => [5, 35].includes(wall.minute)),
  '0 */2 * * *': absolute((wall) => wall.hour % 2 === 0 && wall.minute === 0),
  '0,30 2 * * *': fixed(at(2, 0, 30)),
  '30 2 * * 0': fixed(at(2, 30), (wall) => wall.weekday === 0),
  '0 0 1 * *': fixed(at(0, 0), (wall) => wall.day === 1),
  '30 2 29 3 *': fixed(at(2, 30), (wall) => wall.day === 29 && wall.month === 3),
}

interface Stretch {
  readonly from: Date
  readonly to: Date
}

function scheduledRunsOf(expression: string, timeZone: string, { from, to }: Stretch): Date[] {
  const scheduledRuns: Date[] = []
  const at = timing(expression, timeZone)
  for (
    let dueAt = nextScheduledRun(at, from);
    dueAt !== null && dueAt <= to;
    dueAt = nextScheduledRun(at, dueAt)
  )
    scheduledRuns.push(dueAt)
  return scheduledRuns
}

/**
 * Returns three years; in a sample, the days around each change of the clock in the first year, and around a
 * day without one.
 */
function stretchesOf({ timeZone, year }: (typeof ZONES)[number]): readonly Stretch[] {
  const from = new Date(Date.UTC(year, 0, 1))
  if (IS_FULL) return [{ from, to: new Date(from.getTime() + 3 * 365 * DAY_MS) }]
  const changes = clockChanges(timeZone, from, new Date(from.getTime() + 365 * DAY_MS))
  return [from, ...changes].map((change) => ({
    from: new Date(change.getTime() - 2 * DAY_MS),
    to: new Date(change.getTime() + 2 * DAY_MS),
  }))
}

it.each(ZONES)(
  'in $timeZone, from $year on, every schedule is due when the clock shows its time, and at no other',
  (zone) => {
    for (const stretch of stretchesOf(zone)) {
      const expected = dueTimes(Object.values(EXPRESSIONS), zone.timeZone, stretch.from, stretch.to)
      for (const [index, expression] of Object.keys(EXPRESSIONS).entries())
        expect(scheduledRunsOf(expression, zone.timeZone, stretch), expression).toEqual(expected[index])
    }
  },
)
