/** The measurements of a part, and the verdict on each goal: medians of samples, and ratios of medians. */
import type { Goal } from './goals.ts'
import type { Time } from './step.ts'

export interface BenchOptions {
  /** Numbers of leads, the smallest first. */
  readonly leads: readonly number[]
  readonly fewest: number
  readonly most: number
  readonly rounds: number
  readonly isShort: boolean
}

/**
 * Adds a sample.
 * @param what the measured step, such as `ours first cpu`
 */
export type AddSample = (what: string, leads: number, value: number) => void

/** Adds both times of a step, in milliseconds or in parts of that: `by` leads of a thousand give µs a lead. */
export function addTimes(add: AddSample, what: string, leads: number, { ms, cpuMs }: Time, by = 1): void {
  add(`${what} wall`, leads, ms / by)
  add(`${what} cpu`, leads, cpuMs / by)
}

export interface Part {
  readonly subjects: readonly string[]
  /** @returns the reason if a part could not be measured; null if all was */
  measure(options: BenchOptions, add: AddSample): Promise<string | null>
}

/** The result of a goal for one number of leads and one kind of time. */
export interface Result {
  readonly goal: string
  readonly leads: number
  readonly kind: 'cpu' | 'wall' | null
  readonly measured: number | null
  readonly at: Goal['at']
  readonly limit: number
  readonly unit: string
  readonly verdict: 'met' | 'not met' | 'not measured'
}

export interface Sample {
  /** The measured step. */
  readonly what: string
  readonly leads: number
  readonly value: number
}

export interface Median extends Omit<Sample, 'value'> {
  readonly median: number
  readonly samples: number
}

/** Returns the median of each step and number of leads, in the order of their first samples. */
export function mediansOf(samples: readonly Sample[]): Median[] {
  const groups = Map.groupBy(samples, ({ what, leads }) => `${leads} ${what}`)
  return [...groups.values()].flatMap((same) => {
    const middle = same.toSorted((one, other) => one.value - other.value)[Math.floor(same.length / 2)]
    if (middle === undefined) return []
    const { what, leads, value: median } = middle
    return [{ what, leads, median, samples: same.length }]
  })
}

/** Judges a goal for each number of leads and each kind of time that it covers. */
export function judge(goal: Goal, medians: readonly Median[], sizes: readonly number[]): Result[] {
  const { name, at, limit, unit } = goal
  const asked =
    goal.leads === 'each' ? sizes : [(goal.leads === 'smallest' ? sizes.at(0) : sizes.at(-1)) ?? 0]
  return asked.flatMap((leads) =>
    (goal.kinds ?? [null]).map((kind) => {
      const measured = measureGoal(goal, medians, { leads, kind, smallest: sizes[0] ?? 0 })
      const isMet = measured !== null && (at === 'most' ? measured <= limit : measured >= limit)
      const verdict = measured === null ? 'not measured' : isMet ? 'met' : 'not met'
      return { goal: name, leads, kind, measured, at, limit, unit, verdict }
    }),
  )
}

function measureGoal(
  goal: Goal,
  medians: readonly Median[],
  { leads, kind, smallest }: { leads: number; kind: 'cpu' | 'wall' | null; smallest: number },
): number | null {
  const find = (what: string, of = leads): number | undefined =>
    medians.find((each) => each.what === (kind === null ? what : `${what} ${kind}`) && each.leads === of)
      ?.median
  const ours = find(goal.of)
  if (ours === undefined) return null
  if (goal.as === 'value') return ours
  if (goal.as === 'growth') {
    const few = leads === smallest ? undefined : find(goal.of, smallest)
    return few === undefined ? null : ours / few
  }
  const theirs = find(goal.against ?? '')
  if (theirs === undefined) return null
  return goal.as === 'share' ? ours / theirs : theirs / ours
}
