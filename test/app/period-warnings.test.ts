/** Reports whose period is not what their schedule lets people expect. */
import { describe, expect, it } from 'vitest'
import { periodWarnings } from '../../src/app/configured-schedules.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { PeriodKind } from '../../src/domain/figures.ts'
import { folderWith } from '../support/folder.ts'

const NOW = new Date('2026-11-26T12:00:00Z')

function warningsOf(schedule: string, period: PeriodKind, more = ''): readonly string[] {
  const yaml = `time_zone: Europe/Berlin\n${more}\nreports: [{ name: daily, schedule: "${schedule}" }]`
  const config = loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml }), env: {} })
  return periodWarnings(config, new Map([['daily', period]]), NOW)
}

describe('config check', () => {
  it.each<[string, PeriodKind, string, string]>([
    [
      'every weekday at 07:00',
      'day',
      '',
      'with the period day, the report of Mon 2026-11-30 covers 2026-11-29, and no report covers 2026-11-27 to 2026-11-28; write period: working_day',
    ],
    ['0 7 * * 1-5', 'day', '', 'no report covers 2026-11-27 to 2026-11-28; write period: working_day'],
    ['every Monday at 07:00', 'day', '', 'write period: since_last'],
    ['every Monday at 07:00', 'working_day', '', 'no report covers'],
    ['1st of the month at 07:00', 'week', '', 'no report covers'],
    [
      'every working day at 07:00',
      'day',
      'holidays: [2026-12-25]',
      'the report of Mon 2026-11-30 covers 2026-11-29',
    ],
    [
      'last day of the month at 18:00',
      'month',
      '',
      'with the period month, the report of Mon 2026-11-30 covers 2026-10-01 to 2026-10-31, not the month that ends then; write schedule: 1st of the month at 07:00',
    ],
    ['last working day of the month at 17:00', 'month', '', 'write schedule: 1st of the month at 07:00'],
    ['every Sunday at 20:00', 'week', '', 'covers 2026-11-16 to 2026-11-22, not the week that ends then'],
    ['every Friday at 17:00', 'week', '', 'write schedule: every Monday at 07:00'],
    ['0 18 31 3,12 *', 'quarter', '', 'no report covers'],
    [
      '1st and 15th of the month at 07:00',
      'month',
      '',
      'with the period month, the report of Tue 2026-12-15 covers 2026-11-01 to 2026-11-30, but that of Tue 2026-12-01 has 2026-11-01 to 2026-11-30 already; write schedule: 1st of the month at 07:00, or period: since_last',
    ],
    ['every day at 07:00', 'week', '', 'write schedule: every Monday at 07:00, or period: since_last'],
    ['every weekday at 07:00', 'week', 'week_starts: sunday', 'write schedule: every Sunday at 07:00, or'],
    ['every Monday and Thursday at 07:00', 'week', '', 'already; write schedule: every Monday at 07:00, or'],
    ['every Wednesday at 07:00', 'month', '', 'already; write schedule: 1st of the month at 07:00, or'],
    ['every 15 minutes', 'week', '', 'already; write schedule: every Monday at 07:00, or'],
    ['1st of the month at 07:00', 'quarter', '', 'already; write schedule: 0 7 1 1,4,7,10 *, or'],
    ['every day at 07:00 and 17:00', 'day', '', 'already; write schedule: every day at 07:00'],
    ['0 7,17 * * *', 'since_last', '', 'already; write schedule: every day at 07:00'],
    ['every Saturday at 07:00', 'week', 'week_starts: sunday', 'write schedule: every Sunday at 07:00'],
    [
      'every Monday at 07:00',
      'since_last',
      '',
      'the first report covers the day before it alone, and each later one up to 7 days since the last; write period: week where the first must cover as much',
    ],
  ])('warns of %s with %s %s', (schedule, period, more, warning) => {
    const warnings = warningsOf(schedule, period, more)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/^report:daily: /)
    expect(warnings[0]).toContain(warning)
  })

  it.each<[string, PeriodKind, string]>([
    ['every day at 07:00', 'day', ''],
    ['every weekday at 07:00', 'working_day', ''],
    ['every working day at 07:00', 'working_day', 'holidays: [2026-12-25]'],
    ['every day at 07:00', 'working_day', ''],
    ['every Monday at 07:00', 'week', ''],
    ['every Sunday at 07:00', 'week', 'week_starts: sunday'],
    ['1st of the month at 07:00', 'month', ''],
    ['first working day of the month at 07:00', 'month', ''],
    ['0 7 1 1,4,7,10 *', 'quarter', ''],
    ['every day at 07:00', 'since_last', ''],
    ['every 15 minutes', 'day', ''],
    ['every 2 hours', 'since_last', ''],
    ['2nd of the month at 07:00', 'month', ''],
    ['every Wednesday at 07:00', 'week', ''],
  ])('does not warn of %s with %s %s', (schedule, period, more) => {
    expect(warningsOf(schedule, period, more)).toEqual([])
  })
})
