/** What a reader should act on; an empty list when there is nothing. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { ReportContext } from '../../context.ts'
import { composeHistory } from '../../coverage.ts'
import { oneLine, oneLineOrNull } from '../../words/clean-text.ts'
import type { Voice } from '../../words/locale-context.ts'
import { AGENT_ERROR_LENGTH, AGENT_NAME_LENGTH, listFailing } from '../agents/view.ts'

export interface AttentionView {
  readonly kind: 'attention'
  readonly title: string
  readonly items: readonly string[]
}

/** Failing agents named one by one. */
const NAMED = 3
const COMPANY_LENGTH = 40

export function composeAttention(
  figures: ReportFigures,
  voice: Voice,
  context: ReportContext,
): AttentionView {
  const { attention, days, files } = voice.words
  const { stalled, freshness } = figures
  const failing = listFailing(figures)
  const items = failing.slice(0, NAMED).map((agent) => {
    const since = agent.statusChangedAt && voice.dates.recent(agent.statusChangedAt)
    const error = oneLineOrNull(agent.lastErrorMessage, AGENT_ERROR_LENGTH)
    return attention.failing(oneLine(agent.name, AGENT_NAME_LENGTH), since, error)
  })
  if (failing.length > NAMED) items.push(attention.moreFailing(failing.length - NAMED))
  const history = composeHistory(stalled.coverage, voice)
  if (stalled.total > 0 && history.isShown) {
    const worst = stalled.rows[0]
    const company = worst ? oneLine(worst.companyName, COMPANY_LENGTH) : null
    const said = attention.stalled(stalled.total, stalled.days, company, days(worst?.idleDays ?? 0))
    items.push(history.note === '' ? said : `${said.replace(/\.$/, '')} (${history.note}).`)
  }
  if (freshness.heldRows > 0) items.push(attention.held(freshness.heldRows))
  for (const { name, megabytes } of context.leftOut)
    items.push(files.leftOut(oneLine(name, COMPANY_LENGTH), voice.numbers.decimal(megabytes, 1)))
  return { kind: 'attention', title: attention.title, items }
}
