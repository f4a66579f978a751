/**
 * The types of what a report says beside its counts: people's notes about days, which numbers are unusual,
 * where they may end, and how often such statements were right.
 */
import type { ListedLead } from './lists.ts'
import type { Instant, Money } from './model.ts'

/** The figures that have a usual range. The names are those of `store/figures/definition.ts`. */
export const EXPECTED_FIGURES = ['new_leads', 'won'] as const
export type ExpectedFigure = (typeof EXPECTED_FIGURES)[number]

/** The figures that add up over days. */
export const COUNTED_FIGURES = ['new_leads', 'won', 'lost', 'won_value'] as const
export type CountedFigure = (typeof COUNTED_FIGURES)[number]

/** The pipeline whose leads a number counts; null for all leads of the report. */
export type CountedPipeline = { readonly id: string; readonly name: string } | null

/** Both bounds belong to the range. */
export interface UsualRange {
  readonly low: number
  readonly high: number
}

/**
 * A count of earlier ranges of the same kind: there were `of` ranges, and the real number lay within `hits` of them.
 */
export interface RangeRecord {
  readonly hits: number
  readonly of: number
}

/**
 * Tells whether a number is unusual. `high`, `low`: it is unusual, judged together with all other numbers of the
 * report. `usual`: it is not, although it may lie outside its range. `learning`: too few earlier periods are known.
 * `withheld`: earlier ranges held too rarely, so no range is shown. `left_out`: an annotation explains the period, or
 * too much of the period is holidays.
 */
type Judgement = 'usual' | 'high' | 'low' | 'learning' | 'withheld' | 'left_out'

/** Several days in a row that together are unusual, even if each single day is usual. */
export interface Shift {
  /** The local date of the first of the days. */
  readonly since: string
  readonly days: number
  readonly actual: number
  readonly expected: number
  /** False if an earlier sent issue already called a part of these days unusual, because a change is news only once. */
  readonly isNew: boolean
}

/**
 * The last period in which this issue or an earlier sent issue called each number unusual. The key is the name of the
 * figure, a space and the id of the pipeline; the id is empty for all leads of the report. The value is the last
 * local date of that period.
 */
export type LastUnusualDays = Readonly<Record<string, string>>

export interface Expectation {
  readonly figure: ExpectedFigure
  readonly pipeline: CountedPipeline
  readonly actual: number
  readonly judgement: Judgement
  /** The range that holds 19 of 20 usual periods; null while learning and if it is withheld. */
  readonly range: UsualRange | null
  /** The expected number; null without a range. */
  readonly expected: number | null
  /** How many earlier periods of the same kind are known, and how many a range needs. */
  readonly periods: { readonly known: number; readonly needed: number }
  readonly record: RangeRecord | null
  /** The ranges of the periods of the sparkline, in their order; null for periods without a range. */
  readonly band: readonly (UsualRange | null)[]
  readonly shift: Shift | null
}

/** The columns of `lead` by which a difference is split. */
export type DriverDimension = 'pipeline_id' | 'source' | 'company_country' | 'agent_id'

/**
 * The origin of an unusual number. The differences of the parts and of the rest add up to the actual minus the
 * expected number.
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

/** The spans of goals. A fiscal year begins in the month of the settings, and so do its quarters. */
export const GOAL_PERIODS = ['month', 'quarter', 'fiscal_year'] as const
export type GoalPeriod = (typeof GOAL_PERIODS)[number]

/** A goal of the settings. */
export interface Goal extends PaceGoal {
  readonly figure: CountedFigure
  readonly period: GoalPeriod
  /** The currency of a goal of `won_value`; null for other figures. */
  readonly currency: string | null
  /** The ids of the pipelines that count; null for all. */
  readonly pipelines: readonly string[] | null
}

interface PaceGoal {
  readonly name: string
  readonly target: number
  readonly owner: string | null
}

/**
 * The win rate of the 30 days up to the end of a period. The rate of all leads is judged together with the other
 * numbers of the report. The rate of a single pipeline has a range, but is never called unusual.
 */
