/** The types of a report's judgements. A normal range holds the number in 19 of 20 ordinary periods. */
import type { Holiday } from '../schedule/holidays.ts'
import type { ListedLead } from './lists.ts'
import type { Instant, Money, Period } from './model.ts'

/** The figures for which a normal range is computed, by their names in `store/figures/definition.ts`. */
export const EXPECTED_FIGURES = ['new_leads', 'won'] as const
export type ExpectedFigure = (typeof EXPECTED_FIGURES)[number]

/** The figures whose numbers can be added up over several days. */
export const COUNTED_FIGURES = ['new_leads', 'won', 'lost', 'won_value'] as const
export type CountedFigure = (typeof COUNTED_FIGURES)[number]

export type CountedPipeline = { readonly id: string; readonly name: string } | null

export interface NormalRange {
  readonly low: number
  readonly high: number
}

/** The count of earlier ranges of the same kind (`of`), and of those that held the real number (`hits`). */
export interface RangeRecord {
  readonly hits: number
  readonly of: number
}

/**
 * The judgement of a number. `high`, `low`: the number is unusually high or low. `normal`: the number is not
 * unusual. Even a number outside its range can be normal, because all numbers of the report are judged
 * together. `learning`: too few earlier periods are known. `withheld`: earlier ranges were wrong too often,
 * so no range is shown. `left_out`: an annotation explains the period, or too much of the period is holidays.
 */
type Judgement = 'normal' | 'high' | 'low' | 'learning' | 'withheld' | 'left_out'

export interface Shift {
  readonly since: string
  readonly days: number
  readonly actual: number
  readonly expected: number
  /** False if an enqueued issue already called some of these days unusual, so that the shift is no news. */
  readonly isNew: boolean
}

/**
 * The statement on the same number in a longer period that ended with the report's or the day before: the week of a
 * day, or the month of a day or week. A report that says `high` or `low` says this too: "a low Monday in a normal
 * week". `judgement` is the direction of a lasting change, if the longer period has one.
 */
export interface LongerPeriod {
  readonly kind: 'week' | 'month'
  /** The local date of its last day. */
  readonly lastDay: string
  readonly judgement: 'normal' | 'high' | 'low'
}

/** The key is the figure, a space and the pipeline (or empty), the value the last local date. */
export type LastUnusualDays = Readonly<Record<string, string>>

export interface Expectation {
  readonly figure: ExpectedFigure
  readonly pipeline: CountedPipeline
  readonly actual: number
  readonly judgement: Judgement
  /**
   * The range that contains the number in 19 of 20 normal periods; null if `learning`, `withheld` or
   * `left_out`, and if it is too wide to help.
   */
  readonly range: NormalRange | null
  readonly expected: number | null
  /** The number of earlier periods of the same kind that are known, and the number that a range needs. */
  readonly periods: { readonly known: number; readonly needed: number }
  readonly record: RangeRecord | null
  /** The number of last periods in a row on this side of what was expected; 1 for this period alone. */
  readonly inARow: number
  readonly shift: Shift | null
  /** Null if no longer period was judged. Absent for made-up figures. */
  readonly within?: LongerPeriod | null
}

/** The columns of the table `lead` by which an unusual difference is split to find its cause. */
export type DriverDimension = 'pipeline_id' | 'source' | 'company_country' | 'agent_id'

/** The groups that cause an unusual number. `parts` and `rest` add up to `actual` minus `expected`. */
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

export interface Goal extends PaceGoal {
  readonly figure: CountedFigure
  readonly period: GoalPeriod
  readonly currency: string | null
  /** The ids of the pipelines whose leads count towards the goal; null for all pipelines. */
  readonly pipelines: readonly string[] | null
}

interface PaceGoal {
  readonly name: string
  readonly target: number
  readonly owner: string | null
}

/** The rate of 30 days, judged together with the other numbers. A pipeline's rate is never unusual. */
export interface JudgedWinRate extends Pick<Expectation, 'pipeline' | 'judgement' | 'record'> {
  readonly won: number
  readonly decided: number
  /** The range of the wins among `decided` leads; null if no range is shown. */
  readonly range: NormalRange | null
  /** The expected rate, from 0 to 1; null without a range. */
  readonly expected: number | null
  /** The number of earlier windows of 30 days that are known, and the number that a range needs. */
  readonly periods: Expectation['periods']
}

/** The span of time of a printed range. A kind with `_end` forecasts the end of the current span. */
export type RangeKind = 'day' | 'week' | 'month' | '30_days' | `${GoalPeriod}_end`

export interface PublishedRange {
  readonly figure: Exclude<CountedFigure, 'won_value'> | 'win_rate'
  readonly kind: RangeKind
  /** Null for all leads. */
  readonly pipelineIds: readonly string[] | null
  /** The last date that the report counted. */
  readonly asOfDay: string
  readonly firstDay: string
  readonly lastDay: string
  readonly range: NormalRange
  readonly actual: number | null
}

