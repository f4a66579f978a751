/**
 * Counts with a known mean and variance: Poisson, negative binomial if overdispersed, approximated if large.
 */

import type { NormalRange } from '../domain/insight.ts'

/** The largest mean for which probabilities are summed one by one. Above it they are approximated. */
const EXACT_MEAN_MAX = 60
/** Summing stops when the probability of all larger counts is below this. */
const LEFT = 1e-12
/** The share of false alarms for increases. Large counts scatter more, so increases are harder to detect. */
const SHARE_OF_HIGH = 0.7

export interface CountDistribution {
  readonly mean: number
  /** The variance, which is at least the mean. */
  readonly variance: number
}

export interface CountProbabilities {
  /** Returns the probability of a count of at most `count`, from 0 to 1. */
  upTo(count: number): number
  /** Returns the smallest count whose `upTo` is at least `probability`. */
  quantile(probability: number): number
}

export function probabilitiesOf({ mean, variance }: CountDistribution): CountProbabilities {
  if (mean > EXACT_MEAN_MAX) return approximation(mean, variance)
  const sums = cumulative(mean, variance)
  return {
    upTo: (count) => (count < 0 ? 0 : (sums[Math.floor(count)] ?? 1)),
    quantile(probability) {
      const found = sums.findIndex((sum) => sum >= probability)
      return found < 0 ? sums.length - 1 : found
    },
  }
}

/**
 * Returns the chance that a count is at least as unusual as this one, from 0 to 1. The chance of larger
 * counts is divided by `SHARE_OF_HIGH`, and the chance of smaller counts by `1 - SHARE_OF_HIGH`. Half the
 * chance of the count itself belongs to each side (mid-p).
 */
export function tailProbability(distribution: CountDistribution, count: number): number {
  const { upTo } = probabilitiesOf(distribution)
  const middle = (upTo(count - 1) + upTo(count)) / 2
  return Math.max(0, Math.min(1, Math.min(middle / (1 - SHARE_OF_HIGH), (1 - middle) / SHARE_OF_HIGH)))
}

/** Returns the range that is missed with a chance nearest to `miss`, half at each end. Counts are whole. */
export function rangeWith({ upTo, quantile }: CountProbabilities, miss: number): NormalRange {
  const [low, high] = [quantile(miss / 2), quantile(1 - miss / 2)]
  const candidates = [
    { low, high },
    { low: low + 1, high },
    { low, high: high - 1 },
    { low: low + 1, high: high - 1 },
  ].filter((range) => range.low <= range.high)
  const distance = (range: NormalRange) => Math.abs(upTo(range.high) - upTo(range.low - 1) - (1 - miss))
  return candidates.reduce((best, range) => (distance(range) < distance(best) ? range : best))
}

/** Returns the probabilities of at most 0, at most 1, at most 2 …, until they are almost 1. */
function cumulative(mean: number, variance: number): number[] {
  const isPoisson = variance <= mean * (1 + 1e-9)
  const size = isPoisson ? 0 : (mean * mean) / (variance - mean)
  const ratio = isPoisson ? 0 : (variance - mean) / variance
  let probability = isPoisson ? Math.exp(-mean) : (mean / variance) ** size
  const end = mean + 40 * Math.sqrt(variance) + 40
  const sums: number[] = []
  let sum = 0
  for (let count = 0; count <= end && 1 - sum > LEFT; count++) {
    sum += probability
    sums.push(sum)
    probability *= isPoisson ? mean / (count + 1) : (ratio * (count + size)) / (count + 1)
  }
  return sums
}

/** Approximates by the normal distribution, corrected for the skew (Cornish and Fisher, 1938). */
function approximation(mean: number, variance: number): CountProbabilities {
  const deviation = Math.sqrt(variance)
  const skew = ((2 * variance) / mean - 1) / deviation
  return {
    upTo(count) {
      const z = (count + 0.5 - mean) / deviation
      return normalProbability(z - (skew / 6) * (z * z - 1))
    },
    quantile(probability) {
      const z = normalQuantile(probability)
      return Math.max(0, Math.round(mean + deviation * (z + (skew / 6) * (z * z - 1))))
    },
  }
}

/** The error is below 1e-7 (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17). */
export function normalProbability(z: number): number {
  if (z < 0) return 1 - normalProbability(-z)
  const t = 1 / (1 + 0.2316419 * z)
  const sum = ((((1.330274429 * t - 1.821255978) * t + 1.781477937) * t - 0.356563782) * t + 0.31938153) * t
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum
}

/**
 * Returns the natural logarithm of the probability of a value above `z`. Far from the mean it is computed by
 * the continued fraction of Laplace (Abramowitz and Stegun, 26.2.14), because the probability itself would be 0.
 */
export function logOfTail(z: number): number {
  if (z < 3) return Math.log(1 - normalProbability(z))
  let fraction = z
  for (let term = 40; term > 0; term--) fraction = z + term / fraction
  return (-z * z) / 2 - Math.log(Math.sqrt(2 * Math.PI) * fraction)
}

/** The inverse of `normalProbability`. The error is below 4.5e-4 (Abramowitz and Stegun, 26.2.23). */
export function normalQuantile(probability: number): number {
  if (probability < 0.5) return -normalQuantile(1 - probability)
  const t = Math.sqrt(-2 * Math.log(Math.max(1 - probability, 1e-300)))
  const top = 2.515517 + t * (0.802853 + t * 0.010328)
  return t - top / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
}
