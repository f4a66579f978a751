/**
 * The normal range of the win rate, from the rates of earlier windows of 30 days. A decided lead is a won or a
 * lost lead. The number of wins has a beta-binomial distribution, so that a rate of few leads has a wide
 * range.
 */
import type { CountedPipeline } from '../domain/insight.ts'
import {
  type CountProbabilities,
  normalProbability,
  normalQuantile,
  rangeWith,
} from './count-distribution.ts'
import { correct, type Ranges } from './normal-range.ts'
import { countHits, type Hits, isTrusted } from './record.ts'
import { total } from './series.ts'

/** The number of days that the win rate of a report covers. */
export const RATE_DAYS = 30
/** The number of earlier windows of 30 days that a range needs. */
export const RATE_NEEDED = 8
/**
 * The minimum number of decided (won or lost) leads. With fewer, a rate has no range and is never unusual.
 */
const DECIDED_MIN = 10
/**
 * The factor by which the weight of a window of 30 days falls with each later window: by half in 6 windows.
 */
const FADE = 0.5 ** (1 / 6)
/** The same factor for the deviations from which the spread is learned: by half in 48 deviations. */
const SPREAD_FADE = 0.5 ** (1 / 48)
/** The random spread that is assumed at first counts as much as this many deviations. */
const SPREAD_PRIOR = 6
/** The maximum that one deviation adds to the spread, as a multiple of the spread learned so far. */
const SPREAD_CAP = 12
/** The number of days in each part of a window. The spread within a window is learned from these parts. */
const PART_DAYS = 5
/** The step by which ranges are corrected after each hit or miss; the same as for months. */
const STEP = 0.5
/** The maximum number of decided leads for which probabilities are summed one by one, not approximated. */
const EXACT_MAX = 400

/** The number of won and of lost leads on each local day. Both lists end with the same day. */
interface RateDays {
  readonly won: readonly number[]
  readonly lost: readonly number[]
}

export interface RateNumbers extends RateDays {
  readonly pipeline: CountedPipeline
  /** True if ranges in earlier reports held so rarely that no new range is printed; false by default. */
  readonly isDistrusted?: boolean
}

/** A window of 30 days, with the ranges that were forecast for its number of wins. */
interface RateStep {
  readonly won: number
  readonly decided: number
  /** The forecast; null while too few earlier windows are known, or if too few leads were won or lost. */
  readonly forecast:
    | (Ranges & {
        readonly rate: number
        /** The chance of a rate at least as unusual as this one if nothing changed, from 0 to 1. */
        readonly probability: number
      })
    | null
  readonly known: number
}

interface JudgedRate {
  /** Oldest first; the last one ends with the last day. */
  readonly steps: readonly RateStep[]
  /** The number of windows with a range, and of windows whose range held. The last window does not count. */
  readonly record: Hits
  /** True if the ranges held often enough to be shown, or if too few ranges were tested to decide. */
  readonly isTrusted: boolean
}

