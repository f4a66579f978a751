/** The split of a difference adds up, names planted causes, and rarely names others. */
import { describe, expect, it } from 'vitest'
import { splitDifference } from '../../src/insight/drivers.ts'
import { random } from '../support/random.ts'
import { count } from '../support/reports/daily-numbers.ts'

const SHARES = [0.4, 0.25, 0.2, 0.1, 0.05]
const ROUNDS = 400

/** Splits 3 days with 40 leads each, after 56 usual days. Each member has `times` as many leads as before. */
function rounds(times: (member: number) => number, overdispersion = 1) {
  const next = random(17)
  return Array.from({ length: ROUNDS }, () => {
    const members = SHARES.map((share, index) => ({
      name: String(index),
      before: count(40 * 56 * share, overdispersion, next),
      actual: count(40 * 3 * share * times(index), overdispersion, next),
    }))
    return { members, split: splitDifference(members, 120, overdispersion) }
  })
}

function shareNaming(split: ReturnType<typeof rounds>, member: string): number {
  return split.filter((each) => each.split?.parts.some(({ name }) => name === member)).length / ROUNDS
}

describe('a difference', () => {
  it('is the sum of its parts and the rest, for any members', () => {
    const next = random(5)
    let named = 0
    for (let round = 0; round < 3000; round++) {
      const members = Array.from({ length: 2 + Math.floor(next() * 12) }, (_, index) => ({
        name: String(index),
        before: Math.floor(next() ** 3 * 900),
        actual: Math.floor(next() ** 3 * 90),
      }))
      const expected = next() * 300
      const split = splitDifference(members, expected, 1 + next())
      if (split === null) continue
      named++
      const actual = members.reduce((sum, member) => sum + member.actual, 0)
      const told = split.parts.reduce((sum, { difference }) => sum + difference, 0)
      expect(told + split.rest).toBe(actual - Math.round(expected))
      expect(split.parts.length).toBeLessThanOrEqual(3)
      for (const part of split.parts) {
        expect(Number.isInteger(part.difference)).toBe(true)
        expect(Math.abs(part.difference - (part.actual - part.expected))).toBeLessThan(1 + 1e-9)
      }
    }
    expect(named).toBeGreaterThan(500)
  })

  it('names the member that fell or rose, in 95 of 100', () => {
    expect(
      shareNaming(
        rounds((member) => (member === 0 ? 0.2 : 1)),
        '0',
      ),
    ).toBeGreaterThanOrEqual(0.95)
    expect(
      shareNaming(
        rounds((member) => (member === 1 ? 2.5 : 1)),
        '1',
      ),
    ).toBeGreaterThanOrEqual(0.95)
    expect(
      shareNaming(
        rounds((member) => (member === 0 ? 0.1 : 1), 2),
        '0',
      ),
    ).toBeGreaterThanOrEqual(0.95)
  })

  it('names other members than the planted one in at most 10 of 100', () => {
    const split = rounds((member) => (member === 0 ? 0.2 : 1))
    const wrong = split.filter((each) => each.split?.parts.some(({ name }) => name !== '0'))
    expect(wrong.length / ROUNDS).toBeLessThan(0.1)
  })

  it('names none if all fall or rise alike, in 90 of 100', () => {
    for (const times of [0.6, 1.4]) {
      const named = rounds(() => times).filter((each) => each.split !== null)
      expect(named.length / ROUNDS).toBeLessThan(0.1)
    }
  })

  it('names none without a change', () => {
    const named = rounds(() => 1).filter((each) => each.split !== null)
    expect(named.length / ROUNDS).toBeLessThan(0.05)
  })

  it('needs two members and something before', () => {
    expect(splitDifference([{ name: 'a', actual: 0, before: 90 }], 30, 1)).toBeNull()
    expect(
      splitDifference(
        [
          { name: 'a', actual: 9, before: 0 },
          { name: 'b', actual: 0, before: 0 },
        ],
        30,
        1,
      ),
    ).toBeNull()
  })
})
