/** The origin of the difference of a rate: the mix of groups apart from the rates within them. */
import { describe, expect, it } from 'vitest'
import { chooseRateSplit, type RateMember, splitRate } from '../../src/insight/rate-drivers.ts'
import { random } from '../support/random.ts'

const member = (name: string, before: [number, number], now: [number, number]): RateMember => ({
  name,
  before: { hits: before[0], of: before[1] },
  now: { hits: now[0], of: now[1] },
})

describe('the difference of a rate', () => {
  it('is of the mix alone if each group wins as before', () => {
    const split = splitRate([member('web', [80, 100], [16, 20]), member('fair', [20, 100], [36, 180])])
    expect(split).toMatchObject({ difference: -240, mix: -240, named: [], rest: 0 })
  })

  it('is of the group whose rate fell, if the mix stayed', () => {
    const split = splitRate([member('web', [400, 1000], [80, 400]), member('fair', [300, 1000], [120, 400])])
    expect(split).toMatchObject({ difference: -100, mix: 0, named: [{ name: 'web', within: -100 }], rest: 0 })
  })

  it('is of no group if the rates of all fell alike', () => {
    const groups = [member('web', [500, 1000], [160, 400]), member('fair', [200, 1000], [57, 400])]
    expect(splitRate(groups)).toMatchObject({ difference: -79, mix: 0, named: [], rest: -79 })
  })

  it('names several groups that fell apart from the others, the largest part first', () => {
    const others = ['a', 'b', 'c'].map((name) => member(name, [300, 1000], [121, 400]))
    const fell = [member('web', [450, 1500], [60, 600]), member('fair', [300, 1000], [38, 400])]
    expect(splitRate([...others, ...fell])?.named.map(({ name }) => name)).toEqual(['web', 'fair'])
  })

  it('can fall although every group wins more', () => {
    const split = splitRate([member('web', [80, 100], [17, 20]), member('fair', [20, 100], [40, 180])])
    expect(split?.difference).toBeLessThan(0)
    expect(split?.mix).toBeLessThan(split?.difference ?? 0)
    expect(split?.rest).toBeGreaterThan(0)
  })

  it('counts a new group as a change of the mix', () => {
    const split = splitRate([member('web', [50, 100], [50, 100]), member('fair', [0, 0], [0, 100])])
    expect(split).toMatchObject({ difference: -250, mix: -250, named: [], rest: 0 })
  })

  it('is unknown without a case at one of the times', () => {
    expect(splitRate([member('web', [0, 0], [5, 10])])).toBeNull()
    expect(splitRate([])).toBeNull()
  })

  it('is the sum of its parts in whole tenths of a point, and names next to nothing by chance', () => {
    const next = random(11)
    const cases = (of: number) => Array.from({ length: of }, next).filter((each) => each < 0.3).length
    let named = 0
    for (let round = 0; round < 1000; round++) {
      const split = splitRate(
        Array.from({ length: 5 }, (_, index) => {
          const [before, now] = [40 + Math.floor(next() * 300), 10 + Math.floor(next() * 60)]
          return member(String(index), [cases(before), before], [cases(now), now])
        }),
      )
      if (split === null) throw new Error('no split')
      const parts = [split.difference, split.mix, split.rest, ...split.named.map(({ within }) => within)]
      expect(parts.every(Number.isInteger)).toBe(true)
      const namedSum = split.named.reduce((sum, { within }) => sum + within, 0)
      expect(split.mix + namedSum + split.rest).toBe(split.difference)
      named += split.named.length > 0 ? 1 : 0
    }
    expect(named).toBeLessThan(20)
  })
})

describe('the origin of an unusual rate', () => {
  const split = (from: [number, number], now: [number, number]) => [
    member('one', from, now),
    member('other', [300, 1000], [120, 400]),
  ]

  it('is of the dimension in which a group stands out most', () => {
    const dimensions = [
      { name: 'source', members: split([500, 1000], [120, 400]) },
      { name: 'country', members: split([500, 1000], [20, 400]) },
    ]
    expect(chooseRateSplit(dimensions, false)).toMatchObject({
      dimension: 'country',
      named: [{ name: 'one' }],
    })
  })

  it('is the mix where no group stands out and it makes half of the difference', () => {
    const members = [member('web', [800, 1000], [80, 100]), member('fair', [200, 1000], [180, 900])]
    expect(chooseRateSplit([{ name: 'source', members }], false)).toMatchObject({ named: [], rest: 0 })
  })

  it('is unknown where all fell alike, in a dimension of one group, and if the rate before tells the contrary', () => {
    const alike = [member('web', [500, 1000], [160, 400]), member('fair', [200, 1000], [57, 400])]
    expect(chooseRateSplit([{ name: 'source', members: alike }], false)).toBeNull()
    expect(chooseRateSplit([{ name: 'source', members: alike.slice(0, 1) }], false)).toBeNull()
    const dimensions = [{ name: 'source', members: split([500, 1000], [20, 400]) }]
    expect(chooseRateSplit(dimensions, true)).toBeNull()
  })
})
