/** The agents page: how each agent is now, how long it was up in the last 30 days, and its outages. */
import { daysBefore } from '../../domain/period.ts'
import type { OverviewKeeper } from '../../jobs/overview.ts'
import { PERIOD_DAYS } from '../../jobs/overview.ts'
import type { AgentHealth } from '../../report/blocks/agents/view.ts'
import { healthOf } from '../../report/blocks/agents/view.ts'
import { capitalise, oneLine, oneLineOrNull } from '../../report/words/clean-text.ts'
import { formatLocalDay } from '../../report/words/dates.ts'
import type { LocaleContext } from '../../report/words/locale-context.ts'
import { createLocaleContext, nameStatus } from '../../report/words/locale-context.ts'
import { counted } from '../../report/words/numbers.ts'
import { dateOf, localDay } from '../../schedule/zone.ts'
import type { AgentSpan, Overview } from '../../store/figures/pipeline-overview.ts'
import type { ListedAgent } from '../../store/sync/samples.ts'
import { listAgents } from '../../store/sync/samples.ts'
import { clockOf, count, dataAgeOf, LOCALE, lengthOf } from '../server/format.ts'
import type { DashboardDeps } from '../server/frame.ts'
import { frameOf } from '../server/frame.ts'
import type { AddRoutes } from '../server/server.ts'
import { sendPage } from '../server/server.ts'

interface AgentsDeps extends DashboardDeps {
  readonly overview: OverviewKeeper
}

const PATH = '/agents'

export function agentsRoutes({ store, pages, overview, now, timeZone }: AgentsDeps): AddRoutes {
  const page = pages.page('agents')
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const { from } = daysBefore(now(), PERIOD_DAYS, timeZone)
      const agents = await listAgents(store.db, from)
      const kept = await overview.read()
      const clock = clockOf(timeZone, now())
      const locale = createLocaleContext(LOCALE, timeZone, clock.now.toISOString())
      const view = {
        ...composeAgents(agents, kept.overview?.agents ?? null, locale, clock.now),
        dataAge: dataAgeOf(kept, PATH),
      }
      return sendPage(reply, page(view, frameOf(request, 'Agents', PATH), clock))
    })
  }
}

const NAME_LENGTH = 60
const ERROR_LENGTH = 200
const OUTAGES = 20
// The maximum age, in hours, of a healthy agent's last error that is still shown.
const ERROR_HOURS = 24
const TAGS = { well: 'ok', failing: 'fail', other: 'off' } as const
const ORDER: readonly (AgentHealth | 'deleted')[] = ['failing', 'other', 'well', 'deleted']

function composeAgents(
  agents: readonly ListedAgent[],
  past: Overview['agents'] | null,
  locale: LocaleContext,
  now: Date,
) {
  const spans = Map.groupBy(past?.spans ?? [], ({ agentId }) => agentId)
  return {
    sentence: sentenceOf(agents),
    readAt:
      agents
        .map(({ observedAt }) => observedAt)
        .sort()
        .at(-1) ?? null,
    agents: agents
      .toSorted((one, other) => ORDER.indexOf(stateOf(one)) - ORDER.indexOf(stateOf(other)))
      .map((agent) => ({
        ...rowOf(agent, locale, now),
        uptime: past && formatUptime(spans.get(agent.id) ?? []),
      })),
    past: past && composePast(past, locale),
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

function composePast({ from, to, gapMs, outages }: Overview['agents'], { tag, timeZone }: LocaleContext) {
  const write = (at: string) => formatLocalDay(tag, dateOf(localDay(Date.parse(at), timeZone)))
  const newest = outages.toSorted((one, other) => (one.beganAt < other.beganAt ? 1 : -1))
  return {
    from: write(from),
    to: write(to),
    asOf: to,
    gap: lengthOf(gapMs),
    outages: newest.slice(0, OUTAGES).map((outage) => ({
      ...outage,
      agent: oneLine(outage.agentName, NAME_LENGTH),
      length: lengthOf(outage.hours * HOUR_MS),
    })),
    more: newest.length > OUTAGES ? `and ${count(newest.length - OUTAGES)} before` : '',
  }
}

const HOUR_MS = 60 * 60_000
// The minimum known time for which an uptime is shown. For less time, an uptime would mean nothing.
const KNOWN_LEAST_MS = HOUR_MS

/**
 * Returns a text such as `up 75.0% of 8 h known, failing 1 time, 2 h in all`.
 * @param spans the times that one agent spent in each state, in order of time
 */
export function formatUptime(spans: readonly AgentSpan[]): string {
  const timeIn = (some: readonly AgentSpan[]) =>
    some.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0)
  const failures = spans.filter(({ state }) => state === 'failing')
  const [known, failing] = [timeIn(spans), timeIn(failures)]
  if (spans.length === 0) return 'nothing known'
  if (known < KNOWN_LEAST_MS) return 'not enough samples yet'
  if (failures.length === 0) return `up 100% of ${lengthOf(known)} known`
  // `100%` means that the agent never failed.
  const share = Math.min(99.9, (100 * (known - failing)) / known).toFixed(1)
  return `up ${share}% of ${lengthOf(known)} known, failing ${counted(failures.length, 'time')}, ${lengthOf(failing)} in all`
}
