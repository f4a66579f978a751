/** The freshness block has in small type how old the data is, and everything that a recipient should know of it. */
import type { ReportFigures } from '../../../domain/figures.ts'
import { type BlockContext, composeHistory } from '../../context.ts'
import { composeWarnings } from '../../warnings.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { listFailing } from '../agents/view.ts'

const NAME_LENGTH = 40

export function composeFreshness(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, dates, numbers } = locale
  const { freshness, agents, known } = figures
  const failing = listFailing(figures).length
  const history = composeHistory(known.status.current, locale)
  const value = composeHistory(known.value.current, locale)
  const first = [
    freshness.dataAsOf === null
      ? words('freshness.never')
      : words('freshness.dataAsOf', { at: dates.recent(freshness.dataAsOf) }),
    failing > 0 && words('freshness.failing', { n: failing, of: agents.rows.length }),
    freshness.quarantinedRecords > 0 && words('freshness.quarantined', { n: freshness.quarantinedRecords }),
    history.note !== '' && words('freshness.history', { ...known.status.current }),
    value.isShown && value.note !== '' && words('freshness.values', { ...known.value.current }),
  ]
  const leftOut = context.leftOut.map(({ name, megabytes }) =>
    words('freshness.leftOut', {
      name: oneLine(name, NAME_LENGTH),
      megabytes: numbers.decimal(megabytes, 1),
    }),
  )
  return {
    kind: 'freshness' as const,
    lines: [first.filter(Boolean).join(' '), ...composeWarnings(figures, locale, context), ...leftOut],
  }
}
