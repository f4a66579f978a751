/** The test of the shares of later winners. */
import { describe, expect, it } from 'vitest'
import { shownOf, testShare } from '../../../src/jobs/insight/winner-shares.ts'

describe('a share of later winners', () => {
  const date = (winners: number, longer: number) => ({ winners, longer })

  it('holds on a date if as many or as few have a chance of more than 5 % each', () => {
    // Of 100 winners 2 to 9 may be beyond a threshold of 5 %: 1 or fewer have 3.7 %, and 10 or more 2.8 %.
    const hits = [0, 1, 2, 5, 9, 10, 50].map((longer) => testShare(0.05, [date(100, longer)]).hits)
    expect(hits).toEqual([0, 0, 1, 1, 1, 0, 0])
    expect(testShare(0.01, [date(5, 0), date(0, 0), date(5, 1)])).toMatchObject({ dates: 2, hits: 1 })
  })

  it('is withheld if it held on clearly fewer dates than 85 %, and a few dates say nothing', () => {
    const of = (dates: number, hits: number) =>
      testShare(
        0.05,
        Array.from({ length: dates }, (_, index) => date(100, index < hits ? 5 : 30)),
      )
    expect(of(14, 0).isTrusted).toBe(true)
    expect(of(15, 9).isTrusted).toBe(false)
    expect(of(15, 10).isTrusted).toBe(true)
    expect(shownOf(of(36, 25), true)).toBe('withheld')
    expect(shownOf(of(36, 26), true)).toBe('printed')
    expect(shownOf(of(36, 36), false)).toBe('learning')
  })
})