export interface JudgedWinRate {
  readonly pipeline: CountedPipeline
  readonly won: number
  readonly decided: number
  readonly judgement: Judgement
  /** The range of the number of wins among `decided` leads that holds 19 of 20 usual windows; null without a range. */
  readonly range: UsualRange | null
  /** The expected rate, from 0 to 1; null without a range. */
  readonly expected: number | null
  /** How many earlier windows of 30 days are known, and how many a range needs. */
  readonly periods: { readonly known: number; readonly needed: number }
  readonly record: RangeRecord | null
  /** The origin of an unusual rate; null if the rate is not unusual, or if nothing stands out. */
  readonly origin: RateOrigin | null
}

/**
 * The money won in the period in one currency, by all leads of the report. The amount has a range, but is never
 * called unusual.
 */
export interface JudgedMoney {
  /** ISO 4217. */
  readonly currency: string
  readonly amount: number
  readonly judgement: Exclude<Judgement, 'high' | 'low'>
  /** The range that holds 19 of 20 usual periods, in money; null while learning and if it is withheld. */
  readonly range: UsualRange | null
  /** How many earlier days are known, and how many a range needs. */
  readonly days: { readonly known: number; readonly needed: number }
  readonly record: RangeRecord | null
}

/**
 * The origin of an unusual win rate, against the half-year before. All differences are whole tenths of a percentage
 * point: `mix`, `within` of the parts and `rest` add up to `difference`.
 */
export interface RateOrigin {
  readonly dimension: DriverDimension
  readonly difference: number
  /** The part of the difference that comes from changed shares of the groups, not from changed rates. */
  readonly mix: number
  /** At most three groups whose own rate changed; the name is null for leads without a source, country or agent. */
  readonly parts: readonly { readonly name: string | null; readonly within: number }[]
  readonly rest: number
}

/**
 * The length of time that a printed range covers. A win rate covers 30 days. An `_end` is a forecast, printed before the
 * end.
 */
export type RangeKind = 'day' | 'week' | 'month' | '30_days' | `${GoalPeriod}_end`

/** A range that a report published, with the real number. */
export interface PublishedRange {
  readonly figure: CountedFigure | 'win_rate'
  readonly kind: RangeKind
  /** The pipelines that are counted; null for all leads. */
  readonly pipelineIds: readonly string[] | null
  /** The currency of `won_value`; empty for others. */
  readonly currency: string
  /** Local dates: the last day that the report counted, then the first and the last day that the range is about. */
  readonly asOfDay: string
  readonly firstDay: string
  readonly lastDay: string
  readonly range: UsualRange
  /** The real number; null until it is known. */
  readonly actual: number | null
}

/** A count of the ranges that reports published, and of those that held. */
export interface PublishedRecord
  extends Pick<PublishedRange, 'figure' | 'kind' | 'pipelineIds' | 'currency'>,
    RangeRecord {
  /** The same counts, but ranges that overlap in time count once, because they are right or wrong together. */
  readonly windows: RangeRecord
}

/** A forecast of a number for the end of a month, quarter or fiscal year. */
export interface Pace {
  readonly figure: CountedFigure
  /** The currency of money; null for a number of leads. */
  readonly currency: string | null
  readonly pipelines: readonly string[] | null
  readonly span: GoalPeriod
  /** The last local date of the span. */
  readonly lastDay: string
  readonly goal: PaceGoal | null
  readonly soFar: number
  readonly daysLeft: number
  /** The mean per day over the last 28 days. */
  readonly perDay: number
  /**
   * The expected number at the end of the span, with the range that holds 8 of 10 such ends; null if unknown or
   * withheld.
   */
  readonly end: (UsualRange & { readonly expected: number; readonly record: RangeRecord }) | null
}

