import { describe, expect, it } from 'vitest'
import { createRequestRate, isThrottled, wantedWaitMs } from '../../../src/upstream/client/rate-limit.ts'

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
  }
}

describe('the rate of requests', () => {
  it('keeps the configured gap, and makes up for none that was not used', () => {
    const { clock, departures } = openRate(250)
    expect(departures(3)).toEqual([1000, 1250, 1500])
    clock.now = 9000
    expect(departures(2)).toEqual([9000, 9250])
  })

  it('reserves nothing if the upstream asks for a longer wait than a run may take', () => {
    const { rate, departures } = openRate()
    rate.block(100)
    expect(rate.takeRequest(0, 99)).toEqual({ isTaken: false, inMs: 100 })
    expect(departures(1)).toEqual([1100])
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

it.each([
  ['the drafts up to 7', { 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }, 30_000],
  ['one header', { ratelimit: 'limit=100, remaining=0, reset=5' }, 5000],
  ['policies', { ratelimit: '"burst";r=90;t=1, "daily";r=0;t=600' }, 600_000],
  ['seconds', { 'x-ratelimit-reset': '12' }, 12_000],
  ['an epoch', { 'x-ratelimit-reset': `${EPOCH_S + 60}` }, 60_000],
  ['milliseconds', { 'x-ratelimit-reset': `${EPOCH_S}500` }, 500],
  ['nanoseconds', { 'x-ratelimit-reset': `${EPOCH_S}500000000` }, 500],
  ['a fraction', { 'x-ratelimit-reset': `${EPOCH_S + 1}.5` }, 1500],
  ['milliseconds from now', { 'x-ratelimit-reset': '59000' }, 59_000],
  ['a day in a standard', { 'ratelimit-reset': '86400' }, 86_400_000],
  ['more than a day', { 'ratelimit-reset': '90000' }, 90_000],
  ['a date of HTTP', { 'x-ratelimit-reset': 'Sat, 21 Nov 2026 06:00:09 GMT' }, 9000],
  ['a date', { 'x-rate-limit-reset': '2026-11-21T06:00:09Z' }, 9000],
  [
    'the upstream’s own clock where it shows one',
    { date: 'Sat, 21 Nov 2026 07:00:00 GMT', 'x-ratelimit-reset': `${EPOCH_S + 3660}` },
    60_000,
  ],
  [
    'a wait until a date, by that clock',
    { date: 'Fri, 20 Nov 2026 08:30:00 GMT', 'retry-after': 'Fri, 20 Nov 2026 08:30:07 GMT' },
    7000,
  ],
  ['nothing', {}, null],
  ['a reset that is past', { 'x-ratelimit-reset': `${EPOCH_S - 5}` }, null],
  ['a reset below zero', { 'x-ratelimit-reset': '-5' }, null],
  ['a reset of zero', { 'x-ratelimit-reset': '0' }, null],
  ['nonsense', { 'ratelimit-reset': 'soon' }, null],
  ['no wait', { 'retry-after': '0' }, null],
  ['a wait below zero', { 'retry-after': '-5' }, null],
  ['an empty wait', { 'retry-after': '' }, null],
  ['a wait until a time that is past', { 'retry-after': 'Fri, 20 Nov 2026 08:30:00 GMT' }, null],
])('the reset of a limit that is used up is read from %s, or is unknown', (_form, headers, resetMs) => {
  expect(wantedWaitMs(429, headers, NOW)).toBe(resetMs)
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
    expect(wantedWaitMs(503, { 'retry-after': '5' }, NOW)).toBe(5000)
    expect(wantedWaitMs(503, { 'x-ratelimit-reset': '60' }, NOW)).toBeNull()
  })
})
