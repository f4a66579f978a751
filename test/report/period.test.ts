import { describe, expect, it } from 'vitest'
import {
  dayBefore,
  daysBefore,
  localDates,
  periodBefore,
  periodBetween,
  weekBefore,
} from '../../src/report/period.ts'
import { localDay } from '../../src/schedule/zone.ts'

const HOUR_MS = 3_600_000

/** A day on which the clocks of the zone change, and how long it is. */
const CHANGES = [
  { zone: 'Europe/Berlin', date: '2026-03-29', from: '2026-03-28T23:00:00.000Z', hours: 23 },
  { zone: 'Europe/Berlin', date: '2026-10-25', from: '2026-10-24T22:00:00.000Z', hours: 25 },
  { zone: 'Europe/London', date: '2026-03-29', from: '2026-03-29T00:00:00.000Z', hours: 23 },
  { zone: 'Europe/London', date: '2026-10-25', from: '2026-10-24T23:00:00.000Z', hours: 25 },
  { zone: 'America/New_York', date: '2026-03-08', from: '2026-03-08T05:00:00.000Z', hours: 23 },
  { zone: 'America/New_York', date: '2026-11-01', from: '2026-11-01T04:00:00.000Z', hours: 25 },
  { zone: 'America/St_Johns', date: '2026-03-08', from: '2026-03-08T03:30:00.000Z', hours: 23 },
  { zone: 'Australia/Lord_Howe', date: '2026-04-05', from: '2026-04-04T13:00:00.000Z', hours: 24.5 },
  { zone: 'Australia/Lord_Howe', date: '2026-10-04', from: '2026-10-03T13:30:00.000Z', hours: 23.5 },
  { zone: 'Pacific/Auckland', date: '2026-09-27', from: '2026-09-26T12:00:00.000Z', hours: 23 },
  { zone: 'Asia/Kathmandu', date: '2026-03-29', from: '2026-03-28T18:15:00.000Z', hours: 24 },
  { zone: 'UTC', date: '2026-03-29', from: '2026-03-29T00:00:00.000Z', hours: 24 },
  // Midnight does not exist: the day begins at 01:00.
  { zone: 'America/Sao_Paulo', date: '2018-11-04', from: '2018-11-04T03:00:00.000Z', hours: 23 },
  { zone: 'Africa/Cairo', date: '2026-04-24', from: '2026-04-23T22:00:00.000Z', hours: 23 },
  { zone: 'Asia/Beirut', date: '2026-03-29', from: '2026-03-28T22:00:00.000Z', hours: 23 },
  // The hour before midnight comes twice.
  { zone: 'America/Sao_Paulo', date: '2018-02-17', from: '2018-02-17T02:00:00.000Z', hours: 25 },
  // Clocks went back at 00:01, so that a minute of Sunday came before the second last hour of Saturday.
  { zone: 'America/St_Johns', date: '2010-11-07', from: '2010-11-07T02:30:00.000Z', hours: 25 },
]

const ZONES = [...new Set(CHANGES.map((change) => change.zone))]

describe('the day before', () => {
  it.each(CHANGES)('is the whole of $date in $zone, $hours hours long', ({ zone, from, hours }) => {
    const to = new Date(Date.parse(from) + hours * HOUR_MS)
    const expected = { from, to: to.toISOString(), timeZone: zone }
    expect(dayBefore(to, zone)).toEqual(expected)
    expect(dayBefore(new Date(to.getTime() + 12 * HOUR_MS), zone)).toEqual(expected)
    expect(dayBefore(new Date(to.getTime() - 1), zone).to).toBe(from)
  })

  it('leaves out a date that never was', () => {
    const samoa = dayBefore(new Date('2011-12-30T20:00:00Z'), 'Pacific/Apia')
    expect(samoa).toEqual({
      from: '2011-12-29T10:00:00.000Z',
      to: '2011-12-30T10:00:00.000Z',
      timeZone: 'Pacific/Apia',
    })
  })

  it.each(ZONES)('tiles three years of %s without gap or overlap', (zone) => {
    let at = Date.parse('2025-01-01T12:00:00Z')
    let last = dayBefore(new Date(at), zone)
    for (let day = 0; day < 3 * 365; day++) {
      at += 24 * HOUR_MS
      const next = dayBefore(new Date(at), zone)
      expect(next.from).toBe(last.to)
      expect(next.from < next.to).toBe(true)
      last = next
    }
  })
})

describe('the week before', () => {
  it.each(CHANGES.filter((change) => change.date > '2020'))(
    'is seven dates back from $date in $zone',
    (change) => {
      const day = dayBefore(new Date(Date.parse(change.from) + change.hours * HOUR_MS), change.zone)
      const week = weekBefore(day)
      expect(localDay(Date.parse(week.from), change.zone)).toBe(
        localDay(Date.parse(day.from), change.zone) - 7,
      )
      expect(localDay(Date.parse(week.to), change.zone)).toBe(localDay(Date.parse(day.to), change.zone) - 7)
    },
  )

  it('keeps local midnights when a clock changed in between', () => {
    const day = dayBefore(new Date('2026-03-31T08:00:00Z'), 'Europe/Berlin')
    expect(day.from).toBe('2026-03-29T22:00:00.000Z')
    expect(weekBefore(day).from).toBe('2026-03-22T23:00:00.000Z')
  })
})

describe('periods of several days', () => {
  it('reach from the beginning of one date up to that of another, also where clocks change between', () => {
    expect(periodBetween('2026-10-24', '2026-10-26', 'Europe/Berlin')).toEqual({
      from: '2026-10-23T22:00:00.000Z',
      to: '2026-10-25T23:00:00.000Z',
      timeZone: 'Europe/Berlin',
    })
  })

  it('are the last whole days, and before them as many', () => {
    const week = daysBefore(new Date('2026-10-28T12:00:00Z'), 7, 'Europe/Berlin')
    expect(week).toEqual(periodBetween('2026-10-21', '2026-10-28', 'Europe/Berlin'))
    expect(periodBefore(week)).toEqual(periodBetween('2026-10-14', '2026-10-21', 'Europe/Berlin'))
  })
})

describe('the dates of a period', () => {
  it.each([
    ['2026-11-20', '2026-11-21', 'Europe/Berlin', '2026-11-20'],
    ['2026-11-16', '2026-11-23', 'America/New_York', '2026-11-16--2026-11-22'],
    ['2026-03-29', '2026-03-30', 'Europe/Berlin', '2026-03-29'],
    ['2011-12-29', '2011-12-31', 'Pacific/Apia', '2011-12-29'],
  ])('from %s up to %s in %s are %s', (from, to, zone, dates) => {
    expect(localDates(periodBetween(from, to, zone))).toBe(dates)
  })
})