/** An open lead that is about to stay longer in its stage than nearly all later winners did. */
export interface UrgentLead extends ListedLead {
  /** The number of whole days that the lead had been in its stage at the end of the period. */
  readonly stageDays: number
  /** The number of days after which a lead in this stage counts as stalled. */
  readonly limitDays: number
  /** Tells whether the limit comes from winners; otherwise it is the number of days of the settings. */
  readonly isOfWinners: boolean
  /** Tells whether the last sent issue did not list the lead. */
  readonly isNew: boolean
}

/** The open leads that are older than nearly all leads were when they were won. */
export interface OldLeadCount {
  readonly old: number
  readonly open: number
  /** The value of the old leads, one amount for each currency. */
  readonly value: readonly Money[]
  /** The age in days that only 1 % of the winners exceeded, and the number of these winners. */
  readonly ageDays: number
  readonly winners: number
  /** The time of the count, which is made about once a day. */
  readonly countedAt: Instant
}

/** An annotation, as a report shows it. */
export interface DayNote extends Pick<Annotation, 'firstDay' | 'lastDay' | 'text' | 'isLeftOut'> {
  /** The pipeline that it concerns; null for all leads. */
  readonly pipeline: CountedPipeline
}

export interface Insight {
  /** All leads first, then each pipeline. */
  readonly expectations: readonly Expectation[]
  readonly lastUnusual: LastUnusualDays
  /**
   * The record of the ranges that earlier issues published for the numbers of all leads; absent in issues of older
   * versions.
   */
  readonly publishedRecord?: RangeRecord
  readonly drivers: readonly Driver[]
  /** All leads first, then each pipeline if the report has several; empty if it is filtered by more than pipelines. */
  readonly winRates: readonly JudgedWinRate[]
  /**
   * One amount for each of the main currencies; empty for a month, and if the report is filtered by more than pipelines.
   */
  readonly wonValues: readonly JudgedMoney[]
  readonly pace: readonly Pace[]
  /** The leads that will soon stall, the best value first. `rows` are the first of them. */
  readonly urgent: { readonly total: number; readonly rows: readonly UrgentLead[] }
  /** The count of old leads; null if too few leads were won to say which age is old. */
  readonly oldLeads: OldLeadCount | null
  /** The notes about the days of the period and of the charts, in order of their days. */
  readonly notes: readonly DayNote[]
}

/** Returns the win rate of all leads of a report; null if it is not judged. */
export function rateOfAll(insight: Insight | null): JudgedWinRate | null {
  return insight?.winRates[0] ?? null
}

/** A note about one or more days. Its days are dates in the time zone of each report. */
export interface Annotation {
  readonly id: number
  /** The local dates of the first and the last day, such as `2026-11-13`. */
  readonly firstDay: string
  readonly lastDay: string
  readonly text: string
  /** The pipeline that it concerns; null for all leads. */
  readonly pipelineId: string | null
  /** Tells whether the days of this annotation are left out: ranges do not learn from them, and they are not judged. */
  readonly isLeftOut: boolean
  readonly writtenAt: Instant
  readonly writtenBy: string
}

/** The longest text, in characters. */
export const ANNOTATION_TEXT_MAX = 120

/**
 * Returns whether an annotation concerns a number that counts these pipelines. An annotation of one pipeline also
 * concerns the number of all pipelines.
 * @param pipelineIds null for all pipelines
 */
export function isAbout(
  { pipelineId }: Pick<Annotation, 'pipelineId'>,
  pipelineIds: readonly string[] | null,
): boolean {
  return pipelineId === null || pipelineIds === null || pipelineIds.includes(pipelineId)
}

/** Tells for each date whether an annotation excludes it from the numbers of these pipelines. */
export function leftOutOf(
  dates: readonly string[],
  annotations: readonly Annotation[],
  pipelineIds: readonly string[] | null,
): boolean[] {
  const some = annotations.filter((each) => each.isLeftOut && isAbout(each, pipelineIds))
  return dates.map((date) => some.some(({ firstDay, lastDay }) => firstDay <= date && date <= lastDay))
}