/** The number of ranges that reports published, and the number of those that contained the real number. */
export interface PublishedRecord
  extends Pick<PublishedRange, 'figure' | 'kind' | 'pipelineIds'>,
    RangeRecord {
  /** All ranges of the same time count as one here, and add to `hits` the share of them that was right. */
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
   * Contains the real number in 8 of 10 cases. Null in the first two weeks, if earlier forecasts failed, and
   * for amounts. `record.of` is 0 while no earlier span is known.
   */
  readonly end: (NormalRange & { readonly expected: number; readonly record: RangeRecord }) | null
}

/** Why a lead needs an action. `limitDays` is the time in the stage that nearly no won lead exceeded. */
export type TodayReason =
  | { readonly kind: 'overdue'; readonly expectedCloseAt: Instant }
  | {
      readonly kind: 'stalling'
      readonly stageDays: number
      readonly limitDays: number
      /** False if the limit is the number of days in the settings. */
      readonly isOfWinners: boolean
    }
  | {
      readonly kind: 'returned'
      readonly at: Instant
      /** The whole days for which the lead was lost or disqualified; null if unknown. */
      readonly days: number | null
    }
  | { readonly kind: 'uncontacted'; readonly score: number; readonly since: Instant }

export interface TodayLead {
  readonly lead: ListedLead
  readonly why: TodayReason
}

/** The open leads that need an action, the most valuable first. `rows` holds the first of `total`. */
export interface Today {
  readonly total: number
  /** The value of all of them, one amount for each currency. */
  readonly value: readonly Money[]
  /** The number of them by owner, the largest first; null for leads without an owner. */
  readonly byOwner: readonly { readonly owner: string | null; readonly leads: number }[]
  readonly rows: readonly TodayLead[]
}

/** The number of open leads that are older than 99 % of the won leads were when they were won. */
export interface OldLeadCount {
  readonly old: number
  readonly open: number
  /** One amount for each currency. */
  readonly value: readonly Money[]
  /** The age in days above which a lead is old. Only 1 % of the won leads were older when they were won. */
  readonly ageDays: number
  readonly winners: number
  /** The time of the count, which is made about once a day. */
  readonly countedAt: Instant
}

/**
 * Leads of one source that were created at one time, far more than on other days. `expectations` and `pace` do not count them, and
 * the scale of a chart should not follow them.
 */
export interface ImportedLeads {
  /** The local date on which they were created. */
  readonly day: string
  /** The number of them in the pipelines of the report. */
  readonly leads: number
  /** Null if they have none. */
  readonly source: string | null
}

/**
 * Old leads that were first read since the issue before. They count on the days on which they were created, so that
 * only what is open now became more: by `openValue`, one amount for each currency.
 */
export interface Backfill {
  readonly leads: number
  readonly openValue: readonly Money[]
}

/** An annotation (a person's note about days), as a report shows it. */
export interface DayNote extends Pick<Annotation, 'firstDay' | 'lastDay' | 'text' | 'isLeftOut'> {
  readonly pipeline: CountedPipeline
}

/** The counts of the same month or quarter one year before. */
export interface YearBefore {
  readonly period: Period
  readonly newLeads: number
  readonly won: number
}

export interface Insight {
  /** The judged numbers, first those of all leads, then those of each pipeline. */
  readonly expectations: readonly Expectation[]
  readonly lastUnusual: LastUnusualDays
  /** The record of the ranges that earlier issues published for all leads; absent if nothing was judged. */
  readonly publishedRecord?: RangeRecord
  readonly drivers: readonly Driver[]
  /** All leads first, then each pipeline. Empty if the report filters by more than pipelines. */
  readonly winRates: readonly JudgedWinRate[]
  readonly pace: readonly Pace[]
  /** The imports of the period and the charts, in order of their days. Absent for made-up figures. */
  readonly imports?: readonly ImportedLeads[]
  /** Null if there is none, and for an old period. Absent for made-up figures. */
  readonly backfill?: Backfill | null
  readonly today: Today
  /** Null if too few leads were won, if the report filters by more than pipelines, or for an old period. */
  readonly oldLeads: OldLeadCount | null
  /** The notes for the period and the charts are in order of their days. */
  readonly notes: readonly DayNote[]
  /**
   * The holidays of the period and the charts, in order, with their names in all languages of reports, because
   * the recipients of an issue read different languages. Absent for made-up figures.
   */
  readonly holidays?: readonly Holiday[]
  /** The number of working days that the period has fewer because of holidays. Absent for made-up figures. */
  readonly holidayCount?: number
  /** Null if the report is about shorter periods, or if that period is not known. Absent for made-up figures. */
  readonly yearBefore?: YearBefore | null
}

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
  /** Null for all leads. */
  readonly pipelineId: string | null
  /** True if the days are left out: no range learns from these days, and they are not judged. */
  readonly isLeftOut: boolean
  readonly writtenAt: Instant
  readonly writtenBy: string
}

/** The maximum length of the text of an annotation, in characters. */
export const ANNOTATION_TEXT_MAX = 120

/** Returns whether an annotation concerns these pipelines; null stands for all and matches any annotation. */
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
