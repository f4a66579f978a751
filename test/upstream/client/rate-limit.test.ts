import { describe, expect, it } from 'vitest'
import {
  budgetOf,
  createRequestRate,
  isThrottled,
  readBudget,
  wantedWaitMs,
} from '../../../src/upstream/client/rate-limit.ts'

/** Opens a rate limit on a clock that the test sets. */
function openRate(gapMs = 0) {
  const clock = { now: 1000 }
  const rate = createRequestRate(() => clock.now)
  return {
    clock,
    rate,
    /** Returns the times at which so many requests may leave that are all ready now. */
    departures: (count: number) =>
      Array.from({ length: count }, () => clock.now + rate.takeRequest(gapMs, 60_000).inMs),
    /** Lets an answer say how many requests are left, while so many others have no answer yet. */
    answer(remaining: number, others = 0): void {
      for (let request = 0; request <= others; request++) rate.takeRequest(0, 60_000)
      rate.endRequest({ remaining, resetMs: 500 })
    },
  }
}

describe('the rate of requests', () => {
  it('is free while nothing is known', () => {
    expect(openRate().departures(3)).toEqual([1000, 1000, 1000])
  })

  it('keeps the configured gap, and makes up for none that was not used', () => {
    const { clock, departures } = openRate(250)
    expect(departures(3)).toEqual([1000, 1250, 1500])
    clock.now = 9000
    expect(departures(2)).toEqual([9000, 9250])
  })

  it('uses what is left, and then waits for the reset', () => {
    const { answer, departures } = openRate()
    answer(2)
    expect(departures(4)).toEqual([1000, 1000, 1500, 1500])
  })

  it('counts requests under way as used', () => {
    const { answer, departures } = openRate()
    answer(2, 2)
    expect(departures(1)).toEqual([1500])
  })

  it('is free again after the reset', () => {
    const { clock, answer, departures, rate } = openRate()
    answer(0)
    clock.now = 1400
    expect(rate.takeRequest(0, 99)).toEqual({ isTaken: false, inMs: 100 })
    clock.now = 1600
    expect(departures(3)).toEqual([1600, 1600, 1600])
  })

  it('holds all requests as long as was asked for, also when a shorter wait is asked for later', () => {
    const { rate, departures } = openRate()
    rate.block(2000)
    rate.block(1000)
    expect(departures(2)).toEqual([3000, 3000])
  })
})

const NOW = new Date('2026-11-21T06:00:00Z')
const EPOCH_S = NOW.getTime() / 1000

