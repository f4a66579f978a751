/** Daily counts from a seed, with a weekly cycle. The events are independent or over-dispersed. */
import { random } from '../random.ts'

/** The mean of each weekday as a multiple of the overall mean, Monday first. */
const WEEK = [1.2, 1.25, 1.2, 1.1, 1.0, 0.6, 0.65]
export const FLAT_WEEK = [1, 1, 1, 1, 1, 1, 1]

export interface Numbers {
  readonly mean: number
  readonly days: number
  readonly seed: number
  /** The ratio of the variance to the mean. */
  readonly overdispersion?: number
  readonly week?: readonly number[]
  /** Returns the factor of a day's mean. */
  readonly times?: (day: number) => number
  /** The level moves: its logarithm keeps this share of itself each day, and a random step is added. */
  readonly moves?: { readonly keeps: number; readonly step: number }
  /** The share of days without any number. */
  readonly zeros?: number
}

export function dailyNumbers({
  mean,
  days,
  seed,
  overdispersion = 1,
  week = WEEK,
  times,
  moves,
  zeros = 0,
}: Numbers): number[] {
  const next = random(seed)
  const ofLevel = random(seed + 77)
  // Neighbouring seeds begin with similar numbers, so the first ones are skipped.
  for (let skipped = 0; skipped < 5; skipped++) next()
  let log = 0
  return Array.from({ length: days }, (_, day) => {
    if (moves) log = moves.keeps * log + moves.step * normal(ofLevel)
    const level = ofLevel() < zeros ? 0 : Math.exp(log)
    return count(level * mean * (week[day % 7] ?? 1) * (times?.(day) ?? 1), overdispersion, next)
  })
}

/** Returns a count with a mean, Poisson or negative binomial. */
export function count(mean: number, overdispersion: number, next: () => number): number {
  if (mean <= 0) return 0
  const more = overdispersion - 1
  return poisson(more > 0 ? gamma(mean / more, next) * more : mean, next)
}

export function weekdaysOf(values: readonly unknown[]): number[] {
  return values.map((_, day) => day % 7)
}

/** Returns the dates of so many days from a first one on. */
export function datesFrom(first: string, days: number): string[] {
  return Array.from({ length: days }, (_, day) =>
    new Date(Date.parse(first) + day * 86_400_000).toISOString().slice(0, 10),
  )
}

function normal(next: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
}

/** The method of Marsaglia and Tsang (2000). */
function gamma(shape: number, next: () => number): number {
  if (shape < 1) return gamma(shape + 1, next) * next() ** (1 / shape)
  const most = shape - 1 / 3
  const scale = 1 / Math.sqrt(9 * most)
  for (;;) {
    const value = normal(next)
    const cube = (1 + scale * value) ** 3
    if (cube <= 0) continue
    if (Math.log(1 - next()) < 0.5 * value * value + most - most * cube + most * Math.log(cube))
      return most * cube
  }
}

/** Adds up counts of small means, because the product of random numbers underflows for large ones. */
function poisson(mean: number, next: () => number): number {
  let events = 0
  for (let left = mean; left > 0; left -= 30) {
    const end = Math.exp(-Math.min(left, 30))
    for (let product = 1 - next(); product > end; product *= 1 - next()) events++
  }
  return events
}
