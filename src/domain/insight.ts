/**
 * The types of a report's judgements: numbers outside their usual range, the leads that cause the difference,
 * forecasts for the end of a month, quarter or year, and people's notes about days. The usual range of a
 * number contains the number in 19 of 20 ordinary periods.
 */
import type { ListedLead } from './lists.ts'
import type { Instant, Money } from './model.ts'

/** The figures for which a usual range is computed, by their names in `store/figures/definition.ts`. */
export const EXPECTED_FIGURES = ['new_leads', 'won'] as const
export type ExpectedFigure = (typeof EXPECTED_FIGURES)[number]

/** The figures whose numbers can be added up over several days. */
export const COUNTED_FIGURES = ['new_leads', 'won', 'lost', 'won_value'] as const
export type CountedFigure = (typeof COUNTED_FIGURES)[number]

/** The pipeline whose leads a number counts; null for all leads of the report. */
export type CountedPipeline = { readonly id: string; readonly name: string } | null

export interface UsualRange {
  readonly low: number
  readonly high: number
}

/**
 * The record of earlier ranges of the same kind: their number (`of`), and the number of those that contained
 * the real number (`hits`).
 */
export interface RangeRecord {
  readonly hits: number
  readonly of: number
}

/**
 * The judgement of a number. `high`, `low`: the number is unusually high or low. `usual`: the number is not
 * unusual. Even a number outside its range can be usual, because all numbers of the report are judged
 * together. `learning`: too few earlier periods are known. `withheld`: earlier ranges were wrong too often,
 * so no range is shown. `left_out`: an annotation explains the period, or too much of the period is holidays.
 */
type Judgement = 'usual' | 'high' | 'low' | 'learning' | 'withheld' | 'left_out'

/** Several days in a row that together are unusual, even if each single day is usual. */
export interface Shift {
  readonly since: string
  readonly days: number
  readonly actual: number
  readonly expected: number
  /** False if a sent issue already called some of these days unusual, so that the shift is no news. */
  readonly isNew: boolean
}

/**
 * The last time that each number was called unusual, by this issue or by an earlier sent issue. The key is
 * the name of the figure, a space and the id of the pipeline (empty for all leads of the report). The value
 * is the last local date of the unusual period.
 */
export type LastUnusualDays = Readonly<Record<string, string>>

export interface Expectation {
  readonly figure: ExpectedFigure
  readonly pipeline: CountedPipeline
  readonly actual: number
  readonly judgement: Judgement
  /** The range that contains the number in 19 of 20 usual periods; null if `learning` or `withheld`. */
  readonly range: UsualRange | null
  readonly expected: number | null
  /** The number of earlier periods of the same kind that are known, and the number that a range needs. */
  readonly periods: { readonly known: number; readonly needed: number }
  readonly record: RangeRecord | null
  /** The usual range of each period in the sparkline, oldest first; null for a period without a range. */
  readonly band: readonly (UsualRange | null)[]
  readonly shift: Shift | null
}

/** The columns of the table `lead` by which an unusual difference is split to find its cause. */
export type DriverDimension = 'pipeline_id' | 'source' | 'company_country' | 'agent_id'

/**
 * The groups of leads, such as sources, that cause an unusual number. The differences of all `parts` and
 * `rest` add up to `actual` minus `expected`.
 */
export interface Driver {
  readonly figure: ExpectedFigure
  readonly actual: number
  readonly expected: number
  readonly dimension: DriverDimension
  /** At most three parts, the one with the largest difference first. */
  readonly parts: readonly DriverPart[]
  /** The differences of all other parts together. */
  readonly rest: number
}

interface DriverPart {
  /** The name of the pipeline, source, country or agent; null for leads without one. */
  readonly name: string | null
  readonly actual: number
  readonly expected: number
  readonly difference: number
}

/** The spans of goals. The settings name the month in which a fiscal year and its first quarter begin. */
export const GOAL_PERIODS = ['month', 'quarter', 'fiscal_year'] as const
export type GoalPeriod = (typeof GOAL_PERIODS)[number]

/** A goal that the settings define, such as the number of leads to win in a quarter. */
export interface Goal extends PaceGoal {
  readonly figure: CountedFigure
  readonly period: GoalPeriod
  /** The currency of a goal of `won_value`; null for other figures. */
  readonly currency: string | null
  /** The ids of the pipelines whose leads count towards the goal; null for all pipelines. */
  readonly pipelines: readonly string[] | null
}

interface PaceGoal {
  readonly name: string
  readonly target: number
  readonly owner: string | null
}

/**
 * The win rate of the 30 days up to the end of a period. The rate of all leads is judged together with the
 * other numbers of the report. The rate of a single pipeline has a range, but is never called unusual.
 */
export interface JudgedWinRate {
  readonly pipeline: CountedPipeline
  readonly won: number
  readonly decided: number
  readonly judgement: Judgement
  /**
   * The range that contains the number of wins among `decided` leads in 19 of 20 usual windows of 30 days;
   * null if no range is shown.
   */
  readonly range: UsualRange | null
  /** The expected rate, from 0 to 1; null without a range. */
  readonly expected: number | null
  /** The number of earlier windows of 30 days that are known, and the number that a range needs. */
  readonly periods: { readonly known: number; readonly needed: number }
  readonly record: RangeRecord | null
}

/**
 * The length of time that a printed range covers. The range of a win rate covers 30 days. A kind with `_end`
 * is a forecast for the end of the current month, quarter or fiscal year.
 */
export type RangeKind = 'day' | 'week' | 'month' | '30_days' | `${GoalPeriod}_end`

