import { describe, expect, it } from 'vitest'
import type { PeriodKind } from '../../src/domain/figures.ts'
import type { Period } from '../../src/domain/model.ts'
import type { PeriodOptions } from '../../src/domain/period.ts'
import {
  dayBefore,
  daysBefore,
  expectedCloseDay,
  localDates,
  periodBefore,
  periodBetween,
  periodOf,
  priorOf,
  weekBefore,
} from '../../src/domain/period.ts'
import { localDay, startOfDay } from '../../src/schedule/zone.ts'

const HOUR_MS = 3_600_000

/** Days on which the clocks of a zone change, with their length. */
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
  // Midnight does not exist, so the day begins at 01:00.
  { zone: 'America/Sao_Paulo', date: '2018-11-04', from: '2018-11-04T03:00:00.000Z', hours: 23 },
  { zone: 'Africa/Cairo', date: '2026-04-24', from: '2026-04-23T22:00:00.000Z', hours: 23 },
  { zone: 'Asia/Beirut', date: '2026-03-29', from: '2026-03-28T22:00:00.000Z', hours: 23 },
  // The hour before midnight comes twice.
  { zone: 'America/Sao_Paulo', date: '2018-02-17', from: '2018-02-17T02:00:00.000Z', hours: 25 },
  // Clocks went back at 00:01, so a minute of Sunday came before the last hours of Saturday.
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

const DAY_MS = 86_400_000
const NEVER: PeriodOptions = { holidays: [], lastEnd: null }

/** Zones with unusual midnights, unusual offsets, and skipped dates. */
const ODD_ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Africa/Cairo',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
]

const YEARS = [1994, 2010, 2011, 2018, 2026]

/** Yields an instant of each local day of a year. */
function* instantsOf(year: number, zone: string): Generator<Date> {
  const first = Date.UTC(year, 0, 1) / DAY_MS
  for (let day = first; day < first + 366; day++) {
    const [from, to] = [startOfDay(day, zone), startOfDay(day + 1, zone)]
    if (from < to) yield new Date(from + ((day * 7_919_003) % (to - from)))
  }
}

function berlin(from: string, to: string): Period {
  return periodBetween(from, to, 'Europe/Berlin')
}

function berlinPeriod(kind: PeriodKind, at: string, options: Partial<PeriodOptions> = {}): Period {
  return periodOf(kind, new Date(at), 'Europe/Berlin', { ...NEVER, ...options })
}

describe('the periods of a kind', () => {
  it.each(ODD_ZONES)('tile the years of %s without gap or overlap', (zone) => {
    // One assertion for all, because so many calls of `expect` take longer than the periods.
    const wrong: object[] = []
    for (const kind of ['day', 'week', 'month', 'quarter'] as const) {
      for (const year of YEARS) {
        let last: Period | null = null
        for (const at of instantsOf(year, zone)) {
          const period = periodOf(kind, at, zone, NEVER)
          const isBehind = period.from < period.to && period.to <= at.toISOString()
          const isNext = last === null || last.from === period.from || last.to === period.from
          if (!isBehind || !isNext) wrong.push({ at, period, last })
          last = period
        }
      }
    }
    expect(wrong).toEqual([])
  })

  it.each(ODD_ZONES)('tile %s from working day to working day', (zone) => {
    const holidays = ['1994-12-26', '2010-11-08', '2011-12-29', '2018-11-05', '2026-01-01']
    const dateOf = (at: Date): string => new Date(localDay(at.getTime(), zone) * DAY_MS).toISOString()
    const isWorked = (at: Date): boolean =>
      ![0, 6].includes(new Date(dateOf(at)).getUTCDay()) && !holidays.includes(dateOf(at).slice(0, 10))
    for (const year of YEARS) {
      const ends = new Set<string>()
      let last: Period | null = null
      for (const at of instantsOf(year, zone)) {
        if (!isWorked(at)) continue
        const period = periodOf('working_day', at, zone, { holidays, lastEnd: null })
        if (last !== null) expect(period.from).toBe(last.to)
        last = period
        ends.add(period.to)
      }
      expect(ends.size).toBeGreaterThan(250)
    }
  })
})

