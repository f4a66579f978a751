/** The measurements of a part, and the verdict on each goal: medians of samples, and ratios of medians. */
import type { Goal, Subject } from './goals.ts'

export interface BenchOptions {
  /** Numbers of leads, the smallest first. */
  readonly leads: readonly number[]
  readonly rounds: number
  /** The folder that keeps generated databases for the next run. */
  readonly folder: string
  readonly isShort: boolean
  readonly subjects: ReadonlySet<Subject>
}

/**
 * Adds a sample.
 * @param what the measured step, such as `ours first cpu`
 */
export type AddSample = (what: string, leads: number, value: number) => void

export interface Part {
  readonly name: string
  readonly subjects: readonly Subject[]
  /** @returns the reason if a part could not be measured; null if all was */
  measure(options: BenchOptions, add: AddSample): Promise<string | null>
}

export type HeadlineText = 'met' | 'not met' | 'not measured'

/** The result of a goal for one number of leads and one kind of time. */
export interface Result {
  readonly goal: string
  readonly leads: number
  readonly kind: 'cpu' | 'wall' | null
  readonly measured: number | null
  readonly at: Goal['at']
  readonly limit: number
  readonly unit: string
  readonly verdict: HeadlineText
}

/** Samples by the measured step and the number of leads. */
export interface Medians {
  readonly add: AddSample
  find(what: string, leads: number): number | undefined
  list(): {
    readonly what: string
    readonly leads: number
    readonly median: number
    readonly samples: number
  }[]
}

export function collectMedians(): Medians {
  const samples = new Map<string, { what: string; leads: number; values: number[] }>()
  const keyOf = (what: string, leads: number): string => `${leads} ${what}`
  return {
    add(what, leads, value) {
      const key = keyOf(what, leads)
      const known = samples.get(key) ?? { what, leads, values: [] }
      known.values.push(value)
      samples.set(key, known)
    },
    find: (what, leads) => {
      const known = samples.get(keyOf(what, leads))
      return known && medianOf(known.values)
    },
    list: () =>
      [...samples.values()].map(({ what, leads, values }) => ({
        what,
        leads,
        median: medianOf(values),
        samples: values.length,
      })),
  }
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Judges a goal for each number of leads and each kind of time that it covers. */
export function judge(goal: Goal, medians: Pick<Medians, 'find'>, sizes: readonly number[]): Result[] {
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
  medians: Pick<Medians, 'find'>,
  { leads, kind, smallest }: { leads: number; kind: 'cpu' | 'wall' | null; smallest: number },
): number | null {
  const find = (what: string, of = leads): number | undefined =>
    medians.find(kind === null ? what : `${what} ${kind}`, of)
  const ours = find(goal.of)
  if (ours === undefined) return null
  if (goal.as === 'value') return ours
  if (goal.as === 'growth') {
    const few = leads === smallest ? undefined : find(goal.of, smallest)
    return few === undefined ? null : ours / few
  }
  const others = goal.against.map((what) => find(what)).filter((value) => value !== undefined)
  if (others.length < goal.against.length) return null
  const best = Math.min(...others)
  return goal.as === 'share' ? ours / best : best / ours
}
