/** A measured claim: what was counted, its goal and whether it is met. */

export interface Result {
  /** The goal it belongs to, such as `coverage-95`. */
  readonly goal: string
  /** The series: `Poisson, mean 40`. */
  readonly series: string
  /** The horizon or condition: `day`, `week`, `month`, `day 10 of the month`. */
  readonly horizon: string
  /** A share from 0 to 1, or a mean number. */
  readonly measured: number
  /** The numbers, years or cases that were counted. */
  readonly of: number
  /** The bounds of the goal, both allowed; null where there is none. */
  readonly least: number | null
  readonly most: number | null
  /** `withheld`: the report prints nothing, so there is nothing to hold. */
  readonly verdict: 'met' | 'not met' | 'withheld'
}

type Bounds = Pick<Result, 'least' | 'most'>

export const GOALS = {
  'coverage-95': { least: 0.93, most: 0.97 },
  'coverage-95-of-weeks': { least: 0.92, most: 0.98 },
  'coverage-80': { least: 0.76, most: 0.84 },
  'false-headlines': { least: null, most: 1 },
  'shift-found': { least: 0.9, most: null },
  'shift-of-few-found': { least: 0.45, most: null },
  'small-shift-found': { least: 0.8, most: null },
  'pace-hits': { least: 0.75, most: 0.85 },
  'pace-error': { least: null, most: 1 },
  'cause-named': { least: 0.95, most: null },
  'cause-wrong': { least: null, most: 0.1 },
  'cause-adds-up': { least: 1, most: null },
  'cause-of-nothing': { least: null, most: 0.01 },
  'share-hits': { least: 0.85, most: null },
} as const satisfies Record<string, Bounds>

export type Goal = keyof typeof GOALS

/** Makes a result; without anything counted it is withheld. */
export function resultOf(goal: Goal, series: string, horizon: string, measured: number, of: number): Result {
  const { least, most }: Bounds = GOALS[goal]
  const isMet = (least === null || measured >= least) && (most === null || measured <= most)
  const verdict = of === 0 ? 'withheld' : isMet ? 'met' : 'not met'
  return {
    goal,
    series,
    horizon,
    measured: of === 0 ? 0 : Number(measured.toFixed(3)),
    of,
    least,
    most,
    verdict,
  }
}

/** How often something held. */
export interface Hits {
  of: number
  hits: number
}

export const noHits = (): Hits => ({ of: 0, hits: 0 })

export function addHit(sum: Hits, holds: boolean): void {
  sum.of++
  if (holds) sum.hits++
}

/** Makes the result of a share. */
export function shareOf(goal: Goal, series: string, horizon: string, { hits, of }: Hits): Result {
  return resultOf(goal, series, horizon, hits / of, of)
}
