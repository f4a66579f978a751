/** When schedules are due where the clocks of a zone change. */
import { expect, it } from 'vitest'
import { nextScheduledRun } from '../../src/schedule/scheduled-runs.ts'
import { timing } from '../support/schedule/schedule.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Changes of clocks: the zone, the instant, and the minutes by which clocks go forward. */
const CHANGES = [
  ['Europe/Vienna', '2026-03-29T01:00Z', 60],
  ['Europe/Vienna', '2026-10-25T01:00Z', -60],
  ['America/New_York', '2026-03-08T07:00Z', 60],
  ['Australia/Sydney', '2026-04-04T16:00Z', -60],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z', -30],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z', 30],
  ['America/Sao_Paulo', '2018-02-18T02:00Z', -60],
  ['America/Sao_Paulo', '2018-11-04T03:00Z', 60],
  ['Antarctica/Troll', '2026-03-29T01:00Z', 120],
  ['Antarctica/Troll', '2026-10-25T01:00Z', -120],
  ['Pacific/Apia', '2011-12-30T10:00Z', 1440],
  ['Africa/Cairo', '2026-04-23T22:00Z', 60],
  ['America/Santiago', '2027-04-04T03:00Z', -60],
] as const

/** Returns the local time in a zone, such as `2026-03-29 03:00`. */
function shown(at: number, zone: string): string {
  return new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(at)
}

/** Lists the runs after an instant up to another one. */
function listRuns(expression: string, zone: string, from: number, to: number): number[] {
  const each = timing(expression, zone)
  const runs: number[] = []
  for (
    let due = nextScheduledRun(each, new Date(from));
    due !== null && due.getTime() <= to;
    due = nextScheduledRun(each, due)
  )
    runs.push(due.getTime())
  return runs
}

it.each(CHANGES)(
  'in %s, at %s, where clocks go forward by %i minutes, a schedule of all day is due as often as ever, and a daily time once, when clocks first show it or have jumped over it',
  (zone, date, minutes) => {
    const at = Date.parse(date)
    const quarters = Array.from({ length: 24 }, (_, quarter) => at + (quarter - 11) * 15 * MINUTE_MS)
    expect(listRuns('every 15 minutes', zone, at - 3 * HOUR_MS, at + 3 * HOUR_MS)).toEqual(quarters)
    const hours = Array.from({ length: 10 }, (_, hour) => at + (hour - 4) * HOUR_MS)
    // The hours of a clock that goes by half an hour are told below, and so is the day that Apia left out.
    if (minutes % 60 === 0)
      expect(listRuns('every hour', zone, at - 5 * HOUR_MS, at + 5 * HOUR_MS)).toEqual(hours)
    if (zone === 'Pacific/Apia') return
    // The middle of the gap by the clock before the change, or of what the clock shows twice.
    const middle =
      Date.parse(`${shown(at - MINUTE_MS, zone).replace(' ', 'T')}Z`) + (minutes / 2 + 1) * MINUTE_MS
    const time = minutes > 0 ? new Date(middle).toISOString() : shown(at + (minutes / 2) * MINUTE_MS, zone)
    if (minutes < 0) expect(shown(at - (minutes / 2) * MINUTE_MS, zone)).toBe(time)
    const daily = `${Number(time.slice(14, 16))} ${Number(time.slice(11, 13))} * * *`
    const runs = listRuns(daily, zone, at - 36 * HOUR_MS, at + 36 * HOUR_MS)
    expect(runs).toContain(minutes > 0 ? at : at + (minutes / 2) * MINUTE_MS)
    expect(runs).toHaveLength(3)
  },
)

it.each([
  ['0 7 * * *', 'Pacific/Apia', '2011-12-28T18:00Z', 80, '12-29 07:00, 12-31 07:00, 01-01 07:00'],
  ['last day of the month at 23:30', 'America/New_York', '2026-11-28T00:00Z', 96, '11-30 23:30'],
  ['every hour', 'Australia/Lord_Howe', '2026-10-03T13:30Z', 4, '10-04 01:00, 10-04 03:00, 10-04 04:00'],
  ['*/30 * 1 1 *', 'Europe/Vienna', '2026-01-02T00:00Z', 8735, '01-01 00:00'],
])(
  '%s in %s is from %s on due on the dates of the zone, without the day or the half hour that it left out, however far ahead',
  (expression, zone, date, hours, expected) => {
    const from = Date.parse(date)
    const runs = listRuns(expression, zone, from, from + hours * HOUR_MS)
    expect(runs.map((at) => shown(at, zone).slice(5)).join(', ')).toBe(expected)
  },
)
