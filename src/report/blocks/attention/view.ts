/** The attention block lists what a recipient should act on. The list is empty if there is nothing to do. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { BlockContext } from '../../context.ts'
import { composeHistory } from '../../context.ts'
import { oneLine, oneLineOrNull } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { AGENT_ERROR_LENGTH, AGENT_NAME_LENGTH, listFailing } from '../agents/view.ts'

// The maximum number of failing agents that are named. Any further failing agents are only counted.
const NAMED = 3
const COMPANY_LENGTH = 40

export function composeAttention(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { stalled, freshness } = figures
  const failing = listFailing(figures)
  const items = failing.slice(0, NAMED).map((agent) => {
    const since = agent.statusChangedAt && locale.dates.recent(agent.statusChangedAt)
    const error = oneLineOrNull(agent.lastErrorMessage, AGENT_ERROR_LENGTH)
    return locale.words('attention.failing', {
      name: oneLine(agent.name, AGENT_NAME_LENGTH),
      since,
      error,
      hasError: error !== null,
    })
  })
  if (failing.length > NAMED) items.push(locale.words('attention.moreFailing', { n: failing.length - NAMED }))
  const history = composeHistory(stalled.coverage, locale)
  if (stalled.total > 0 && history.isShown) {
    const worst = stalled.rows[0]
    const company = worst ? oneLine(worst.companyName, COMPANY_LENGTH) : null
    const said = locale.words('attention.stalled', {
      n: stalled.total,
      idleDays: stalled.days,
      company,
      hasCompany: company !== null,
      idle: locale.words('days', { n: worst?.idleDays ?? 0 }),
    })
    items.push(history.note === '' ? said : `${said.replace(/\.$/, '')} (${history.note}).`)
  }
  if (freshness.quarantinedRecords > 0)
    items.push(locale.words('attention.quarantined', { n: freshness.quarantinedRecords }))
  for (const { name, megabytes } of context.leftOut)
    items.push(
      locale.words('attention.leftOut', {
        name: oneLine(name, COMPANY_LENGTH),
        megabytes: locale.numbers.decimal(megabytes, 1),
      }),
    )
  return { kind: 'attention' as const, title: locale.words('attention.title'), items }
}