/** A range that a report published, with the real number that became known later. */
export interface PublishedRange {
  readonly figure: Exclude<CountedFigure, 'won_value'> | 'win_rate'
  readonly kind: RangeKind
  /** The pipelines that are counted; null for all leads. */
  readonly pipelineIds: readonly string[] | null
  /** The last date that the report counted. */
  readonly asOfDay: string
  /** The first local date that the range is about. */
  readonly firstDay: string
  readonly lastDay: string
  readonly range: UsualRange
  /** The real number; null until it is known. */
  readonly actual: number | null
}

/** The number of ranges that reports published, and the number of those that contained the real number. */
export interface PublishedRecord
  extends Pick<PublishedRange, 'figure' | 'kind' | 'pipelineIds'>,
    RangeRecord {
  /**
   * The same counts, but all ranges of the same time count as one, because they are right or wrong together.
   * In `hits`, such a time adds the share of its ranges that were right.
   */
  readonly windows: RangeRecord
}

export interface Pace {
  readonly figure: CountedFigure
  /** The currency if the figure is an amount; null if it is a number of leads. */
  readonly currency: string | null
  readonly pipelines: readonly string[] | null
  readonly span: GoalPeriod
  readonly lastDay: string
  readonly goal: PaceGoal | null
  readonly soFar: number
  readonly daysLeft: number
  /** The mean per day over the last 28 days. */
  readonly perDay: number
  /**
   * The expected number at the end of the span, with the range that contains the real number in 8 of 10
   * cases. Null if too little is known, if earlier forecasts were wrong too often, or if the figure is an
   * amount.
   */
  readonly end: (UsualRange & { readonly expected: number; readonly record: RangeRecord }) | null
}

/**
 * An open lead that stays longer in its stage than nearly all won leads did. A lead that will soon stay too
 * long is urgent too.
 */
export interface UrgentLead extends ListedLead {
  /** The number of whole days that the lead had been in its stage at the end of the period. */
  readonly stageDays: number
  /** The limit of the stage in days. A lead is urgent if it has reached the limit, or will reach it soon. */
  readonly limitDays: number
  /** True if the limit is computed from won leads; false if it is the number of days in the settings. */
  readonly isOfWinners: boolean
  /** True if the last sent issue did not list this lead. */
  readonly isNew: boolean
}

/** The number of open leads that are older than 99 % of the won leads were when they were won. */
export interface OldLeadCount {
  readonly old: number
  readonly open: number
  /** The value of the old leads, one amount for each currency. */
  readonly value: readonly Money[]
  /** The age in days above which a lead is old. Only 1 % of the won leads were older when they were won. */
  readonly ageDays: number
  /** The number of won leads from which `ageDays` was computed. */
  readonly winners: number
  /** The time of the count, which is made about once a day. */
  readonly countedAt: Instant
}

/** An annotation (a person's note about days), as a report shows it. */
export interface DayNote extends Pick<Annotation, 'firstDay' | 'lastDay' | 'text' | 'isLeftOut'> {
  /** The pipeline that the note concerns; null for all leads. */
  readonly pipeline: CountedPipeline
}

export interface Insight {
  /** The judged numbers, first those of all leads, then those of each pipeline. */
  readonly expectations: readonly Expectation[]
  readonly lastUnusual: LastUnusualDays
  /** The record of the ranges that earlier issues published for all leads; absent if nothing was judged. */
  readonly publishedRecord?: RangeRecord
  readonly drivers: readonly Driver[]
  /**
   * The win rate of all leads, followed by the win rate of each pipeline if the report has several. Empty if
   * the report filters by more than pipelines.
   */
  readonly winRates: readonly JudgedWinRate[]
  readonly pace: readonly Pace[]
  /**
   * The urgent leads, sorted by currency and value. `total` is the number of all, and `rows` holds the first.
   */
  readonly urgent: { readonly total: number; readonly rows: readonly UrgentLead[] }
  /**
   * The count of old leads. Null if too few leads were won to know which age is old, if the report filters by
   * more than pipelines, or if the period ended long ago.
   */
  readonly oldLeads: OldLeadCount | null
  /** The notes about the days of the period and of the charts, in order of their days. */
  readonly notes: readonly DayNote[]
}

/** Returns the win rate of all leads of a report; null if it is not judged. */
export function rateOfAll(insight: Insight | null): JudgedWinRate | null {
  return insight?.winRates[0] ?? null
}

/** A person's note about one or more days. Each report reads the dates in its own time zone. */
export interface Annotation {
  readonly id: number
  /** The local dates of the first and the last day, such as `2026-11-13`. */
  readonly firstDay: string
  readonly lastDay: string
  readonly text: string
  /** The pipeline that the note concerns; null for all leads. */
  readonly pipelineId: string | null
  /** True if the days are left out: no range learns from these days, and they are not judged. */
  readonly isLeftOut: boolean
  readonly writtenAt: Instant
  readonly writtenBy: string
}

/** The maximum length of the text of an annotation, in characters. */
export const ANNOTATION_TEXT_MAX = 120

/**
 * Returns whether an annotation concerns a number that counts these pipelines. An annotation of one pipeline
 * also concerns the number of all pipelines.
 * @param pipelineIds null for all pipelines
 */
export function isAbout(
  { pipelineId }: Pick<Annotation, 'pipelineId'>,
  pipelineIds: readonly string[] | null,
): boolean {
  return pipelineId === null || pipelineIds === null || pipelineIds.includes(pipelineId)
}

/** Returns for each date whether an annotation leaves it out of the numbers of these pipelines. */
export function leftOutOf(
  dates: readonly string[],
  annotations: readonly Annotation[],
  pipelineIds: readonly string[] | null,
): boolean[] {
  const some = annotations.filter((each) => each.isLeftOut && isAbout(each, pipelineIds))
  return dates.map((date) => some.some(({ firstDay, lastDay }) => firstDay <= date && date <= lastDay))
}
