import { describe, expect, it } from 'vitest'
import {
  admit,
  heed,
  hold,
  type RateState,
  UNLIMITED,
  upstreamFreeAt,
} from '../../../src/upstream/client/request-rate.ts'

/** Returns the times at which so many requests may leave that are all ready at `now`. */
function departures(pace: RateState, now: number, count: number, gapMs = 0): number[] {
  const instants: number[] = []
  let state = pace
  for (let request = 0; request < count; request++) {
    const turn = admit(state, now, gapMs)
    instants.push(turn.at)
    state = turn.pace
  }
  return instants
}

describe('the pace of requests', () => {
  it('is free while nothing is known', () => {
    expect(departures(UNLIMITED, 1000, 3)).toEqual([1000, 1000, 1000])
  })

  it('keeps the configured gap, and makes up for none that was not used', () => {
    expect(departures(UNLIMITED, 1000, 3, 250)).toEqual([1000, 1250, 1500])
    const { pace } = admit(UNLIMITED, 1000, 250)
    expect(departures(pace, 9000, 2, 250)).toEqual([9000, 9250])
  })

  it('uses what is left, and then waits for the reset', () => {
    const pace = heed(UNLIMITED, { remaining: 2, resetMs: 500 }, 0, 1000)
    expect(departures(pace, 1000, 4)).toEqual([1000, 1000, 1500, 1500])
  })

  it('counts requests under way as used', () => {
    const pace = heed(UNLIMITED, { remaining: 2, resetMs: 500 }, 2, 1000)
    expect(departures(pace, 1000, 1)).toEqual([1500])
  })

  it('is free again after the reset', () => {
    const pace = heed(UNLIMITED, { remaining: 0, resetMs: 500 }, 0, 1000)
    expect(upstreamFreeAt(pace, 1400)).toBe(1500)
    expect(departures(pace, 1600, 3)).toEqual([1600, 1600, 1600])
  })

  it('holds all requests as long as was asked for, also when a shorter wait is asked for later', () => {
    const pace = hold(hold(UNLIMITED, 3000), 2000)
    expect(departures(pace, 1000, 2)).toEqual([3000, 3000])
  })
})