/** Judges each window of 30 days by the windows before it. The last window ends with the last day. */
export function judgeRate({ won, lost }: RateDays): JudgedRate {
  const seen = { won: 0, decided: 0, squares: 0 }
  const spread = { sum: 0, weight: 0 }
  const spreadWithin = { sum: 0, weight: 0 }
  const misses = { of95: 0.05, of80: 0.2 }
  const steps: RateStep[] = []
  let known = 0
  for (let end = won.length % RATE_DAYS || RATE_DAYS; end <= won.length; end += RATE_DAYS) {
    const from = Math.max(0, end - RATE_DAYS)
    const wins = total(won.slice(from, end))
    const decided = wins + total(lost.slice(from, end))
    const rate = (seen.won + 0.5) / (seen.decided + 1)
    // The leads behind the rate have different weights. The rate is as reliable as a rate of this number of
    // leads with equal weights.
    const worth = seen.squares > 0 ? seen.decided ** 2 / seen.squares : 0
    const chance = decided * rate * (1 - rate) * (1 + decided / Math.max(worth, 1))
    const factor = Math.max(1, ...[spread, spreadWithin].map(factorOf))
    let forecast: RateStep['forecast'] = null
    if (known >= RATE_NEEDED && decided >= DECIDED_MIN) {
      const probabilities = winsOf(decided, rate, factor * chance)
      const [range95, range80] = [
        rangeWith(probabilities, misses.of95),
        rangeWith(probabilities, misses.of80),
      ]
      const middle = (probabilities.upTo(wins - 1) + probabilities.upTo(wins)) / 2
      forecast = { rate, range95, range80, probability: 2 * Math.min(middle, 1 - middle) }
    }
    steps.push({ won: wins, decided, forecast, known })
    if (decided === 0 || end === won.length) continue
    if (forecast !== null) correct(misses, forecast, wins, STEP)
    if (known > 0) learn(spread, wins - decided * rate, chance)
    for (let part = from; part < end; part += PART_DAYS) {
      const ofPart = total(won.slice(part, part + PART_DAYS))
      const all = ofPart + total(lost.slice(part, part + PART_DAYS))
      const own = (wins + 0.5) / (decided + 1)
      // The variance is reduced, because the rate of the window is computed from these same parts.
      if (all > 0 && all < decided)
        learn(spreadWithin, ofPart - all * own, all * own * (1 - own) * (1 - all / decided))
    }
    seen.won = seen.won * FADE + wins
    seen.decided = seen.decided * FADE + decided
    seen.squares = seen.squares * FADE ** 2 + decided
    known++
  }
  const record = countHits(steps.slice(0, -1).map((step) => ({ forecast: step.forecast, value: step.won })))
  return { steps, record, isTrusted: isTrusted({ hits: record.hits95, of: record.judged }) }
}

interface Spread {
  sum: number
  weight: number
}

/** Returns how many times larger the learned variance is than the variance of pure chance. */
function factorOf({ sum: squares, weight }: Spread): number {
  return (squares + SPREAD_PRIOR) / (weight + SPREAD_PRIOR)
}

function learn(spread: Spread, off: number, variance: number): void {
  spread.sum =
    spread.sum * SPREAD_FADE + Math.min(SPREAD_CAP * Math.max(1, factorOf(spread)), off ** 2 / variance)
  spread.weight = spread.weight * SPREAD_FADE + 1
}

/**
 * Returns the distribution of the wins among decided leads: beta-binomial, or nearly normal for many leads.
 */
export function winsOf(decided: number, rate: number, variance: number): CountProbabilities {
  if (decided > EXACT_MAX) return nearlyNormal(decided, decided * rate, Math.sqrt(variance))
  const factor = Math.min(variance / (decided * rate * (1 - rate)), decided * 0.98)
  return summedUp(decided, rate, factor > 1 + 1e-9 ? (decided - factor) / (factor - 1) : null)
}

/** @param size the sum of both parameters of the beta distribution; null for the binomial distribution */
function summedUp(decided: number, rate: number, size: number | null): CountProbabilities {
  let [log, most] = [0, 0]
  const logs = [0]
  for (let wins = 0; wins < decided; wins++) {
    const odds =
      size === null ? rate / (1 - rate) : (wins + rate * size) / (decided - wins - 1 + (1 - rate) * size)
    log += Math.log(((decided - wins) / (wins + 1)) * odds)
    most = Math.max(most, log)
    logs.push(log)
  }
  const parts = logs.map((each) => Math.exp(each - most))
  const all = total(parts)
  let below = 0
  const sums = parts.map((part) => {
    below += part / all
    return below
  })
  return {
    upTo: (wins) => (wins < 0 ? 0 : (sums[Math.floor(wins)] ?? 1)),
    quantile(probability) {
      const found = sums.findIndex((each) => each >= probability)
      return found < 0 ? decided : found
    },
  }
}

function nearlyNormal(decided: number, mean: number, deviation: number): CountProbabilities {
  const within = (wins: number) => Math.max(0, Math.min(decided, Math.round(wins)))
  return {
    upTo: (wins) => (wins >= decided ? 1 : wins < 0 ? 0 : normalProbability((wins + 0.5 - mean) / deviation)),
    quantile: (probability) => within(mean + deviation * normalQuantile(probability)),
  }
}
