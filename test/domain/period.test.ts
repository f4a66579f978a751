import { describe, expect, it } from 'vitest'
import type { PeriodKind } from '../../src/domain/figures.ts'
import type { Period } from '../../src/domain/model.ts'
import {
  dayBefore,
  daysBefore,
  expectedCloseDay,
  localDates,
  type PeriodOptions,
  periodBefore,
  periodBetween,
  periodOf,
  priorOf,
  weekBefore,
} from '../../src/domain/period.ts'
import { localDay, startOfDay } from '../../src/schedule/zone.ts'
import { countCases } from '../support/random.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NEVER: PeriodOptions = { holidays: [], lastEnd: null }

/** Days on which the clocks of a zone change, with their length. */
const CHANGES = [
  ['Europe/Berlin', '2026-03-28T23:00:00.000Z', 23],
  ['Europe/Berlin', '2026-10-24T22:00:00.000Z', 25],
  ['America/New_York', '2026-11-01T04:00:00.000Z', 25],
  ['America/St_Johns', '2026-03-08T03:30:00.000Z', 23],
  ['Australia/Lord_Howe', '2026-04-04T13:00:00.000Z', 24.5],
  ['Australia/Lord_Howe', '2026-10-03T13:30:00.000Z', 23.5],
  ['Asia/Kathmandu', '2026-03-28T18:15:00.000Z', 24],
  // Midnight does not exist, so the day begins at 01:00.
  ['America/Sao_Paulo', '2018-11-04T03:00:00.000Z', 23],
  ['Asia/Beirut', '2026-03-28T22:00:00.000Z', 23],
  // The hour before midnight comes twice.
  ['America/Sao_Paulo', '2018-02-17T02:00:00.000Z', 25],
  // Clocks went back at 00:01, so a minute of Sunday came before the last hours of Saturday.
  ['America/St_Johns', '2010-11-07T02:30:00.000Z', 25],
  // A date that never was came after it.
  ['Pacific/Apia', '2011-12-29T10:00:00.000Z', 24],
] as const

it.each(CHANGES)('the day before is in %s the whole one from %s, %d hours long', (timeZone, from, hours) => {
  const to = new Date(Date.parse(from) + hours * HOUR_MS)
  const expected = { from, to: to.toISOString(), timeZone }
  expect(dayBefore(to, timeZone)).toEqual(expected)
  expect(dayBefore(new Date(to.getTime() + 12 * HOUR_MS), timeZone)).toEqual(expected)
  expect(dayBefore(new Date(to.getTime() - 1), timeZone).to).toBe(from)
  const week = weekBefore(expected)
  for (const end of ['from', 'to'] as const)
    expect(localDay(Date.parse(week[end]), timeZone)).toBe(localDay(Date.parse(expected[end]), timeZone) - 7)
})

/** Zones with unusual midnights, unusual offsets, and skipped dates. A long run tries all. */
const ZONES = [
  ...[
    'Europe/Berlin',
    'America/Sao_Paulo',
    'Pacific/Apia',
    'America/St_Johns',
    'Africa/Cairo',
    'Asia/Beirut',
  ],
  ...['Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Kiritimati', 'America/New_York', 'UTC'],
].slice(0, countCases(3, 11))
const YEARS = [2011, 2018, 1994, 2010, 2026].slice(0, countCases(2, 5))

/** Yields an instant of each local day of a year. */
function* instantsOf(year: number, zone: string): Generator<Date> {
  const first = Date.UTC(year, 0, 1) / DAY_MS
  for (let day = first; day < first + 366; day++) {
    const [from, to] = [startOfDay(day, zone), startOfDay(day + 1, zone)]
    if (from < to) yield new Date(from + ((day * 7_919_003) % (to - from)))
  }
}