describe('a working day', () => {
  it('covers the weekend on a Monday, and one day on the others', () => {
    expect(berlinPeriod('working_day', '2026-11-23T07:00:00Z')).toEqual(berlin('2026-11-20', '2026-11-23'))
    expect(berlinPeriod('working_day', '2026-11-24T07:00:00Z')).toEqual(berlin('2026-11-23', '2026-11-24'))
    expect(berlinPeriod('working_day', '2026-11-22T07:00:00Z')).toEqual(berlin('2026-11-20', '2026-11-22'))
  })

  it('covers holidays too, and is compared with the same weekdays of a week that it does not reach into', () => {
    const holidays = ['2026-12-24', '2026-12-25', '2026-12-28', '2026-12-29', '2026-12-30', '2026-12-31']
    const tuesday = berlinPeriod('working_day', '2026-12-29T07:00:00Z', {
      holidays: ['2026-12-25', '2026-12-28'],
    })
    expect(tuesday).toEqual(berlin('2026-12-24', '2026-12-29'))
    expect(priorOf('working_day', tuesday)).toEqual(berlin('2026-12-17', '2026-12-22'))
    const newYear = berlinPeriod('working_day', '2027-01-01T07:00:00Z', { holidays })
    expect(newYear).toEqual(berlin('2026-12-23', '2027-01-01'))
    expect(priorOf('working_day', newYear)).toEqual(berlin('2026-12-09', '2026-12-18'))
  })
})

describe('a week, a month and a quarter', () => {
  it.each([
    ['2026-11-28T12:00:00+01:00', '2026-11-15', '2026-11-22'],
    ['2026-11-29T00:00:00+01:00', '2026-11-22', '2026-11-29'],
    ['2026-11-30T12:00:00+01:00', '2026-11-22', '2026-11-29'],
  ])('may begin on Sunday: at %s the last is that of %s', (at, from, to) => {
    const week = berlinPeriod('week', at, { weekStarts: 'sunday' })
    expect(week).toEqual(berlin(from, to))
  })

  it.each([
    ['2026-01-01T07:00:00Z', '2025-10-01', '2026-01-01', '2025-07-01'],
    ['2026-03-31T07:00:00Z', '2025-10-01', '2026-01-01', '2025-07-01'],
    ['2026-11-27T07:00:00Z', '2026-07-01', '2026-10-01', '2026-04-01'],
  ])('begin in January, April, July and October: at %s the last is that of %s', (at, from, to, before) => {
    const quarter = berlinPeriod('quarter', at)
    expect(quarter).toEqual(berlin(from, to))
    expect(priorOf('quarter', quarter)).toEqual(berlin(before, from))
  })

  it('are the last whole ones, beside the ones before them', () => {
    for (const at of ['2026-11-23T00:00:00+01:00', '2026-11-29T23:59:59+01:00']) {
      const week = berlinPeriod('week', at)
      expect(week).toEqual(berlin('2026-11-16', '2026-11-23'))
      expect(priorOf('week', week)).toEqual(berlin('2026-11-09', '2026-11-16'))
    }
    const march = berlinPeriod('month', '2026-04-01T07:00:00Z')
    expect(march).toEqual(berlin('2026-03-01', '2026-04-01'))
    expect(priorOf('month', march)).toEqual(berlin('2026-02-01', '2026-03-01'))
    expect(priorOf('month', berlinPeriod('month', '2026-02-28T07:00:00Z'))).toEqual(
      berlin('2025-12-01', '2026-01-01'),
    )
  })

  it('are compared with what lies just before them in every zone', () => {
    for (const zone of ODD_ZONES) {
      for (const at of instantsOf(2011, zone)) {
        for (const kind of ['week', 'month', 'quarter', 'since_last'] as const) {
          const period = periodOf(kind, at, zone, NEVER)
          expect(priorOf(kind, period).to).toBe(period.from)
        }
      }
    }
  })
})

describe('since the last issue', () => {
  it('is a day the first time, and then what no issue has covered, beside as many days before', () => {
    const at = '2026-11-24T07:00:00Z'
    expect(berlinPeriod('since_last', at)).toEqual(berlin('2026-11-23', '2026-11-24'))
    const since = berlinPeriod('since_last', at, { lastEnd: berlin('2026-11-18', '2026-11-19').to })
    expect(since).toEqual(berlin('2026-11-19', '2026-11-24'))
    expect(priorOf('since_last', since)).toEqual(berlin('2026-11-14', '2026-11-19'))
  })

  it('is a day again where the last one reaches up to today, so that no period is empty', () => {
    const lastEnd = berlin('2026-11-23', '2026-11-24').to
    expect(berlinPeriod('since_last', '2026-11-24T07:00:00Z', { lastEnd })).toEqual(
      berlin('2026-11-23', '2026-11-24'),
    )
  })
})

describe('the day on which a deal is expected to close', () => {
  it.each([
    [null, 'Europe/Berlin', null],
    ['2026-12-24T00:00:00.000Z', 'America/Los_Angeles', '2026-12-24'],
    ['2026-12-24T00:00:00.000Z', 'Asia/Tokyo', '2026-12-24'],
    ['2026-12-24T23:30:00.000Z', 'Europe/Berlin', '2026-12-25'],
    ['2026-12-24T03:00:00.000Z', 'America/Los_Angeles', '2026-12-23'],
  ])('%s in %s is %s', (at, zone, day) => {
    expect(expectedCloseDay(at, zone)).toBe(day)
  })
})
