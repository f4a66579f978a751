/** The service statistics block shows the upstream's statistics that differ from our own counts. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { StatDifference } from '../../../domain/lists.ts'
import { isLongAfter } from '../../context.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { moreThan, NAME_LENGTH } from '../lists.ts'

const ROWS = 5

/** Returns no view if the service counts the same as we do. */
export function composeServiceStats(figures: ReportFigures, locale: LocaleContext) {
  const { serviceStats } = figures
  const [first] = serviceStats
  if (first === undefined) return []
  const { asOf } = first
  const when = isLongAfter(asOf, figures)
    ? ` · ${locale.words('service_stats.ofLater', { at: locale.dates.recent(asOf) })}`
    : ''
  const { words } = locale
  const shown = serviceStats.slice(0, ROWS)
  return [
    {
      kind: 'service_stats' as const,
      title: words('service_stats.title'),
      note: words('service_stats.note') + when,
      columns: {
        figure: words('service_stats.figure'),
        ours: words('service_stats.ours'),
        upstream: words('service_stats.upstream'),
      },
      lines: shown.map((line) => ({
        figure: words(`service_stats.figures.${line.figure}`),
        pipeline: oneLine(line.pipelineName, NAME_LENGTH),
        ours: writeStat(line, line.ours, locale),
        upstream: writeStat(line, line.upstream, locale),
      })),
      more: moreThan(ROWS, serviceStats.length, locale),
    },
  ]
}

/** Formats a value without rounding, because rounding could make two different amounts look the same. */
function writeStat(
  { figure, currency }: Pick<StatDifference, 'figure' | 'currency'>,
  value: number,
  { numbers }: LocaleContext,
): string {
  if (figure === 'win_rate') return numbers.exactRate(value)
  return currency === null ? numbers.count(value) : numbers.exactMoney({ amount: value, currency })
}
