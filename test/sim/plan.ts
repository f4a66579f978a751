/** Schedules for simulations, each with an independent rule for its due times. */
import { timing } from '../support/schedule/schedule.ts'
import type { Rule } from './due-times.ts'
import type { Planned } from './world.ts'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** An hourly sync, and three reports in several zones with different policies. */
export const PLANNED: readonly Planned[] = [
  {
    schedule: {
      name: 'sync',
      timing: timing('0 * * * *', 'Europe/Vienna'),
      catchUp: { policy: 'latest', windowHours: 24 },
      runsAtFirstSight: true,
    },
    rule: { times: 'absolute', matches: (wall) => wall.minute === 0 },
  },
  {
    schedule: {
      name: 'report:vienna',
      timing: timing('0 7 * * *', 'Europe/Vienna'),
      catchUp: { policy: 'latest', windowHours: 24 },
    },
    rule: at(7, 0),
  },
  {
    schedule: {
      name: 'report:new-york',
      timing: timing('30 2 * * *', 'America/New_York'),
      catchUp: { policy: 'all', windowHours: 72 },
    },
    rule: at(2, 30),
  },
  {
    schedule: {
      name: 'report:sydney',
      timing: timing('every Monday at 08:00', 'Australia/Sydney'),
      catchUp: { policy: 'none', windowHours: 24 },
    },
    rule: at(8, 0, 1),
  },
]

function at(hour: number, minute: number, weekday?: number): Rule {
  return {
    times: 'fixed',
    matches: (wall) =>
      wall.hour === hour && wall.minute === minute && (weekday === undefined || wall.weekday === weekday),
  }
}
