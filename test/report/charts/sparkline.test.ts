import { describe, expect, it } from 'vitest'
import { drawSparkline, SPARKLINE_HEIGHT, SPARKLINE_WIDTH } from '../../../src/report/charts/draw.ts'

const CASES: readonly (readonly [name: string, values: readonly (number | null)[]])[] = [
  ['14 counts', [31, 44, 52, 50, 48, 12, 9, 47, 55, 60, 58, 61, 20, 59]],
  ['nothing', []],
  ['one value', [5]],
  ['two values', [5, 6]],
  ['400 values', Array.from({ length: 400 }, (_, index) => (index * 37) % 90)],
  ['zeros', Array.from({ length: 14 }, () => 0)],
  ['gaps', [1, null, 3, 4, null, null, 2, null]],
  ['huge values', [1e12, 5e11, 9e12]],
  ['small shares', [0.001, 0.002, 0]],
]

describe.each(CASES)('the sparkline of %s', (_, values) => {
  it('stays within its picture, its end with room for the dot', () => {
    const svg = drawSparkline(values)
    expect(svg).not.toMatch(/NaN|Infinity|undefined|null/)
    for (const { x, y } of pointsOf(svg)) {
      expect(x >= 1 && x <= SPARKLINE_WIDTH - 2.75, `${x}`).toBe(true)
      expect(y >= 2.75 && y <= SPARKLINE_HEIGHT - 2.75, `${y}`).toBe(true)
    }
  })
})

describe('a sparkline', () => {
  it('has a point for each known value, and ends with a dot on the last', () => {
    const svg = drawSparkline([3, 9, 6])
    const [first, second, third, dot] = pointsOf(svg)
    expect([first, second, third].map((point) => point?.x)).toEqual([1, 58.5, 116])
    expect([first, second, third].map((point) => point?.y)).toEqual([24, 4, 14])
    expect(dot).toEqual(third)
  })

  it('breaks at gaps, and a value between two of them is a point', () => {
    const svg = drawSparkline([3, 9, null, 6, null, 5, 5])
    expect(svg.match(/M/g)).toHaveLength(2)
    expect(svg.match(/<circle/g)).toHaveLength(2)
  })

  it('puts the dot on the last known value where the end is not known', () => {
    expect(pointsOf(drawSparkline([3, 9, 6, null, null])).at(-1)?.x).toBe(58.5)
  })

  it('shows small moves as small: one of a hundredth takes a twenty-fifth of the height', () => {
    const [first, second] = pointsOf(drawSparkline([100, 99]))
    expect((second?.y ?? 0) - (first?.y ?? 0)).toBeCloseTo(20 / 25, 1)
  })

  it('of zeros lies on the ground, of equal values in the middle', () => {
    expect(new Set(pointsOf(drawSparkline([0, 0, 0])).map(({ y }) => y))).toEqual(new Set([24]))
    expect(new Set(pointsOf(drawSparkline([7, 7, 7])).map(({ y }) => y))).toEqual(new Set([14]))
  })
})

/** Returns the points of the lines and then of the dots, in order. */
function pointsOf(svg: string): readonly { x: number; y: number }[] {
  return [...svg.matchAll(/[ML]([\d.-]+) ([\d.-]+)|cx="([\d.-]+)" cy="([\d.-]+)"/g)].map(
    ([, x, y, cx, cy]) => ({
      x: Number(x ?? cx),
      y: Number(y ?? cy),
    }),
  )
}
