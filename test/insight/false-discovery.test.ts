/** Compares the joint judgement of several numbers with the procedure of Benjamini and Hochberg. */
import { describe, expect, it } from 'vitest'
import { findUnusual } from '../../src/insight/false-discovery.ts'
import { random } from '../support/random.ts'

/** Finds the largest k for which k numbers have at most k/n of the share, by trying each. */
function plain(probabilities: readonly number[], share: number): boolean[] {
  const limits = probabilities.map((_, k) => ((k + 1) / probabilities.length) * share)
  const passed = limits.filter(
    (limit, k) => probabilities.filter((probability) => probability <= limit).length >= k + 1,
  )
  const limit = Math.max(-1, ...passed)
  return probabilities.map((probability) => probability <= limit)
}

describe('numbers of one report', () => {
  it('are judged as by Benjamini and Hochberg if all have the same weight', () => {
    const next = random(3)
    let found = 0
    for (let round = 0; round < 200; round++) {
      const probabilities = Array.from({ length: 1 + Math.floor(next() * 20) }, () => next() ** 4)
      const isOfAll = round % 2 === 0
      const numbers = probabilities.map((probability) => ({ probability, isOfAll }))
      const judged = findUnusual(numbers, 0.1)
      expect(judged).toEqual(plain(probabilities, 0.1))
      found += judged.filter(Boolean).length
    }
    expect(found).toBeGreaterThan(200)
  })

  it('have weights with a mean of 1', () => {
    for (const [ofAll, parts] of [
      [1, 11],
      [2, 1],
      [3, 40],
    ] as const) {
      // The largest probability with which a number alone is unusual is its weight times share / n.
      const all = Array.from({ length: ofAll + parts }, (_, index) => index)
      const weightAt = (tested: number) => {
        let [low, high] = [0, 1]
        for (let step = 0; step < 50; step++) {
          const middle = (low + high) / 2
          const probabilityOf = (index: number) => (index === tested ? middle : 1)
          const numbers = all.map((index) => ({ probability: probabilityOf(index), isOfAll: index < ofAll }))
          if (findUnusual(numbers, 0.03)[tested]) low = middle
          else high = middle
        }
        return (low * all.length) / 0.03
      }
      const [weightOfAll, weightOfPart] = [weightAt(0), weightAt(ofAll)]
      expect((ofAll * weightOfAll + parts * weightOfPart) / (ofAll + parts)).toBeCloseTo(1, 9)
      expect(weightOfAll).toBeGreaterThanOrEqual(weightOfPart - 1e-9)
    }
  })

  it('that were not judged are not unusual, and do not count', () => {
    const judged = { probability: 0.03, isOfAll: true }
    const unknown = { probability: null, isOfAll: true }
    expect(findUnusual([unknown, judged, unknown])).toEqual([false, true, false])
    expect(findUnusual([judged, { ...judged, probability: 1 }])).toEqual([false, false])
    expect(findUnusual([])).toEqual([])
  })
})
