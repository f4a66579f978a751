/** The schedules that the settings describe. */
import { describe, expect, it } from 'vitest'
import { schedulesOf } from '../../src/app/configured-schedules.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

describe('a missed report', () => {
  it.each([
    ['every day at 07:00', 24],
    ['every weekday at 07:00', 24],
    ['0 7 * * 1,4', 24],
    ['*/15 * * * *', 24],
    ['every monday at 07:00', Number.POSITIVE_INFINITY],
    ['0 7 * * 1', Number.POSITIVE_INFINITY],
    ['0 7 1 * *', Number.POSITIVE_INFINITY],
    ['0 7 1 1,4,7,10 *', Number.POSITIVE_INFINITY],
  ])('of the schedule %s is made up for within %s hours', (schedule, hours) => {
    const config = loadConfig({ cwd: folderWith(), env: { LEADSHEET_REPORT_SCHEDULE: schedule } })
    expect(schedulesOf(config).at(-1)?.catchUp).toEqual({ policy: 'latest', windowHours: hours })
  })
})
