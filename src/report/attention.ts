/** What a reader should act on; an empty list when there is nothing. */
import type { DailyFigures } from '../model.ts'
import { AGENT_ERROR_LENGTH, AGENT_NAME_LENGTH, listFailing } from './agents.ts'
import { words } from './messages.ts'
import { formatRecent, type Reader } from './moment.ts'
import { oneLine, oneLineOrNull } from './text.ts'

/** Failing agents named one by one. */
const NAMED = 3
const COMPANY_LENGTH = 40

export function composeAttention(figures: DailyFigures, reader: Reader): readonly string[] {
  const { stalled, freshness } = figures
  const failing = listFailing(figures)
  const items = failing.slice(0, NAMED).map((agent) => {
    const since = agent.statusChangedAt && formatRecent(agent.statusChangedAt, reader)
    const error = oneLineOrNull(agent.lastErrorMessage, AGENT_ERROR_LENGTH)
    return words.attention.failing(oneLine(agent.name, AGENT_NAME_LENGTH), since, error)
  })
  if (failing.length > NAMED) items.push(words.attention.moreFailing(failing.length - NAMED))
  if (stalled.total > 0) {
    const worst = stalled.rows[0]
    const company = worst ? oneLine(worst.companyName, COMPANY_LENGTH) : null
    items.push(
      words.attention.stalled(stalled.total, stalled.days, company, words.stalled.days(worst?.idleDays ?? 0)),
    )
  }
  if (freshness.heldRows > 0) items.push(words.attention.held(freshness.heldRows))
  return items
}
