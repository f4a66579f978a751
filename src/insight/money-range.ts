/**
 * The usual range of the money that is won in a day, in several days or in a week. A few large deals decide
 * such sums, so no formula for their distribution is assumed. A day is compared with the same weekdays of the
 * last year. Several days are compared with sums of days that are drawn at random from the last year.
 */
import type { RangeKind, UsualRange } from '../domain/insight.ts'
import { countHits, type Hits, isTrusted } from './record.ts'
import { total, weekdayOf } from './series.ts'
import { correct, type Ranges } from './usual-range.ts'

/** The maximum number of earlier days from which a range is computed. */
const POOL_DAYS = 364
/** The minimum number of earlier days from which a range is computed. */
export const MONEY_DAYS_NEEDED = 182
/** The number of sums that are drawn at random for a span of several days. */
const DRAWS = 300
/** The factor by which the weight of a day falls with each later day: by half in 35 days. */
const LEVEL_FADE = 0.5 ** (1 / 35)
/** The steps by which ranges are corrected after each hit or miss: for spans below a week, and for weeks. */
const [GAMMA_OF_DAYS, GAMMA_OF_WEEKS] = [0.01, 0.015]
const WEEK = 7

/**
 * The money in one currency and the number of won leads on each local day. All lists end with the same day.
 */
interface MoneyDays {
  readonly dates: readonly string[]
  readonly money: readonly number[]
  readonly won: readonly number[]
  /** True for each day that is left out because of a holiday or an annotation. */
  readonly isLeftOut: readonly boolean[]
}

export interface MoneyNumbers extends MoneyDays {
  /** The code in ISO 4217, such as `EUR`. */
  readonly currency: string
  /** The kinds of ranges that held too rarely when reports published them; by default none. */
  readonly distrusted?: readonly RangeKind[]
}

/**
 * A span of days, with the money that was won in the span and the ranges of this money. Left-out days do not
 * count.
 */
interface MoneyStep {
  readonly money: number
  /** The ranges; null while too few earlier days are known, or if all days of the span are left out. */
  readonly forecast: Ranges | null
}

interface JudgedMoneySpans {
  /** The spans, the oldest first; the last one ends with the last day. */
  readonly steps: readonly MoneyStep[]
  /** The number of spans with a range, and of spans whose range held. The last span does not count. */
  readonly record: Hits
  /** True if the ranges held often enough to be shown, or if too few ranges were tested to decide. */
  readonly isTrusted: boolean
}

/**
 * Makes the ranges of each span of days from the days before the span. The last span ends with the last day.
 * @param length the number of days in a span, from 1 to 7
 */
export function judgeMoney(days: MoneyDays, length: number): JudgedMoneySpans {
  const { money, isLeftOut } = days
  const weekdays = days.dates.map(weekdayOf)
  const misses = { of95: 0.05, of80: 0.2 }
  const gamma = length < WEEK ? GAMMA_OF_DAYS : GAMMA_OF_WEEKS
  const steps: MoneyStep[] = []
  for (let from = money.length % length; from < money.length; from += length) {
    const sums = from < MONEY_DAYS_NEEDED ? null : drawSums({ ...days, weekdays }, from, length)
    const forecast = sums && {
      range95: rangeOf(sums, misses.of95),
      range80: rangeOf(sums, misses.of80),
    }
    const actual = total(money.slice(from, from + length).filter((_, day) => !isLeftOut[from + day]))
    steps.push({ money: actual, forecast })
    if (forecast !== null) correct(misses, forecast, actual, gamma)
  }
  const record = countMoneyHits(steps.slice(0, -1))
  return { steps, record, isTrusted: isTrusted({ hits: record.hits95, of: record.judged }) }
}

function countMoneyHits(steps: readonly MoneyStep[]): Hits {
  return countHits(steps.map(({ forecast, money }) => ({ forecast, value: money })))
}

/**
 * Draws sums that a span may have from the days before the span, and returns them in ascending order. The
 * same days always give the same sums. Returns null if all days of the span are left out.
 */
function drawSums(
  { weekdays, money, won, isLeftOut }: MoneyDays & { readonly weekdays: readonly number[] },
  from: number,
  length: number,
): number[] | null {
  const first = Math.max(0, from - POOL_DAYS)
  const pools = Array.from({ length: WEEK }, () => ({ money: [] as number[], won: 0 }))
  const poolOf = (day: number) => (isLeftOut[day] ? undefined : pools[weekdays[day] ?? 0])
  for (let day = first; day < from; day++) {
    const pool = poolOf(day)
    if (pool === undefined) continue
    pool.money.push(money[day] ?? 0)
    pool.won += won[day] ?? 0
  }
  // Compares the recent wins with the usual wins of the same days, which are the means of their weekdays.
  let [present, mean] = [0, 0]
  for (let day = first; day < from; day++) {
    const pool = poolOf(day)
    if (pool === undefined) continue
    present = present * LEVEL_FADE + (won[day] ?? 0)
    mean = mean * LEVEL_FADE + pool.won / pool.money.length
  }
  const level = mean === 0 ? 1 : present / mean
  const drawn = Array.from({ length }, (_, day) => from + day)
    .flatMap((day) => poolOf(day) ?? [])
    .map((pool) => pool.money)
  const [ofFirst] = drawn
  if (ofFirst === undefined) return null
  const next = randomNumbers()
  const sums =
    drawn.length === 1
      ? ofFirst
      : Array.from({ length: DRAWS }, () =>
          drawn.reduce((sum, pool) => sum + (pool[Math.floor(next() * pool.length)] ?? 0), 0),
        )
  return [...Float64Array.from(sums, (sum) => level * sum).sort()]
}

function rangeOf(sums: readonly number[], misses: number): UsualRange {
  const at = (share: number) => sums[Math.round(share * (sums.length - 1))] ?? 0
  return { low: at(misses / 2), high: at(1 - misses / 2) }
}

/**
 * Returns a generator of pseudo-random numbers between 0 and 1 (Park and Miller, 1988). Each generator gives
 * the same numbers.
 */
function randomNumbers(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
