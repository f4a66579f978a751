/** The agents: a count of the well ones, a line for each of the others. */
import type { AgentLine, DailyFigures } from '../model.ts'
import { formatCount } from './format.ts'
import { words } from './messages.ts'
import { formatRecent, type Reader } from './moment.ts'
import { capitalise, oneLine, oneLineOrNull } from './text.ts'

type AgentHealth = 'well' | 'failing' | 'other'

export interface AgentsView {
  readonly title: string
  readonly note: string
  readonly agents: readonly {
    name: string
    status: string
    tone: 'bad' | 'neutral'
    detail: string
    error: string
  }[]
  readonly more: string
}

const ROWS = 5
export const AGENT_NAME_LENGTH = 40
export const AGENT_ERROR_LENGTH = 120

// Other upstreams have other words; what is in neither list is shown as it is and counts as not well.
const WELL = ['running', 'idle', 'active', 'busy', 'working', 'ready', 'waiting', 'online', 'ok', 'healthy']
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

function healthOf(agent: AgentLine): AgentHealth {
  const status = agent.status.toLowerCase()
  return WELL.includes(status) ? 'well' : FAILING.includes(status) ? 'failing' : 'other'
}

export function listFailing({ agents }: DailyFigures): readonly AgentLine[] {
  return agents.rows.filter((agent) => healthOf(agent) === 'failing')
}

export function composeAgents(figures: DailyFigures, reader: Reader): AgentsView {
  const { rows } = figures.agents
  const unwell = [...listFailing(figures), ...rows.filter((agent) => healthOf(agent) === 'other')]
  return {
    title: words.agents.title,
    note: noteOf(figures, rows.length - unwell.length, reader),
    agents: unwell.slice(0, ROWS).map((agent) => ({
      name: oneLine(agent.name, AGENT_NAME_LENGTH),
      status: capitalise(agent.status),
      tone: healthOf(agent) === 'failing' ? 'bad' : 'neutral',
      detail: detailOf(agent, reader),
      error: oneLineOrNull(agent.lastErrorMessage, AGENT_ERROR_LENGTH) ?? '',
    })),
    more: unwell.length > ROWS ? words.agents.more(unwell.length - ROWS) : '',
  }
}

/** `11 of 12 healthy: 7 running, 4 idle · as of 06:00` */
function noteOf({ agents }: DailyFigures, well: number, reader: Reader): string {
  const total = agents.rows.length
  if (total === 0) return words.agents.empty
  const health = well === total ? words.agents.allHealthy(total) : words.agents.someHealthy(well, total)
  const states = countStates(agents.rows.filter((agent) => healthOf(agent) === 'well'))
  const asOf = agents.asOf ? ` · ${words.agents.asOf(formatRecent(agents.asOf, reader))}` : ''
  return `${[health, states].filter(Boolean).join(': ')}${asOf}`
}

/** `7 running, 4 idle`, the most frequent first; `all idle` where there is but one state. */
function countStates(agents: readonly AgentLine[]): string {
  const counts = new Map<string, number>()
  for (const { status } of agents) {
    const word = capitalise(status).toLowerCase()
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const [only, ...others] = counts.keys()
  if (only !== undefined && others.length === 0 && agents.length > 1) return words.agents.all(only)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([word, count]) => `${formatCount(count)} ${word}`)
    .join(', ')
}

function detailOf(agent: AgentLine, reader: Reader): string {
  return [
    agent.statusChangedAt && words.agents.since(formatRecent(agent.statusChangedAt, reader)),
    agent.errors24h && words.agents.errors(agent.errors24h),
    agent.lastSeenAt && words.agents.lastSeen(formatRecent(agent.lastSeenAt, reader)),
  ]
    .filter(Boolean)
    .join(' · ')
}
