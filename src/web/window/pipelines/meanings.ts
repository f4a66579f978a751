/** What the numbers of these pages mean: the definitions that reports and commands count them by. */
import { tellDates } from '../../../report/period.ts'
import type { FigureName } from '../../../store/figures/definition.ts'
import type { Overview } from '../../../store/figures/pipeline-overview.ts'
import { findFigure } from '../../../store/figures/query.ts'
import type { Clock, Moment } from '../moment.ts'

/** What `{{> window-meanings}}` shows. */
export interface MeaningsView {
  /** `2026-10-22 to 2026-11-20` */
  readonly period: string
  /** Of what is told of a moment. */
  readonly asOf: Moment
  readonly figures: readonly { readonly title: string; readonly meaning: string }[]
  /** Prints the SQL of a figure. */
  readonly command: string
}

/** In the order of the columns. */
const SHOWN = [
  ...(['leads', 'open', 'open_value', 'stalled', 'new_leads', 'won'] as const),
  ...(['period_conversion', 'win_rate'] as const),
] satisfies readonly FigureName[]

/**
 * @param called how a command of the program is written
 * @param pipelineId null for all
 */
export function composeMeanings(
  { asOf, period, stalledDays }: Overview,
  called: string,
  pipelineId: string | null,
  clock: Clock,
): MeaningsView {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: period.timeZone, dateStyle: 'short' })
  const [from, to] = [period.from, period.to].map((at) => day.format(Date.parse(at)))
  const scope = pipelineId === null ? '' : ` --pipeline ${pipelineId}`
  return {
    period: tellDates(period),
    asOf: clock.at(asOf),
    figures: SHOWN.map((name) => {
      const { title, meaning } = findFigure(name)
      return { title, meaning: meaning.replace('`stalled_days`', String(stalledDays)) }
    }),
    command: `${called} explain won --from ${from} --to ${to}${scope}`,
  }
}
