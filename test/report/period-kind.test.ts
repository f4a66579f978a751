import { describe, expect, it } from 'vitest'
import type { PeriodKind } from '../../src/figures.ts'
import type { Period } from '../../src/model.ts'
import { type PeriodOptions, periodBetween, periodOf, periodsUpTo, priorOf } from '../../src/report/period.ts'
import { localDay, startOfDay } from '../../src/schedule/zone.ts'

const DAY_MS = 86_400_000
const NEVER: PeriodOptions = { holidays: [], lastEnd: null }

/** Zones with odd midnights, odd offsets, and dates that they left out. */
const ZONES = [
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

/** Some instant of each local day of a year. */
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
  it.each(ZONES)('tile the years of %s without gap or overlap', (zone) => {
    for (const kind of ['day', 'week', 'month'] as const) {
      for (const year of YEARS) {
        let last: Period | null = null
        for (const at of instantsOf(year, zone)) {
          const period = periodOf(kind, at, zone, NEVER)
          expect(period.from < period.to).toBe(true)
          expect(period.to <= at.toISOString()).toBe(true)
          if (last !== null && last.from !== period.from) expect(period.from).toBe(last.to)
          last = period
        }
      }
    }
  })

  it.each(ZONES)('tile %s from working day to working day', (zone) => {
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

  it.each(ZONES)('end, as many as a sparkline shows, with the period itself in %s', (zone) => {
    const counts = { day: 14, week: 12, month: 12 } as const
    for (const year of YEARS) {
      for (const [index, at] of [...instantsOf(year, zone)].entries()) {
        if (index % 31 !== 0) continue
        for (const kind of ['day', 'week', 'month'] as const) {
          const period = periodOf(kind, at, zone, NEVER)
          const periods = periodsUpTo(kind, period)
          expect(periods).toHaveLength(counts[kind])
          expect(periods.at(-1)).toEqual(period)
          for (const [place, each] of periods.slice(1).entries()) expect(each.from).toBe(periods[place]?.to)
        }
      }
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

describe('a week and a month', () => {
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
    for (const zone of ZONES) {
      for (const at of instantsOf(2011, zone)) {
        for (const kind of ['week', 'month', 'since_last'] as const) {
          const period = periodOf(kind, at, zone, NEVER)
          expect(priorOf(kind, period).to).toBe(period.from)
        }
      }
    }
  })
})

describe('since the last edition', () => {
  it('is a day the first time, and then what no edition has covered, beside as many days before', () => {
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
