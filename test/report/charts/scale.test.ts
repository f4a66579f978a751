import { describe, expect, it } from 'vitest'
import { roundTicks } from '../../../src/report/charts/scale.ts'

describe('the ticks of an axis', () => {
  it.each([
    [0, [0, 1, 2]],
    [1, [0, 1, 2]],
    [3, [0, 1, 2, 3]],
    [5, [0, 2, 4, 6]],
    [9, [0, 5, 10]],
    [41, [0, 20, 40, 60]],
    [100, [0, 25, 50, 75, 100]],
    [1000, [0, 250, 500, 750, 1000]],
    [1_000_000_000_000, [0, 250e9, 500e9, 750e9, 1e12]],
  ])('of counts up to %d are %j', (max, ticks) => {
    expect(roundTicks(max)).toEqual(ticks)
  })

  it('are three to five whole numbers, at the same distance, that reach the largest count', () => {
    const counts = Array.from({ length: 3000 }, (_, index) => Math.round(1.011 ** index))
    for (const max of [...Array(3000).keys(), ...counts]) {
      const ticks = roundTicks(max)
      const step = ticks[1] ?? 0
      expect(ticks.length, `${max}`).toBeGreaterThanOrEqual(3)
      expect(ticks.length, `${max}`).toBeLessThanOrEqual(5)
      expect(
        ticks.every((tick, index) => tick === index * step && Number.isInteger(tick)),
        `${max}`,
      ).toBe(true)
      expect(ticks.at(-1), `${max}`).toBeGreaterThanOrEqual(max)
    }
  })
})
