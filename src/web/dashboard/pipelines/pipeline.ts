/**
 * The page of one pipeline: its figures, trend and funnel, and a comparison of the upstream's statistics with
 * our own figures.
 */
import type { Funnel } from '../../../domain/figures.ts'
import { composeHistory } from '../../../report/context.ts'
import { capitalise } from '../../../report/words/clean-text.ts'
import { type LocaleContext, nameStatus } from '../../../report/words/locale-context.ts'
import { signed } from '../../../report/words/numbers.ts'
import type { PipelineOverview } from '../../../store/figures/pipeline-overview.ts'
import type { StatPair } from '../../../store/figures/service-stats.ts'
import { type Clock, count, type Moment, NONE, nameOf, numbers, share } from '../format.ts'
import { cellsOf, type PipelineLine } from './list.ts'
import { composeTrend, type TrendDays, type TrendView } from './trend.ts'

interface PipelineView extends Omit<PipelineLine, 'href' | 'spark'> {
  readonly id: string
  readonly trend: TrendView
  readonly funnel: FunnelView
  readonly statistics: StatisticsView
}

interface FunnelView {
  readonly isOurs: boolean
  /**
   * A note on our own funnel, such as `known for 200 of 2,996 leads`; empty if the history of every lead is
   * known. The stages are left out if too few are known.
   */
  readonly known: string
  readonly asOf: Moment | null
  /**
   * A note on the stages' days, such as `known for 200 of 2,996 leads`; empty if all are known. Begins with
   * `not shown` if too few are known.
   */
  readonly daysKnown: string
  readonly stages: readonly {
    readonly name: string
    readonly reached: string
    readonly conversion: string
    readonly days: string
    /** The width of the bar, in percent of the bar of the largest stage. */
    readonly bar: string
  }[]
}

interface StatisticsView {
  /** The time of the upstream's statistics; null if no statistics have been read. */
  readonly asOf: Moment | null
  readonly isSame: boolean
  readonly rows: readonly {
    readonly figure: string
    readonly ours: string
    readonly upstream: string
    /** The difference between the two values; empty if both are the same. */
    readonly difference: string
  }[]
}

export function composePipeline(
  pipeline: PipelineOverview,
  days: TrendDays,
  locale: LocaleContext,
  clock: Clock,
): PipelineView {
  const { id, name, status, trend, funnel, statistics } = pipeline
  const { spark: _, ...cells } = cellsOf(pipeline)
  return {
    ...{ id, name: nameOf(name), status: status === null ? '' : capitalise(status), ...cells },
    trend: composeTrend(trend, days, `/pipelines/${encodeURIComponent(id)}`, locale),
    funnel: composeFunnel(funnel, locale, clock),
    statistics: composeStatistics(statistics, locale, clock),
  }
}

function composeFunnel(
  { source, asOf, stages: all, coverage, daysCoverage }: Funnel,
  locale: LocaleContext,
  clock: Clock,
): FunnelView {
  const history = coverage === null ? null : composeHistory(coverage, locale)
  const stages = history?.isShown === false ? [] : all
  const ofDays = composeHistory(daysCoverage, locale)
  const most = Math.max(1, ...stages.map(({ reached }) => reached))
  return {
    isOurs: source === 'ours',
    known: history?.note ?? '',
    asOf: clock.at(asOf),
    daysKnown: ofDays.isShown ? ofDays.note : `not shown, ${ofDays.note}`,
    stages: stages.map(({ status, reached, medianDays }, index) => {
      const before = stages[index - 1]
      return {
        name: nameStatus(status, locale),
        reached: count(reached),
        conversion: before === undefined ? NONE : share({ part: reached, whole: before.reached }),
        days: medianDays === null || !ofDays.isShown ? NONE : writeDays(medianDays),
        // A stage that any lead has reached keeps a visible bar.
        bar: reached === 0 ? '0' : String(Math.max(1, Math.round((100 * reached) / most))),
      }
    }),
  }
}

/** Formats days: `<0.1`, `0.2`, `4.0`, `12`. */
function writeDays(days: number): string {
  if (days < 0.05) return `<${numbers.fixed(0.1, 1)}`
  return days < 9.95 ? numbers.fixed(days, 1) : count(days)
}

function composeStatistics(
  pairs: readonly StatPair[],
  { words }: LocaleContext,
  clock: Clock,
): StatisticsView {
  const asOf = pairs[0]?.asOf
  return {
    asOf: asOf === undefined ? null : clock.at(asOf),
    isSame: pairs.every(({ isSame }) => isSame),
    rows: pairs.map((pair) => ({
      figure: words(`service_stats.figures.${pair.figure}`),
      ours: write(pair, pair.ours),
      upstream: write(pair, pair.upstream),
      difference: pair.isSame ? '' : signed(pair.upstream - pair.ours, (size) => write(pair, size)),
    })),
  }
}

/** Formats a value without rounding, because rounding could make two different amounts look the same. */
function write({ figure, currency }: StatPair, value: number): string {
  if (figure === 'win_rate') return numbers.exactRate(value)
  return currency === null ? count(value) : numbers.exactMoney({ amount: value, currency })
}
