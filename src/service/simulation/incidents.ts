/**
 * When agents fail or are paused. At most one incident starts a day and it is over before the next day's
 * can start, so never more than one of the agents is out.
 */
import { AGENTS, FAILURES } from './agents.ts'
import { DAY_MS, HOUR_MS, isWeekend, MINUTE_MS, startOfDay } from './calendar.ts'
import { randomFor } from './random.ts'

export interface Incident {
  readonly agentId: string
  readonly status: 'failing' | 'paused'
  readonly startedAt: number
  readonly endsAt: number
  /** The errors it shows: at its start, then at every vain retry. None when paused. */
  readonly errors: readonly { readonly at: number; readonly message: string }[]
}

const EARLIEST_START_HOUR = 5
const LATEST_START_HOUR = 19
/** 19:00 + 9 h ends before the next day's 05:00. */
const LONGEST_HOURS = 9

export interface IncidentCalendar {
  /** The incident that starts on the UTC day of the instant. */
  startingOn(at: number): Incident | undefined
  /** The incident that keeps an agent from working at the instant. */
  duringWork(agentId: string, at: number): Incident | undefined
}

export function createIncidentCalendar(seed: number): IncidentCalendar {
  const known = new Map<number, Incident | undefined>()
  const startingOn = (at: number): Incident | undefined => {
    const day = startOfDay(at)
    if (!known.has(day)) known.set(day, drawIncident(seed, day))
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
  const message = random.pick(FAILURES[agent.kind])
  const errors = []
  for (let at = startedAt; status === 'failing' && at < endsAt; ) {
    errors.push({ at, message })
    at += Math.round(random.between(15, 40) * MINUTE_MS)
  }
  return { agentId: agent.id, status, startedAt, endsAt, errors }
}
