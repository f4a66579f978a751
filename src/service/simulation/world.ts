/** The inputs of the simulation that are not in the database: the seed, the companies, and the incidents. */
import { criteriaSchema } from '../../contract/pipeline.ts'
import type { PipelineRow } from '../store/database.ts'
import type { SimulationState } from '../store/simulation.ts'
import type { AgentKind } from './agents.ts'
import { AGENTS, FAILURES } from './agents.ts'
import { DAY_MS, HOUR_MS, isWeekend, MINUTE_MS, startOfDay } from './calendar.ts'
import type { Company } from './companies.ts'
import { isTargeted } from './lead-details.ts'
import type { Random } from './random.ts'
import { randomFor } from './random.ts'

export interface World {
  readonly seed: number
  /** The midnight (UTC) at which the history starts. */
  readonly epochAt: number
  readonly companies: ReadonlyMap<number, Company>
  readonly incidents: ReturnType<typeof createIncidentCalendar>
}

export function createWorld(
  { seed, epochAt, madeAt }: Omit<SimulationState, 'simulatedUntil'>,
  companies: readonly Company[],
): World {
  return {
    seed,
    epochAt,
    companies: new Map(companies.map((one) => [one.id, one])),
    incidents: createIncidentCalendar(seed, madeAt),
  }
}

/** The companies that a pipeline can still discover, in the order in which it will discover them. */
export type Pool = ReturnType<typeof createPool>

/** @param taken the companies that the pipeline already had as leads, deleted leads included */
export function createPool(world: World, pipeline: PipelineRow, taken: ReadonlySet<number>) {
  const criteria = criteriaSchema.parse(JSON.parse(pipeline.criteria))
  const targeted = [...world.companies.values()].filter((company) => isTargeted(company, criteria))
  const candidates = targeted
    .filter((company) => !taken.has(company.id))
    .map((company) => ({ company, rank: randomFor(world.seed, 'rank', pipeline.id, company.id).unit() }))
    .sort((a, b) => b.rank - a.rank)
    .map((ranked) => ranked.company)
  let mayTake = Math.max(0, (criteria.limit ?? Number.POSITIVE_INFINITY) - taken.size)
  return {
    /** Returns the number of companies that can still be taken. A limit in the criteria may reduce it. */
    remaining: () => Math.min(mayTake, candidates.length),
    /** Returns the share, from 0 to 1, of the companies matching the criteria that are not yet taken. */
    remainingShare: () => (targeted.length === 0 ? 0 : candidates.length / targeted.length),
    /** @throws RangeError if no company that may be taken is left */
    take: () => {
      const company = mayTake > 0 ? candidates.pop() : undefined
      if (company === undefined) throw new RangeError(`pipeline ${pipeline.id} has nothing left to discover`)
      mayTake -= 1
      return company
    },
  }
}

// At most one incident starts on a day and it ends before the next, so at most one agent is not working.

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
/** In hours: from 19:00, the latest start, until before 05:00, the earliest start of the next day. */
const LONGEST_HOURS = 9

/**
 * Creates the calendar of incidents.
 * @param madeAt the time at which the history was made; an incident is placed there, so that a new history
 * shows a failing agent
 */
function createIncidentCalendar(seed: number, madeAt: number) {
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
    /** Returns the incident that starts on the UTC day of the instant; undefined if there is none. */
    startingOn,
    /** Returns the incident that keeps an agent from working at the instant; undefined if there is none. */
    duringWork: (agentId: string, at: number) =>
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
