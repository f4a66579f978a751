/** The split of a difference adds up, names planted causes, and rarely names others. */
import { describe, expect, it } from 'vitest'
import { chooseSplit, countRecent, splitDifference } from '../../src/insight/drivers.ts'
import { judgeSeries } from '../../src/insight/normal-range.ts'
import { countCases, random } from '../support/random.ts'
import { count, weekdaysOf } from '../support/reports/daily-numbers.ts'

const SHARES = [0.4, 0.25, 0.2, 0.1, 0.05]
const ROUNDS = countCases(100, 400)

/** Splits 3 days with 40 leads each, after 56 normal days. Each member has `times` as many leads as before. */
function rounds(times: (member: number) => number, overdispersion = 1) {
  const next = random(17)
  return Array.from({ length: ROUNDS }, () => {
    const members = SHARES.map((share, index) => ({
      name: String(index),
      before: count(40 * 56 * share, overdispersion, next),
      actual: count(40 * 3 * share * times(index), overdispersion, next),
    }))
    return splitDifference(members, 120, overdispersion)
  })
}

describe('a difference', () => {
  it('is the sum of its parts and the rest, for any members', () => {
    const next = random(5)
    let named = 0
    for (let round = 0; round < 600; round++) {
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
      const namedSum = split.parts.reduce((sum, { difference }) => sum + difference, 0)
      expect(namedSum + split.rest).toBe(actual - Math.round(expected))
      expect(split.parts.length).toBeLessThanOrEqual(3)
      for (const part of split.parts) {
        expect(Number.isInteger(part.difference)).toBe(true)
        expect(Math.abs(part.difference - (part.actual - part.expected))).toBeLessThan(1 + 1e-9)
      }
    }
    expect(named).toBeGreaterThan(100)
  })

  it.each<[string, (member: number) => number, number, string | null, number, number]>([
    ['the member that fell', (member) => (member === 0 ? 0.2 : 1), 1, '0', 0.95, 0.1],
    ['the member that rose', (member) => (member === 1 ? 2.5 : 1), 1, '1', 0.95, 0.1],
    ['it also if they scatter', (member) => (member === 0 ? 0.1 : 1), 2, '0', 0.95, 0.1],
    ['none if all fall alike', () => 0.6, 1, null, 0, 0.1],
    ['none if all rise alike', () => 1.4, 1, null, 0, 0.1],
    ['none without a change', () => 1, 1, null, 0, 0.1],
  ])('names %s', (_, times, overdispersion, member, right, wrong) => {
    const split = rounds(times, overdispersion)
    const shareNaming = (isMeant: (name: string) => boolean) =>
      split.filter((each) => each?.parts.some(({ name }) => isMeant(name))).length / ROUNDS
    expect(shareNaming((name) => name === member)).toBeGreaterThanOrEqual(right)
    expect(shareNaming((name) => name !== member)).toBeLessThan(wrong)
  })

  it('needs two members and something before', () => {
    expect(splitDifference([{ name: 'a', actual: 0, before: 90 }], 30, 1)).toBeNull()
    const none = ['a', 'b'].map((name) => ({ name, actual: 9, before: 0 }))
    expect(splitDifference(none, 30, 1)).toBeNull()
  })

  it('names no member whose share fell while its number rose', () => {
    const members = [
      { name: 'large', actual: 36, before: 900 },
      { name: 'small', actual: 40, before: 300 },
    ]
    expect(splitDifference(members, 20, 1)?.parts.map(({ name }) => name)).toEqual(['small'])
  })
})

describe('the groups of which one is chosen', () => {
  const normal = (perDay: number) => new Array<number>(60).fill(perDay)
  const group = (name: string, ...last: number[][]) => ({
    name,
    members: last.map((values, index) => ({ name: String(index), numbers: [...normal(10), ...values] })),
  })
  const of = { days: 1, recentDays: 1, expected: 20, overdispersion: 1 }

  it('are judged by all recent days, and split the difference of the last one alone', () => {
    const groups = [group('source', [21, 20, 22], [12, 10, 11]), group('country', [16, 15, 16], [17, 15, 17])]
    expect(chooseSplit(groups, of)).toBeNull()
    const split = chooseSplit(groups, { ...of, recentDays: 3 })
    expect(split).toMatchObject({ group: 'source', actual: 33, rest: 1 })
    expect(split?.parts).toEqual([{ name: '0', actual: 22, expected: 10, difference: 12 }])
  })

  it('need a share that is the less likely the more of them are tried', () => {
    const source = group('source', [24], [10])
    const alike = ['country', 'agent', 'pipeline'].map((name) => group(name, [17], [17]))
    expect(chooseSplit([source], { ...of })?.group).toBe('source')
    expect(chooseSplit([source, ...alike], { ...of })).toBeNull()
  })
})

it.each([50, 500_000])('an import of %d from a new source is not blamed on a pipeline', (size) => {
  const days = (numbers: number, last: number) => [...new Array<number>(62).fill(numbers), numbers + last]
  const pipelines = [10, 6, 4].map((each, index) => ({ name: `${index}`, numbers: days(each, size / 3) }))
  const sources = [5, 5, 5, 5].map((each, index) => ({ name: `${index}`, numbers: days(each, 0) }))
  const groups = [
    { name: 'pipeline', members: pipelines },
    { name: 'source', members: [...sources, { name: 'import', numbers: days(0, size) }] },
  ]
  for (const recentDays of [1, 7, 14]) {
    const split = chooseSplit(groups, { days: 7, recentDays, expected: 140, overdispersion: 1 })
    expect(split).toMatchObject({ group: 'source', rest: 0, parts: [{ name: 'import', actual: size }] })
  }
})

const countAfter = (...last: (number | null)[]) => {
  const values = [...Array.from({ length: 100 }, (_, day) => 38 + (day % 5)), ...last]
  return countRecent(judgeSeries({ values, places: weekdaysOf(last), scale: 'week' }).steps, values)
}

it('the recent numbers are those in a row that are off to the same side as the last one', () => {
  expect(countAfter(90, 20, 90, 85, 95)).toBe(3)
  expect(countAfter(90, 20, 15)).toBe(2)
  expect(countAfter(90, 90, 40)).toBe(1)
  expect(countAfter(90, null, 95)).toBe(1)
})