describe('the periods of a kind', () => {
  it.each(ZONES)('tile the years of %s without gap or overlap, and have theirs before them', (zone) => {
    // One assertion for all, because so many calls of `expect` take longer than the periods.
    const wrong: object[] = []
    for (const kind of ['day', 'week', 'month', 'quarter'] as const) {
      for (const year of YEARS) {
        let last: Period | null = null
        for (const at of instantsOf(year, zone)) {
          const period = periodOf(kind, at, zone, NEVER)
          const isBehind = period.from < period.to && period.to <= at.toISOString()
          const isNext = last === null || last.from === period.from || last.to === period.from
          const isBefore = kind === 'day' || priorOf(kind, period).to === period.from
          if (!isBehind || !isNext || !isBefore) wrong.push({ at, period, last })
          last = period
        }
      }
    }
    expect(wrong).toEqual([])
  })

  it.each(ZONES)('tile %s from working day to working day', (zone) => {
    const holidays = ['1994-12-26', '2010-11-08', '2011-12-29', '2018-11-05', '2026-01-01']
    const dateOf = (at: Date): string => new Date(localDay(at.getTime(), zone) * DAY_MS).toISOString()
    const isWorked = (at: Date): boolean =>
      ![0, 6].includes(new Date(dateOf(at)).getUTCDay()) && !holidays.includes(dateOf(at).slice(0, 10))
    const periods = [...instantsOf(YEARS[0] ?? 0, zone)]
      .filter(isWorked)
      .map((at) => periodOf('working_day', at, zone, { holidays, lastEnd: null }))
    expect(new Set(periods.map(({ to }) => to)).size).toBeGreaterThan(250)
    expect(periods.slice(1).map(({ from }) => from)).toEqual(periods.slice(0, -1).map(({ to }) => to))
  })

  const BERLIN = 'Europe/Berlin'
  const CHRISTMAS = ['2026-12-24', '2026-12-25', '2026-12-28', '2026-12-29', '2026-12-30', '2026-12-31']
  const endOf = (date: string) => periodBetween(date, date, BERLIN).to

  it('are the last whole ones, beside those with which they are compared', async () => {
    const asked: readonly (readonly [PeriodKind, string, Partial<PeriodOptions>?])[] = [
      ...['22', '23', '24'].map((day) => ['working_day', `2026-11-${day}T07:00:00Z`] as const),
      ['working_day', '2026-12-29T07:00:00Z', { holidays: ['2026-12-25', '2026-12-28'] }],
      ['working_day', '2027-01-01T07:00:00Z', { holidays: CHRISTMAS }],
      ['week', '2026-11-23T00:00:00+01:00'],
      ['week', '2026-11-29T23:59:59+01:00'],
      ['week', '2026-11-28T12:00:00+01:00', { weekStarts: 'sunday' }],
      ['week', '2026-11-29T00:00:00+01:00', { weekStarts: 'sunday' }],
      ['month', '2026-04-01T07:00:00Z'],
      ['month', '2026-02-28T07:00:00Z'],
      ['quarter', '2026-01-01T07:00:00Z'],
      ['quarter', '2026-03-31T07:00:00Z'],
      ['quarter', '2026-11-27T07:00:00Z'],
      // A day the first time, and again where the last one reaches up to today, so that no period is empty.
      ['since_last', '2026-11-24T07:00:00Z'],
      ['since_last', '2026-11-24T07:00:00Z', { lastEnd: endOf('2026-11-19') }],
      ['since_last', '2026-11-24T07:00:00Z', { lastEnd: endOf('2026-11-24') }],
    ]
    const told = asked.map(([kind, at, options]) => {
      const period = periodOf(kind, new Date(at), BERLIN, { ...NEVER, ...options })
      const prior = priorOf(kind, period)
      const shown = [period, prior].map(({ from, to }) => `${from} to ${to}`)
      return `${kind} at ${at} ${JSON.stringify(options ?? {})}: ${shown.join(', beside ')}\n`
    })
    await expect(told.join('')).toMatchFileSnapshot('golden/periods.txt')
  })

  it('of several days reach from one date up to another, and have as many before them', () => {
    const [from, to] = ['2026-10-23T22:00:00.000Z', '2026-10-25T23:00:00.000Z']
    expect(periodBetween('2026-10-24', '2026-10-26', BERLIN)).toEqual({ from, to, timeZone: BERLIN })
    const week = daysBefore(new Date('2026-10-28T12:00:00Z'), 7, BERLIN)
    expect(week).toEqual(periodBetween('2026-10-21', '2026-10-28', BERLIN))
    expect(periodBefore(week)).toEqual(periodBetween('2026-10-14', '2026-10-21', BERLIN))
  })

  it.each([
    ['2026-11-20', '2026-11-21', 'Europe/Berlin', '2026-11-20'],
    ['2026-11-16', '2026-11-23', 'America/New_York', '2026-11-16--2026-11-22'],
    ['2011-12-29', '2011-12-31', 'Pacific/Apia', '2011-12-29'],
  ])('from %s up to %s in %s have the dates %s', (from, to, zone, dates) => {
    expect(localDates(periodBetween(from, to, zone))).toBe(dates)
  })
})

it.each([
  [null, 'Europe/Berlin', null],
  ['2026-12-24T00:00:00.000Z', 'America/Los_Angeles', '2026-12-24'],
  ['2026-12-24T23:30:00.000Z', 'Europe/Berlin', '2026-12-25'],
  ['2026-12-24T03:00:00.000Z', 'America/Los_Angeles', '2026-12-23'],
])('the day on which a deal is expected to close at %s in %s is %s', (at, zone, day) => {
  expect(expectedCloseDay(at, zone)).toBe(day)
})
