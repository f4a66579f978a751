/** The service's own statistics, where they are not what we count. */
import type { ReportFigures, StatDifference } from '../../../domain/figures.ts'
import { isLongAfter } from '../../coverage.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { Voice } from '../../words/locale-context.ts'
import { NAME_LENGTH } from '../list-rows.ts'

const ROWS = 5

export interface ServiceStatsView {
  readonly kind: 'service_stats'
  readonly title: string
  readonly note: string
  readonly columns: { readonly figure: string; readonly ours: string; readonly upstream: string }
  readonly lines: readonly {
    readonly figure: string
    readonly pipeline: string
    readonly ours: string
    readonly upstream: string
  }[]
  readonly more: string
}

export function composeServiceStats(figures: ReportFigures, voice: Voice): ServiceStatsView {
  const { serviceStats, freshness } = figures
  const asOf = serviceStats[0]?.asOf ?? freshness.statsAsOf
  const { ofLater } = voice.words.serviceStats
  const when = isLongAfter(asOf, figures) ? ` · ${ofLater(voice.dates.recent(asOf ?? ''))}` : ''
  const { words } = voice
  const shown = serviceStats.slice(0, ROWS)
  return {
    kind: 'service_stats',
    title: words.serviceStats.title,
    note: (shown.length === 0 ? words.serviceStats.agree : words.serviceStats.note) + when,
    columns: {
      figure: words.serviceStats.figure,
      ours: words.serviceStats.ours,
      upstream: words.serviceStats.upstream,
    },
    lines: shown.map((line) => ({
      figure: words.serviceStats.figures[line.figure],
      pipeline: oneLine(line.pipelineName, NAME_LENGTH),
      ours: write(line, line.ours, voice),
      upstream: write(line, line.upstream, voice),
    })),
    more: serviceStats.length > ROWS ? words.more.some(serviceStats.length - ROWS) : '',
  }
}

/** In full: rounded, two different amounts could read the same. */
function write({ figure, currency }: StatDifference, value: number, { numbers }: Voice): string {
  if (figure === 'win_rate') return numbers.exactRate(value)
  return currency === null ? numbers.count(value) : numbers.exactMoney({ amount: value, currency })
}
