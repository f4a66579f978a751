/** The agents page: how each agent is now, and the outages of the last 30 days. */

import type { Outage } from '../../domain/lists.ts'
import { daysBefore } from '../../domain/period.ts'
import { type AgentHealth, healthOf } from '../../report/blocks/agents/view.ts'
import { capitalise, oneLine, oneLineOrNull } from '../../report/words/clean-text.ts'
import { createLocaleContext, type LocaleContext, nameStatus } from '../../report/words/locale-context.ts'
import { counted } from '../../report/words/numbers.ts'
import { type ListedAgent, listAgents, listOutages } from '../../store/sync/samples.ts'
import { clockOf, count, LOCALE, lengthOf } from '../server/format.ts'
import { type DashboardDeps, frameOf } from '../server/frame.ts'
import { type AddRoutes, sendPage } from '../server/server.ts'

const PATH = '/agents'

export function agentsRoutes({ store, pages, now, timeZone }: DashboardDeps): AddRoutes {
  const page = pages.page('agents')
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const { from } = daysBefore(now(), DAYS, timeZone)
      const agents = await listAgents(store.db, from)
      const outages = await listOutages(store.db, from)
      const clock = clockOf(timeZone, now())
      const locale = createLocaleContext(LOCALE, timeZone, clock.now.toISOString())
      const view = {
        ...composeAgents(agents, locale, clock.now),
        from,
        outages: outages.slice(0, OUTAGES).map(composeOutage),
        more: outages.length > OUTAGES ? `and ${count(outages.length - OUTAGES)} before` : '',
      }
      return sendPage(reply, page(view, frameOf(request, 'Agents', PATH), clock))
    })
  }
}

/** Deleted agents and outages are shown for so many days. */
const DAYS = 30
const HOUR_MS = 60 * 60_000
const NAME_LENGTH = 60
const ERROR_LENGTH = 200
const OUTAGES = 20
// The maximum age, in hours, of a healthy agent's last error that is still shown.
const ERROR_HOURS = 24
const TAGS = { well: 'ok', failing: 'fail', other: 'off' } as const
const ORDER: readonly (AgentHealth | 'deleted')[] = ['failing', 'other', 'well', 'deleted']

function composeAgents(agents: readonly ListedAgent[], locale: LocaleContext, now: Date) {
  return {
    sentence: sentenceOf(agents),
    readAt:
      agents
        .map(({ observedAt }) => observedAt)
        .sort()
        .at(-1) ?? null,
    agents: agents
      .toSorted((one, other) => ORDER.indexOf(stateOf(one)) - ORDER.indexOf(stateOf(other)))
      .map((agent) => rowOf(agent, locale, now)),
  }
}

function stateOf(agent: ListedAgent): AgentHealth | 'deleted' {
  return agent.deletedSince === null ? healthOf(agent) : 'deleted'
}

function sentenceOf(agents: readonly ListedAgent[]): string {
  const there = agents.filter(({ deletedSince }) => deletedSince === null)
  if (there.length === 0) return 'The service has no agents'
  const well = there.filter((agent) => healthOf(agent) === 'well').length
  const failing = there.filter((agent) => healthOf(agent) === 'failing').length
  if (well === there.length)
    return there.length === 1 ? 'The one agent is well' : `All ${count(well)} agents are well`
  const failed = failing === 0 ? '' : `, ${count(failing)} ${failing === 1 ? 'is' : 'are'} failing`
  return `${count(well)} of ${counted(there.length, 'agent')} ${well === 1 ? 'is' : 'are'} well${failed}`
}

function rowOf(agent: ListedAgent, locale: LocaleContext, now: Date) {
  const { deletedSince, statusChangedAt, taskType, taskPipeline, taskProgress } = agent
  const isErrorNews =
    stateOf(agent) !== 'well' || Date.parse(agent.lastErrorAt ?? '') > now.getTime() - ERROR_HOURS * HOUR_MS
  const task = [
    taskType && capitalise(taskType),
    taskType && taskPipeline && `for ${oneLine(taskPipeline, NAME_LENGTH)}`,
    taskType && taskProgress !== null && `(${locale.numbers.percent(taskProgress)} done)`,
  ]
  return {
    ...agent,
    name: oneLine(agent.name, NAME_LENGTH),
    kind: agent.kind === null ? '' : capitalise(agent.kind),
    tag:
      deletedSince === null
        ? { kind: TAGS[healthOf(agent)], text: nameStatus(agent.status, locale) }
        : { kind: 'warn', text: 'Deleted' },
    since: deletedSince ?? statusChangedAt,
    task: deletedSince === null ? task.filter(Boolean).join(' ') : '',
    error: (isErrorNews && oneLineOrNull(agent.lastErrorMessage, ERROR_LENGTH)) || '',
  }
}

function composeOutage(outage: Outage) {
  return {
    ...outage,
    agent: oneLine(outage.agentName, NAME_LENGTH),
    length: lengthOf(outage.hours * HOUR_MS),
  }
}
