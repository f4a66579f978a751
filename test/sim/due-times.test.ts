/** Compares due times with a search through every minute: ten time zones, three years each. */
import { describe, expect, it } from 'vitest'
import { nextScheduledRun } from '../../src/schedule/scheduled-runs.ts'
import { timing } from '../support/schedule/schedule.ts'
import { clockChanges, dueTimes, localDates, localTimes, type Rule, type WallTime } from './due-times.ts'
import { IS_FULL } from './scale.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

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

const DAILY: Readonly<Record<string, Rule>> = {
  '0 7 * * *': fixed(at(7, 0)),
  '30 2 * * *': fixed(at(2, 30)),
  '15 1 * * *': fixed(at(1, 15)),
  '0 3 * * *': fixed(at(3, 0)),
  '0 0 * * *': fixed(at(0, 0)),
  '30 0 * * *': fixed(at(0, 30)),
  '45 23 * * *': fixed(at(23, 45)),
}
const firstOfWeekday: When = (wall) => wall.day <= 7
const isWorkingDay: When = (wall) => wall.weekday >= 1 && wall.weekday <= 5
/** Finds the last working day of a month without holidays. */
const isLastWorkingDay: When = (wall) => {
  const left = wall.daysInMonth - wall.day
  return isWorkingDay(wall) && (left === 0 || (wall.weekday === 5 && left <= 2))
}
const WORDS: Readonly<Record<string, Rule>> = {
  'every 15 minutes': absolute((wall) => wall.minute % 15 === 0),
  'every hour': absolute((wall) => wall.minute === 0),
  'every day at 02:30': fixed(at(2, 30)),
  'every weekday at 07:00': fixed(at(7, 0), isWorkingDay),
  'every Sunday at 2:30': fixed(at(2, 30), (wall) => wall.weekday === 0),
  'every Monday and Thursday at 7:30': fixed(at(7, 30), (wall) => [1, 4].includes(wall.weekday)),
  '1st of the month at 00:00': fixed(at(0, 0), (wall) => wall.day === 1),
  'first Monday of the month at 08:00': fixed(at(8, 0), firstOfWeekday, (wall) => wall.weekday === 1),
  'last day of the month at 18:00': fixed(at(18, 0), (wall) => wall.day === wall.daysInMonth),
  'last working day of the month at 02:30': fixed(at(2, 30), isLastWorkingDay),
}
const OTHERS: Readonly<Record<string, Rule>> = {
  '*/15 * * * *': absolute((wall) => wall.minute % 15 === 0),
  '0 * * * *': absolute((wall) => wall.minute === 0),
  '5,35 * * * *': absolute((wall) => [5, 35].includes(wall.minute)),
  '0 */2 * * *': absolute((wall) => wall.hour % 2 === 0 && wall.minute === 0),
  '0,30 2 * * *': fixed(at(2, 0, 30)),
  '0 2,14 * * *': fixed((wall) => wall.minute === 0 && [2, 14].includes(wall.hour)),
  '30 2 * * 0': fixed(at(2, 30), (wall) => wall.weekday === 0),
  '0 7 * * 1-5': fixed(at(7, 0), isWorkingDay),
  '0 0 1 * *': fixed(at(0, 0), (wall) => wall.day === 1),
  '30 2 29 3 *': fixed(at(2, 30), (wall) => wall.day === 29 && wall.month === 3),
  '0 18 L * *': fixed(at(18, 0), (wall) => wall.day === wall.daysInMonth),
}
const EXPRESSIONS = { ...DAILY, ...WORDS, ...OTHERS }

type NextScheduledRun = typeof nextScheduledRun

function scheduledRunsOf(
  next: NextScheduledRun,
  expression: string,
  timeZone: string,
  { from, to }: Stretch,
): Date[] {
  const scheduledRuns: Date[] = []
  const at = timing(expression, timeZone)
  for (let dueAt = next(at, from); dueAt !== null && dueAt <= to; dueAt = next(at, dueAt))
    scheduledRuns.push(dueAt)
  return scheduledRuns
}

