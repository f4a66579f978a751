import { describe, expect, it } from 'vitest'
import { nextScheduledRun } from '../../src/schedule/scheduled-runs.ts'
import { timing } from '../support/schedule/schedule.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Changes of clocks: the zone, the instant, and the minutes by which clocks go forward. */
const CASES = (
  [
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
).map(([zone, at, minutes]) => ({ zone, at: Date.parse(at), minutes, name: `${zone} ${at}` }))

/** Returns the local time in a zone, such as `2026-03-29 03:00`. */
function shown(at: number, zone: string): string {
  return new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(at)
}

function scheduledRunsOf(expression: string, zone: string, from: number, to: number): number[] {
  const each = timing(expression, zone)
  const scheduledRuns: number[] = []
  for (
    let dueAt = nextScheduledRun(each, new Date(from));
    dueAt !== null && dueAt.getTime() <= to;
    dueAt = nextScheduledRun(each, dueAt)
  )
    scheduledRuns.push(dueAt.getTime())
  return scheduledRuns
}

/** Turns `2026-03-29 02:30` into `30 2 * * *`. */
function dailyAt(time: string): string {
  return `${Number(time.slice(14, 16))} ${Number(time.slice(11, 13))} * * *`
}

describe('a daily time', () => {
  const forward = CASES.filter(({ minutes }) => minutes > 0 && minutes < 1440)
  const back = CASES.filter(({ minutes }) => minutes < 0)

  it.each(forward)('that the clock jumps over is due once it has jumped: $name', ({ zone, at, minutes }) => {
    // The middle of the gap, by the clock before the change.
    const time = new Date(
      Date.parse(`${shown(at - MINUTE_MS, zone).replace(' ', 'T')}Z`) + (minutes / 2 + 1) * MINUTE_MS,
    )
    const scheduledRuns = scheduledRunsOf(
      dailyAt(time.toISOString()),
      zone,
      at - 36 * HOUR_MS,
      at + 36 * HOUR_MS,
    )
    expect(scheduledRuns).toContain(at)
    expect(scheduledRuns).toHaveLength(3)
  })

  it.each(back)('that the clock shows twice is due the first time: $name', ({ zone, at, minutes }) => {
    const first = at + (minutes / 2) * MINUTE_MS
    expect(shown(first, zone)).toBe(shown(first - minutes * MINUTE_MS, zone))
    const scheduledRuns = scheduledRunsOf(
      dailyAt(shown(first, zone)),
      zone,
      at - 36 * HOUR_MS,
      at + 36 * HOUR_MS,
    )
    expect(scheduledRuns).toContain(first)
    expect(scheduledRuns).toHaveLength(3)
  })

  it('is not due on a date that the zone left out', () => {
    const scheduledRuns = scheduledRunsOf(
      '0 7 * * *',
      'Pacific/Apia',
      Date.parse('2011-12-28T18:00Z'),
      Date.parse('2012-01-01T00:00Z'),
    )
    expect(scheduledRuns.map((dueAt) => shown(dueAt, 'Pacific/Apia'))).toEqual([
      '2011-12-29 07:00',
      '2011-12-31 07:00',
      '2012-01-01 07:00',
    ])
  })

  it('follows the dates of its zone, not of UTC', () => {
    const from = Date.parse('2026-11-28T00:00Z')
    const scheduledRuns = scheduledRunsOf(
      'last day of the month at 23:30',
      'America/New_York',
      from,
      from + 96 * HOUR_MS,
    )
    expect(scheduledRuns.map((dueAt) => new Date(dueAt).toISOString())).toEqual(['2026-12-01T04:30:00.000Z'])
  })
})

describe('a schedule that goes on all through the day', () => {
  it.each(CASES)('is due each quarter of an hour, whatever the clock does: $name', ({ zone, at }) => {
    const scheduledRuns = scheduledRunsOf('every 15 minutes', zone, at - 3 * HOUR_MS, at + 3 * HOUR_MS)
    expect(scheduledRuns).toEqual(
      Array.from({ length: 24 }, (_, quarter) => at - 3 * HOUR_MS + (quarter + 1) * 15 * MINUTE_MS),
    )
  })

  it.each(CASES.filter(({ minutes }) => minutes % 60 === 0))(
    'is due every hour once: $name',
    ({ zone, at }) => {
      const scheduledRuns = scheduledRunsOf('every hour', zone, at - 5 * HOUR_MS, at + 5 * HOUR_MS)
      expect(scheduledRuns).toEqual(Array.from({ length: 10 }, (_, hour) => at + (hour - 4) * HOUR_MS))
    },
  )

  it('has nothing of the half hour that is left out, and goes on by what the clock shows', () => {
    const at = Date.parse('2026-10-03T15:30Z')
    const scheduledRuns = scheduledRunsOf(
      'every hour',
      'Australia/Lord_Howe',
      at - 2 * HOUR_MS,
      at + 2 * HOUR_MS,
    )
    expect(scheduledRuns.map((dueAt) => shown(dueAt, 'Australia/Lord_Howe').slice(11))).toEqual([
      '01:00',
      '03:00',
      '04:00',
    ])
  })

  it('finds its next time far ahead, behind several changes of the clocks', () => {
    const [dueAt] = scheduledRunsOf(
      '*/30 * 1 1 *',
      'Europe/Vienna',
      Date.parse('2026-01-02'),
      Date.parse('2027-02-01'),
    )
    expect(shown(dueAt ?? 0, 'Europe/Vienna')).toBe('2027-01-01 00:00')
  })
})
