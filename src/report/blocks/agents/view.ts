/** The agents block shows how many agents are healthy, and lists the others and the outages. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { AgentLine, Outage } from '../../../domain/lists.ts'
import { isLongAfter } from '../../context.ts'
import { oneLine, oneLineOrNull } from '../../words/clean-text.ts'
import { type LocaleContext, nameStatus } from '../../words/locale-context.ts'
import { moreThan } from '../lists.ts'

export type AgentHealth = 'well' | 'failing' | 'other'

const ROWS = 5
const OUTAGES = 3
const AGENT_NAME_LENGTH = 40
const AGENT_ERROR_LENGTH = 120

export const WELL = [
  'running',
  'idle',
  'active',
  'busy',
  'working',
  'ready',
  'waiting',
  'online',
  'ok',
  'healthy',
]
// The statuses of failing agents. An agent whose status is in neither list counts as neither healthy nor
// failing.
export const FAILING = [
  'failing',
  'failed',
  'error',
  'errored',
  'down',
  'offline',
  'crashed',
  'unhealthy',
  'degraded',
]

export function healthOf(agent: Pick<AgentLine, 'status'>): AgentHealth {
  const status = agent.status.toLowerCase()
  return WELL.includes(status) ? 'well' : FAILING.includes(status) ? 'failing' : 'other'
}

export function listFailing({ agents }: ReportFigures): readonly AgentLine[] {
  return agents.rows.filter((agent) => healthOf(agent) === 'failing')
}

/** Returns no view if all agents are healthy and were so, or if nothing is known of them. */
export function composeAgents(figures: ReportFigures, locale: LocaleContext) {
  const { words } = locale
  const { rows, outages } = figures.agents
  const unwell = [...listFailing(figures), ...rows.filter((agent) => healthOf(agent) === 'other')]
  // An agent whose outage still lasts has a line of its own instead.
  const ended = outages.filter(({ endedAt }) => endedAt !== null)
  if (unwell.length + ended.length === 0) return []
  const lines = ended.slice(0, OUTAGES).map((outage) => formatOutage(outage, locale))
  if (ended.length > OUTAGES) lines.push(words('agents.moreOutages', { n: ended.length - OUTAGES }))
  return [
    {
      kind: 'agents' as const,
      title: words('agents.title'),
      note: noteOf(figures, rows.length - unwell.length, locale),
      agents: unwell.slice(0, ROWS).map((agent) => ({
        name: oneLine(agent.name, AGENT_NAME_LENGTH),
        status: nameStatus(agent.status, locale),
        tone: healthOf(agent) === 'failing' ? 'bad' : 'neutral',
        detail: detailOf(agent, locale),
        error: oneLineOrNull(agent.lastErrorMessage, AGENT_ERROR_LENGTH) ?? '',
      })),
      more: moreThan(ROWS, unwell.length, locale),
      outages: lines,
    },
  ]
}

/** Formats `11 of 12 healthy: 7 running, 4 idle · as of 06:00`. */
function noteOf(figures: ReportFigures, well: number, locale: LocaleContext): string {
  const { agents } = figures
  const { words, dates } = locale
  if (isLongAfter(agents.asOf, figures))
    return words('agents.ofLater', { at: dates.recent(agents.asOf ?? '') })
  const states = countStates(
    agents.rows.filter((agent) => healthOf(agent) === 'well'),
    locale,
  )
  const health = words('agents.someHealthy', { well, total: agents.rows.length })
  const asOf = agents.asOf ? ` · ${words('agents.asOf', { at: dates.recent(agents.asOf) })}` : ''
  return `${[health, states].filter(Boolean).join(': ')}${asOf}`
}

/** Formats `7 running, 4 idle`, the most frequent status first, or `all idle` if there is only one status. */
function countStates(agents: readonly AgentLine[], locale: LocaleContext): string {
  const counts = new Map<string, number>()
  for (const { status } of agents) {
    const word = stateOf(status, locale)
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const [only, ...others] = counts.keys()
  if (only !== undefined && others.length === 0 && agents.length > 1)
    return locale.words('agents.all', { state: only })
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([word, count]) => `${locale.numbers.count(count)} ${word}`)
    .join(', ')
}

/** Formats a status for use within a sentence: `meeting booked`. A name in capitals becomes lower case. */
function stateOf(status: string, locale: LocaleContext): string {
  const name = nameStatus(status, locale)
  return name === name.toUpperCase() ? name.toLowerCase() : name.charAt(0).toLowerCase() + name.slice(1)
}

function detailOf(agent: AgentLine, { words, dates }: LocaleContext): string {
  return [
    agent.statusChangedAt && words('agents.since', { at: dates.recent(agent.statusChangedAt) }),
    agent.errors24h && words('agents.errors', { n: agent.errors24h }),
    agent.lastSeenAt && words('agents.lastSeen', { at: dates.recent(agent.lastSeenAt) }),
  ]
    .filter(Boolean)
    .join(' · ')
}

function formatOutage(
  { agentName, beganAt, endedAt, hours }: Outage,
  { words, dates, numbers }: LocaleContext,
): string {
  const name = oneLine(agentName, AGENT_NAME_LENGTH)
  const say = endedAt !== null && dates.areSameDay(beganAt, endedAt) ? dates.time : dates.instant
  return words('agents.outage', {
    name,
    from: dates.instant(beganAt),
    to: endedAt && say(endedAt),
    hours: numbers.decimal(hours, hours < 10 ? 1 : 0),
  })
}