interface Stretch {
  readonly from: Date
  readonly to: Date
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

/** Returns by expression the times that stand in only one of the lists. */
function differences(
  next: NextScheduledRun,
  timeZone: string,
  stretch: Stretch,
): Record<string, readonly string[]> {
  const expected = dueTimes(Object.values(EXPRESSIONS), timeZone, stretch.from, stretch.to)
  const texts = (times: readonly Date[]): string[] => times.map((time) => time.toISOString())
  const found: Record<string, readonly string[]> = {}
  for (const [index, expression] of Object.keys(EXPRESSIONS).entries()) {
    const had = texts(scheduledRunsOf(next, expression, timeZone, stretch))
    const wanted = texts(expected[index] ?? [])
    const [isHad, isWanted] = [new Set(had), new Set(wanted)]
    const different = [
      ...[...isWanted.difference(isHad)].map((time) => `missing: ${time}`),
      ...[...isHad.difference(isWanted)].map((time) => `too many: ${time}`),
      ...(isHad.size < had.length ? ['one of them twice'] : []),
    ]
    if (different.length > 0) found[expression] = different
  }
  return found
}

describe.each(ZONES)('in $timeZone, from $year on', (zone) => {
  const { timeZone } = zone

  it('every schedule is due when the clock shows its time, and at no other (row 50)', () => {
    for (const stretch of stretchesOf(zone))
      expect(differences(nextScheduledRun, timeZone, stretch)).toEqual({})
  })

  it('a daily report is due once each date that the clock shows (row 50)', () => {
    const dateOf = localDates(timeZone)
    for (const stretch of stretchesOf(zone)) {
      // The first and the last date are incomplete, so they are left out.
      const dates = new Set<string>()
      for (let at = stretch.from.getTime() + DAY_MS; at < stretch.to.getTime() - DAY_MS; at += DAY_MS / 48)
        dates.add(dateOf(new Date(at)))
      for (const expression of Object.keys(DAILY)) {
        const due = scheduledRunsOf(nextScheduledRun, expression, timeZone, stretch).map(dateOf)
        expect(
          due.filter((date) => dates.has(date)),
          expression,
        ).toEqual([...dates])
      }
    }
  })
})

describe('the search would notice', () => {
  const [march, october] = ['2026-03-29', '2026-10-25'].map((date) => {
    const change = Date.parse(`${date}T00:00:00Z`)
    return { from: new Date(change - 3 * DAY_MS), to: new Date(change + 3 * DAY_MS) }
  }) as [Stretch, Stretch]

  it('a schedule that takes the second of two equal times', () => {
    const second: NextScheduledRun = (at, after) => {
      const dueAt = nextScheduledRun(at, new Date(after.getTime() - HOUR_MS))
      const shown = localTimes(at.timeZone)
      const again = (time: Date): Date => {
        const later = new Date(time.getTime() + HOUR_MS)
        return shown(later) === shown(time) ? later : time
      }
      for (let next = dueAt; next !== null; next = nextScheduledRun(at, next))
        if (again(next) > after) return again(next)
      return null
    }
    const found = differences(second, 'Europe/Vienna', october)
    expect(found['30 2 * * *']).toEqual([
      'missing: 2026-10-25T00:30:00.000Z',
      'too many: 2026-10-25T01:30:00.000Z',
    ])
    expect(differences(second, 'Europe/Vienna', march)).toEqual({})
  })

  it('a schedule that has no time where the clock jumps over it', () => {
    const without: NextScheduledRun = (at, after) => {
      const dueAt = nextScheduledRun(at, after)
      const isJumped =
        dueAt !== null &&
        at.expression.startsWith('30 2') &&
        !localTimes(at.timeZone)(dueAt).endsWith('02:30')
      return isJumped ? nextScheduledRun(at, dueAt) : dueAt
    }
    const found = differences(without, 'Europe/Vienna', march)
    expect(found['30 2 * * *']).toEqual(['missing: 2026-03-29T01:00:00.000Z'])
  })

  it('a schedule that counts hours rather than looking at the clock', () => {
    const utc: NextScheduledRun = (at, after) => nextScheduledRun({ ...at, timeZone: 'Etc/GMT-1' }, after)
    expect(differences(utc, 'Europe/Vienna', march)['0 7 * * *']).toHaveLength(6)
  })
})