describe('the budget that headers tell of', () => {
  it.each([
    ['the drafts up to 7', { 'ratelimit-remaining': '3', 'ratelimit-reset': '30' }, 3, 30_000],
    ['one header', { ratelimit: 'limit=100, remaining=0, reset=5' }, 0, 5000],
    ['policies', { ratelimit: '"burst";r=90;t=1, "daily";r=7;t=600' }, 7, 600_000],
    ['seconds', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '12' }, 0, 12_000],
    ['an epoch', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': `${EPOCH_S + 60}` }, 1, 60_000],
    ['milliseconds', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': `${EPOCH_S}500` }, 1, 500],
    ['microseconds', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': `${EPOCH_S}500000` }, 1, 500],
    ['nanoseconds', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': `${EPOCH_S}500000000` }, 1, 500],
    ['a fraction', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': `${EPOCH_S + 1}.5` }, 1, 1500],
    ['milliseconds from now', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '59000' }, 1, 59_000],
    ['a day in a standard', { 'ratelimit-remaining': '1', 'ratelimit-reset': '86400' }, 1, 86_400_000],
    ['more than a day', { 'ratelimit-remaining': '1', 'ratelimit-reset': '90000' }, 1, 90_000],
    ['a time of Go', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '1m30.5s' }, 1, 90_500],
    ['milliseconds of Go', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '20ms' }, 1, 20],
    [
      'a date of HTTP',
      { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': 'Sat, 21 Nov 2026 06:00:09 GMT' },
      1,
      9000,
    ],
    [
      'a date of JavaScript',
      {
        'x-ratelimit-remaining': '1',
        'x-ratelimit-reset': 'Sat Nov 21 2026 06:00:09 GMT+0000 (Coordinated Universal Time)',
      },
      1,
      9000,
    ],
    ['a date', { 'x-rate-limit-remaining': '1', 'x-rate-limit-reset': '2026-11-21T06:00:09Z' }, 1, 9000],
    [
      'the least of several',
      {
        'x-ratelimit-remaining': '50',
        'x-ratelimit-reset': '9',
        'ratelimit-remaining': '2',
        'ratelimit-reset': '40',
      },
      2,
      40_000,
    ],
  ])('is read from %s', (_form, headers, remaining, resetMs) => {
    expect(readBudget(headers, NOW)).toEqual({ remaining, resetMs })
  })

  it('is meant by the upstream’s own clock where it shows one', () => {
    const headers = {
      date: 'Sat, 21 Nov 2026 07:00:00 GMT',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': `${EPOCH_S + 3660}`,
    }
    expect(readBudget(headers, NOW)).toEqual({ remaining: 0, resetMs: 60_000 })
  })

  it.each([
    ['nothing', {}],
    ['no reset', { 'x-ratelimit-remaining': '3' }],
    ['a reset that is past', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${EPOCH_S - 5}` }],
    ['a reset below zero', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '-5' }],
    ['a reset of zero', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '0' }],
    ['nonsense', { 'ratelimit-remaining': 'few', 'ratelimit-reset': 'soon' }],
  ])('is unknown from %s', (_form, headers) => {
    expect(readBudget(headers, NOW)).toBeNull()
  })
})

describe('a wait up to a reset', () => {
  const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' }

  it.each([200, 404, 503])('that an answer %d does not ask for is one of minutes', (status) => {
    expect(budgetOf(status, spent, NOW)).toEqual({ remaining: 0, resetMs: 5 * 60_000 })
    const near = { ...spent, 'x-ratelimit-reset': '20' }
    expect(budgetOf(status, near, NOW)).toEqual({ remaining: 0, resetMs: 20_000 })
  })

  it('that an answer asks for is as long as it says', () => {
    const tomorrow = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${EPOCH_S + 86_400}` }
    for (const status of [403, 420, 429]) {
      expect(budgetOf(status, tomorrow, NOW)).toEqual({ remaining: 0, resetMs: 86_400_000 })
      expect(wantedWaitMs(status, tomorrow, NOW)).toBe(86_400_000)
    }
  })
})

describe('being told off', () => {
  it('is 429, or 403 with a limit that is used up or a wait', () => {
    expect(isThrottled(429, {}, NOW)).toBe(true)
    expect(isThrottled(403, { 'retry-after': '5' }, NOW)).toBe(true)
    expect(isThrottled(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '5' }, NOW)).toBe(true)
    expect(isThrottled(403, { 'x-ratelimit-remaining': '9', 'x-ratelimit-reset': '5' }, NOW)).toBe(false)
    expect(isThrottled(403, {}, NOW)).toBe(false)
    expect(isThrottled(503, { 'retry-after': '5' }, NOW)).toBe(false)
  })

  it('asks for the wait of Retry-After, else up to the reset', () => {
    expect(wantedWaitMs(429, { 'retry-after': '5', 'x-ratelimit-reset': '60' }, NOW)).toBe(5000)
    expect(wantedWaitMs(429, { 'x-ratelimit-reset': `${EPOCH_S + 60}` }, NOW)).toBe(60_000)
    expect(wantedWaitMs(503, { 'retry-after': '5' }, NOW)).toBe(5000)
    expect(wantedWaitMs(503, { 'x-ratelimit-reset': '60' }, NOW)).toBeNull()
    expect(wantedWaitMs(429, {}, NOW)).toBeNull()
  })
})
