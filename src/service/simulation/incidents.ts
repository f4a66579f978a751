/**
 * Decides when agents fail or are paused. At most one incident starts on a day, and it ends before the next
 * day's incident can start. So at most one agent is failing or paused at any time.
 */
import { AGENTS, type AgentKind, FAILURES } from './agents.ts'
import { DAY_MS, HOUR_MS, isWeekend, MINUTE_MS, startOfDay } from './calendar.ts'
import { type Random, randomFor } from './random.ts'

interface Incident {
  readonly agentId: string
  readonly status: 'failing' | 'paused'
  readonly startedAt: number
  readonly endsAt: number
  /** The errors of a failing agent: one at the start and one at every retry. A paused agent has none. */
  readonly errors: readonly { readonly at: number; readonly message: string }[]
}

const EARLIEST_START_HOUR = 5
const LATEST_START_HOUR = 19
/**
 * The length of the longest incident in hours. An incident that starts at 19:00 then ends before an incident
 * of the next day can start at 05:00.
 */
const LONGEST_HOURS = 9

export interface IncidentCalendar {
  /** Returns the incident that starts on the UTC day of the instant; undefined if there is none. */
  startingOn(at: number): Incident | undefined
  /** Returns the incident that keeps an agent from working at the instant; undefined if there is none. */
  duringWork(agentId: string, at: number): Incident | undefined
}

/** The calendar without any incident. */
export const NO_INCIDENTS: IncidentCalendar = {
  startingOn: () => undefined,
  duringWork: () => undefined,
}

/**
 * Creates the calendar of incidents.
 * @param madeAt the time at which the history was made; around that time an agent fails, so that a new
 * history shows an incident
 */
export function createIncidentCalendar(seed: number, madeAt: number): IncidentCalendar {
  const present = presentIncident(seed, madeAt)
  const isClear = ({ startedAt, endsAt }: Incident): boolean =>
    endsAt <= present.startedAt || startedAt >= present.endsAt
  const known = new Map<number, Incident | undefined>()
  const startingOn = (at: number): Incident | undefined => {
    const day = startOfDay(at)
    if (day === startOfDay(present.startedAt)) return present
    if (!known.has(day))
      known.set(
        day,
        [drawIncident(seed, day)].find((drawn) => drawn && isClear(drawn)),
      )
    return known.get(day)
  }
  return {
    startingOn,
    duringWork: (agentId, at) =>
      [startingOn(at - DAY_MS), startingOn(at)].find(
        (incident) => incident?.agentId === agentId && incident.startedAt <= at && at < incident.endsAt,
      ),
  }
}

function drawIncident(seed: number, day: number): Incident | undefined {
  const random = randomFor(seed, 'incident', day)
  if (!random.chance(isWeekend(day) ? 0.2 : 0.55)) return undefined
  const agent = random.pick(AGENTS)
  const status = random.chance(0.75) ? 'failing' : 'paused'
  const startedAt = day + Math.round(random.between(EARLIEST_START_HOUR, LATEST_START_HOUR) * HOUR_MS)
  const hours = Math.min(LONGEST_HOURS, 0.5 + random.spread(2.5, 0.6))
  const endsAt = startedAt + Math.round(hours * HOUR_MS)
  const errors = status === 'failing' ? drawErrors(agent.kind, startedAt, endsAt, random) : []
  return { agentId: agent.id, status, startedAt, endsAt, errors }
}

function presentIncident(seed: number, madeAt: number): Incident {
  const random = randomFor(seed, 'incident', 'present')
  const agent = random.pick(AGENTS.filter(({ kind }) => kind === 'enrichment'))
  const startedAt = madeAt - Math.round(random.between(60, 150) * MINUTE_MS)
  const endsAt = madeAt + Math.round(random.between(2, 4) * HOUR_MS)
  const errors = drawErrors(agent.kind, startedAt, endsAt, random)
  return { agentId: agent.id, status: 'failing', startedAt, endsAt, errors }
}

function drawErrors(kind: AgentKind, from: number, to: number, random: Random): Incident['errors'] {
  const message = random.pick(FAILURES[kind])
  const errors = []
  for (let at = from; at < to; at += Math.round(random.between(15, 40) * MINUTE_MS))
    errors.push({ at, message })
  return errors
}
