import { describe, expect, it } from 'vitest'
import { BACKOFF, backoffMs, ladderWaitMs, longestWaitMs, retryAfterMs, wait } from '../src/retry.ts'

const NOW = new Date('2026-11-21T06:00:00Z')

describe('Retry-After', () => {
  it.each([
    ['2', 2000],
    [' 120 ', 120_000],
    ['0.5', 500],
    ['Sat, 21 Nov 2026 06:01:00 GMT', 60_000],
    ['Saturday, 21-Nov-26 06:01:00 GMT', 60_000],
  ])('%j is a wait of %i ms', (header, ms) => {
    expect(retryAfterMs(header, NOW)).toBe(ms)
  })

  it.each([
    null,
    '',
    '0',
    '-5',
    'soon',
    '2026-11-21T06:01:00Z',
    '1e3',
    'Sat, 21 Nov 2026 05:59:00 GMT',
    'Sat, 99 Nov 2026 05:59:00 GMT',
  ])('%j is none', (header) => {
    expect(retryAfterMs(header, NOW)).toBeNull()
  })
})

const backoff = { attempts: 5, baseMs: 500, maxMs: 20_000 }

it('a backoff is anything from nothing to the doubled base, and no more than its greatest', () => {
  expect([1, 2, 3, 9].map((attempt) => backoffMs(backoff, attempt, 0))).toEqual([0, 0, 0, 0])
  expect([1, 2, 3, 9].map((attempt) => backoffMs(backoff, attempt, 0.5))).toEqual([250, 500, 1000, 10_000])
})

describe('a ladder of waits', () => {
  const minutes = (failures: number, random: number) =>
    (ladderWaitMs(BACKOFF.message, failures, random) ?? 0) / 60_000

  it('goes up step by step, a fifth shorter or longer, and repeats its last wait', () => {
    expect([1, 2, 3, 4, 5, 9].map((failures) => minutes(failures, 0.5))).toEqual([1, 5, 15, 60, 60, 60])
    expect([minutes(4, 0), minutes(4, 1)]).toEqual([48, 72])
    expect(longestWaitMs(BACKOFF.message)).toBe(72 * 60_000)
  })

  it('ends after its last wait where the work is given up', () => {
    expect([1, 2, 3, 4].map((attempt) => ladderWaitMs(BACKOFF.scheduledRun, attempt, 0))).toEqual([
      ...[300_000, 900_000, 3_600_000],
      null,
    ])
  })
})

describe('waiting', () => {
  it('is never shorter than told', async () => {
    for (let round = 0; round < 30; round++) {
      const began = performance.now()
      await wait(3, new AbortController().signal)
      expect(performance.now() - began).toBeGreaterThanOrEqual(3)
    }
  })

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController()
    const waiting = wait(3_000_000_000, stop.signal)
    stop.abort(new Error('told to stop'))
    await expect(waiting).rejects.toThrow('told to stop')
    await expect(wait(0, stop.signal)).rejects.toThrow('told to stop')
  })
})
