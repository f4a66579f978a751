/** The reports of one morning about a day, a week and a month do not contradict each other. */
import { expect, it } from 'vitest'
import type { Expectation } from '../../../src/domain/insight.ts'
import { judgeReport, type ReportDays } from '../../../src/insight/expect.ts'
import { longerPeriod } from '../../../src/jobs/insight/judge-numbers.ts'
import { dateBefore } from '../../../src/time.ts'
import { countCases } from '../../support/random.ts'
import { dailyNumbers, datesFrom } from '../../support/reports/daily-numbers.ts'

const DAYS = countCases(60, 300)
/** The first one is a Monday. */
const DATES = datesFrom('2024-01-01', 450 + DAYS)
const FIRST = 450

/** Returns what the report about a period says of all leads. */
function judged(days: ReportDays, values: readonly number[]): Expectation | undefined {
  const numbers = [
    { figure: 'new_leads', pipeline: null, values: values.slice(0, days.dates.length) } as const,
  ]
  return judgeReport(days, numbers, null, {}).judged[0]?.expectation
}

/** Lists what the reports of a morning say, the one about the shortest period first. */
function listJudged(values: readonly number[], length: number): Expectation[] {
  const dates = DATES.slice(0, length)
  const found: Expectation[] = []
  const day: ReportDays = { kind: 'day', dates, length: 1, longer: longerPeriod('day', dates) }
  for (let period: ReportDays | undefined = day; period; period = period.longer) {
    const said = judged(period, values)
    if (said !== undefined && ['normal', 'high', 'low'].includes(said.judgement)) found.push(said)
  }
  return found
}

/** The message that a reader takes from a report: a direction, also of a lasting change, or that all is normal. */
function toneOf({ judgement, shift }: Expectation): string {
  if (judgement !== 'normal' || shift === null) return judgement
  return shift.actual > shift.expected ? 'high' : 'low'
}

it('reports about the same days say the same, whether nothing changes, the level moves, or the number falls or rises', () => {
  let [pairs, different] = [0, 0]
  const worlds: readonly Partial<Parameters<typeof dailyNumbers>[0]>[] = [
    {},
    { moves: { keeps: 0.97, step: 0.06 } },
    { times: (day: number) => (day < FIRST + 25 ? 1 : 0.67) },
    { times: (day: number) => (day < FIRST + 25 ? 1 : 1.2) },
  ]
  for (const given of worlds) {
    const values = dailyNumbers({ mean: 40, days: DATES.length, seed: 1, ...given })
    for (let length = FIRST; length < DATES.length; length++) {
      if (longerPeriod('day', DATES.slice(0, length)) === undefined) continue
      const said = listJudged(values, length)
      for (const [index, longer] of said.slice(1).entries()) {
        const shorter = said[index]
        if (shorter === undefined) continue
        pairs++
        expect(shorter.within?.judgement).toBe(toneOf(longer))
        if (toneOf(shorter) === toneOf(longer)) continue
        different++
        // Only a number of its own period may differ, because the report then says what the longer period is.
        expect(shorter.shift).toBeNull()
      }
    }
  }
  expect(pairs).toBeGreaterThan(20)
  expect(different).toBeGreaterThan(0)
})

it.each([
  ['day', '2026-11-22', 'week 2026-11-22'],
  ['day', '2026-11-23', 'week 2026-11-22'],
  ['working_day', '2026-11-24', ''],
  ['day', '2026-11-30', 'month 2026-11-30'],
  ['day', '2026-12-01', 'month 2026-11-30'],
  ['week', '2026-11-01', 'month 2026-10-31'],
  ['week', '2026-11-22', ''],
  ['day', '2026-05-31', 'week 2026-05-31, month 2026-05-31'],
  ['month', '2026-11-30', ''],
] as const)('a report of a %s to %s yields to: %s', (kind, last, expected) => {
  const listed = []
  for (let each = longerPeriod(kind, [dateBefore(last), last]); each; each = each.longer)
    listed.push(`${each.kind} ${each.dates.at(-1)}`)
  expect(listed.join(', ')).toBe(expected)
})
