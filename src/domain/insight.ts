/**
 * What a report says beside its counts: which numbers are unusual, where they may end, and how often such
 * statements were right. The code in `insight/` computes it from daily counts, and each issue stores it.
 */

/** The figures that have a usual range. The names are those of `store/figures/definition.ts`. */
export const EXPECTED_FIGURES = ['new_leads', 'won'] as const
export type ExpectedFigure = (typeof EXPECTED_FIGURES)[number]

/** Both bounds belong to the range. */
export interface UsualRange {
  readonly low: number
  readonly high: number
}

/** How often ranges like this one held the number that came. */
export interface RangeRecord {
  readonly held: number
  readonly of: number
}

/**
 * `high`, `low`: the number is unusual, judged together with all other numbers of the report. `learning`:
 * there are too few earlier periods. `withheld`: earlier ranges held too rarely, so none is shown.
 */
export type Judgement = 'usual' | 'high' | 'low' | 'learning' | 'withheld'

/** Several days in a row that together are unusual, although no single one of them need be. */
export interface Shift {
  /** The local date of the first of the days. */
  readonly since: string
  readonly days: number
  readonly actual: number
  readonly expected: number
}

export interface Expectation {
  readonly figure: ExpectedFigure
  /** The pipeline that is counted; null for all leads of the report. */
  readonly pipeline: { readonly id: string; readonly name: string } | null
  readonly actual: number
  readonly judgement: Judgement
  /** The range that holds 19 of 20 usual periods; null while learning and if it is withheld. */
  readonly range: UsualRange | null
  /** The number that is most to be expected; null without a range. */
  readonly expected: number | null
  /** The number of earlier periods of the same kind that are known, and how many a range needs. */
  readonly periods: { readonly known: number; readonly needed: number }
  readonly record: RangeRecord | null
  /** The ranges of the periods of the sparkline, in their order; null for periods without a range. */
  readonly band: readonly (UsualRange | null)[]
  readonly shift: Shift | null
}

export interface Insight {
  /** All leads first, then each pipeline. */
  readonly expectations: readonly Expectation[]
}
