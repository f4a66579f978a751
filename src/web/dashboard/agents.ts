/** The agents page: the state of each agent now and over the last 30 days. */

import type { Outage } from '../../domain/lists.ts'
import { daysBefore } from '../../domain/period.ts'
import { type OverviewKeeper, PERIOD_DAYS } from '../../jobs/overview.ts'
import { type AgentHealth, healthOf } from '../../report/blocks/agents/view.ts'
import { capitalise, oneLine, oneLineOrNull } from '../../report/words/clean-text.ts'
import { formatLocalDay } from '../../report/words/dates.ts'
import { createLocaleContext, type LocaleContext, nameStatus } from '../../report/words/locale-context.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Overview } from '../../store/figures/pipeline-overview.ts'
import { type ListedAgent, listAgents } from '../../store/sync/samples.ts'
import { type DashboardDeps, frameOf } from '../server/frame.ts'
import { type AddRoutes, sendPage } from '../server/server.ts'
import {
  type Clock,
  clockOf,
  count,
  type DataAge,
  dataAgeOf,
  LOCALE,
  lengthOf,
  type Moment,
  type Tag,
} from './format.ts'
import { composeUptimeBar, type UptimeBar } from './uptime-bar.ts'

interface AgentsDeps extends DashboardDeps {
  readonly overview: OverviewKeeper
}

const PATH = '/agents'

export function agentsRoutes({ store, pages, overview, now, timeZone }: AgentsDeps): AddRoutes {
  const page = pages.page<AgentsView & { readonly dataAge: DataAge }>('agents')
  return (app) => {
    app.get(PATH, async (request, reply) => {
      const { from } = daysBefore(now(), PERIOD_DAYS, timeZone)
      const agents = await listAgents(store.db, from)
      const kept = await overview.read()
      const clock = clockOf(timeZone, now())
      const locale = createLocaleContext(LOCALE, timeZone, clock.now.toISOString())
      const view = {
        ...composeAgents(agents, kept.overview?.agents ?? null, locale, clock),
        dataAge: dataAgeOf(kept, PATH, clock),
      }
      return sendPage(reply, page(view, frameOf(request, 'Agents', PATH)))
    })
  }
}

interface AgentsView {
  /** A sentence such as `11 of 12 agents are well, 1 is failing`. */
  readonly sentence: string
  readonly readAt: Moment | null
  readonly readAgo: Moment | null
  readonly agents: readonly AgentRow[]
  /** The states over the last 30 days; null if the samples are not counted yet. */
  readonly past: PastView | null
}

interface AgentRow {
  readonly name: string
  readonly kind: string
  readonly tag: Tag
  readonly since: Moment | null
  readonly task: string
  readonly lastSeen: Moment | null
  readonly tasks: string
  readonly errors: string
  readonly error: string
  readonly errorAt: Moment | null
  readonly uptimeBar: UptimeBar | null
}

interface PastView {
  readonly from: string
  readonly to: string
  readonly asOf: Moment
  /** Two samples that are at least this far apart leave a gap between them, such as `2 h`. */
  readonly gap: string
  /** The outages, newest first. */
  readonly outages: readonly {
    readonly agent: string
    readonly began: Moment
    /** The end of the outage; null while the outage lasts. */
    readonly ended: Moment | null
    readonly length: string
  }[]
  readonly more: string
}

const NAME_LENGTH = 60
const ERROR_LENGTH = 200
const OUTAGES = 20
// The last error of a healthy agent is shown only if it is younger than this many hours.
const ERROR_HOURS = 24
const HOUR_MS = 60 * 60_000
const TAGS = { well: 'ok', failing: 'fail', other: 'off' } as const
const ORDER: readonly (AgentHealth | 'gone')[] = ['failing', 'other', 'well', 'gone']

export function composeAgents(
  agents: readonly ListedAgent[],
  past: Overview['agents'] | null,
  locale: LocaleContext,
  clock: Clock,
): AgentsView {
  const spans = Map.groupBy(past?.spans ?? [], ({ agentId }) => agentId)
  const readAt = agents.reduce<string | null>(
    (last, { observedAt }) => (last !== null && last > observedAt ? last : observedAt),
    null,
  )
  return {
    sentence: sentenceOf(agents),
    readAt: clock.at(readAt),
    readAgo: clock.ago(readAt),
    agents: agents
      .toSorted((one, other) => ORDER.indexOf(stateOf(one)) - ORDER.indexOf(stateOf(other)))
      .map((agent) => ({
        ...rowOf(agent, locale, clock),
        uptimeBar: past && composeUptimeBar(spans.get(agent.id) ?? [], past),
      })),
    past: past && composePast(past, locale, clock),
  }
}

function stateOf(agent: ListedAgent): AgentHealth | 'gone' {
  return agent.deletedSince === null ? healthOf(agent) : 'gone'
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

function rowOf(agent: ListedAgent, locale: LocaleContext, clock: Clock): Omit<AgentRow, 'uptimeBar'> {
  const { deletedSince, statusChangedAt, taskType, taskPipeline, taskProgress } = agent
  const isErrorNews =
    stateOf(agent) !== 'well' ||
    Date.parse(agent.lastErrorAt ?? '') > clock.now.getTime() - ERROR_HOURS * HOUR_MS
  const task = [
    taskType && capitalise(taskType),
    taskType && taskPipeline && `for ${oneLine(taskPipeline, NAME_LENGTH)}`,
    taskType && taskProgress !== null && `(${locale.numbers.percent(taskProgress)} done)`,
  ]
  return {
    name: oneLine(agent.name, NAME_LENGTH),
    kind: agent.kind === null ? '' : capitalise(agent.kind),
    tag:
      deletedSince === null
        ? { kind: TAGS[healthOf(agent)], text: nameStatus(agent.status, locale) }
        : { kind: 'warn', text: 'Deleted' },
    since: clock.at(deletedSince ?? statusChangedAt),
    task: deletedSince === null ? task.filter(Boolean).join(' ') : '',
    lastSeen: clock.at(agent.lastSeenAt),
    tasks: agent.tasks24h === null ? '' : count(agent.tasks24h),
    errors: agent.errors24h === null ? '' : count(agent.errors24h),
    error: (isErrorNews && oneLineOrNull(agent.lastErrorMessage, ERROR_LENGTH)) || '',
    errorAt: clock.at(agent.lastErrorAt),
  }
}

function composePast(
  { from, to, gapMs, outages }: Overview['agents'],
  { tag, timeZone }: LocaleContext,
  clock: Clock,
): PastView {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const write = (at: string) => formatLocalDay(tag, day.format(Date.parse(at)))
  const newest = outages.toSorted((one, other) => (one.beganAt < other.beganAt ? 1 : -1))
  return {
    from: write(from),
    to: write(to),
    asOf: clock.at(to),
    gap: lengthOf(gapMs),
    outages: newest.slice(0, OUTAGES).map((outage) => outageOf(outage, clock)),
    more: newest.length > OUTAGES ? `and ${count(newest.length - OUTAGES)} before` : '',
  }
}

function outageOf({ agentName, beganAt, endedAt, hours }: Outage, clock: Clock) {
  return {
    agent: oneLine(agentName, NAME_LENGTH),
    began: clock.at(beganAt),
    ended: clock.at(endedAt),
    length: lengthOf(hours * HOUR_MS),
  }
}
