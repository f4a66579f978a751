/**
 * Decides when the agents of a pipeline discover a company. The result depends only on the seed, the pipeline
 * and the day.
 */
import { agentOf, pickAgent } from './agents.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay, WEEKDAY_ACTIVITY, weekday } from './calendar.ts'
import { characterOf, READY_PIPELINES } from './characters.ts'
import { type Random, randomFor } from './random.ts'
import { discoveryFactor, drawNear } from './scenario.ts'
import type { World } from './world.ts'

export interface Discovery {
  readonly pipelineId: string
  readonly at: number
  readonly agentId: string
  /** The start of the search that ended with this discovery. */
  readonly startedAt: number
  readonly source: string
}

interface Searched {
  readonly id: string
  readonly created_at: number
}

/** A pipeline that a client creates gets this many leads within the hour, so that the client sees it work. */
const FIRST_SWEEP_LEADS = 12
const FIRST_SWEEP_MS = 90 * MINUTE_MS
/** The share of discoveries made in the daytime. The other discoveries are spread over the 24 hours. */
const DAYTIME_SHARE = 0.85

const READY_LEADS_PER_DAY = READY_PIPELINES.reduce((sum, one) => sum + one.character.leadsPerDay, 0)

/** Lists the discoveries of the pipeline with `from < at <= to`, in order of time. */
export function listDiscoveries(
  world: World,
  pipeline: Searched,
  from: number,
  to: number,
): readonly Discovery[] {
  const found: Discovery[] = []
  // The loop starts a day earlier, because an agent's incident may have pushed that day's work past midnight.
  for (let day = startOfDay(from) - DAY_MS; day <= to; day += DAY_MS) {
    for (const discovery of discoveriesOfDay(world, pipeline, day)) {
      if (discovery.at > from && discovery.at <= to) found.push(discovery)
    }
  }
  return found.sort((a, b) => a.at - b.at)
}

function discoveriesOfDay(world: World, pipeline: Searched, day: number): readonly Discovery[] {
  const random = randomFor(world.seed, 'discovery', pipeline.id, day)
  const planned = Array.from({ length: countOfDay(world, pipeline.id, day, random) }, () =>
    Math.round(
      day + (random.chance(DAYTIME_SHARE) ? random.between(6, 20) : random.between(0, 24)) * HOUR_MS,
    ),
  )
  if (startOfDay(pipeline.created_at) === day && pipeline.created_at > world.epochAt) {
    planned.push(...firstSweep(pipeline.created_at, random))
  }
  return planned
    .map((at) => withAgent(world, pipeline, at, random))
    .flatMap((discovery) => multiply(world, discovery, random))
    .filter((discovery) => discovery.at > pipeline.created_at)
}

/** Repeats or leaves out the discovery if the scenario wants it, some seconds apart. */
function multiply(world: World, found: Discovery, random: Random): readonly Discovery[] {
  const { scenario, epochAt } = world
  if (scenario === null) return [found]
  const count = drawNear(discoveryFactor({ scenario, epochAt }, found), random)
  return Array.from({ length: count }, (_, index) => ({ ...found, at: found.at + index * 1000 }))
}

function countOfDay(world: World, pipelineId: string, day: number, random: Random): number {
  const { leadsPerDay, growth } = characterOf(pipelineId)
  if (world.scenario !== null) {
    const size = (leadsPerDay / READY_LEADS_PER_DAY) * world.scenario.leads_per_day
    return random.poisson(size * (WEEKDAY_ACTIVITY[weekday(day)] ?? 1))
  }
  const trend = 1 + growth * (trendAt(world, day) - 0.5)
  const expected = leadsPerDay * (WEEKDAY_ACTIVITY[weekday(day)] ?? 1) * trend * random.between(0.75, 1.25)
  return Math.floor(expected) + (random.chance(expected % 1) ? 1 : 0)
}

/**
 * Returns the position in the trend: 0 at the start of the history, rising to 1 after 90 days, and 1 from
 * then on.
 */
export function trendAt(world: World, at: number): number {
  return Math.min(1, Math.max(0, (at - world.epochAt) / (90 * DAY_MS)))
}

function firstSweep(createdAt: number, random: Random): readonly number[] {
  return Array.from({ length: FIRST_SWEEP_LEADS }, (_, index) =>
    Math.round(createdAt + MINUTE_MS + (index + random.unit()) * (FIRST_SWEEP_MS / FIRST_SWEEP_LEADS)),
  )
}

function withAgent(world: World, pipeline: Searched, planned: number, random: Random): Discovery {
  const pipelineId = pipeline.id
  const agent = pickAgent('discovery', pipelineId === 'pl_emea' ? 'Europe' : null, random)
  const outage = world.incidents.duringWork(agent.id, planned)
  const at = outage === undefined ? planned : outage.endsAt + Math.round(random.between(2, 40) * MINUTE_MS)
  const searched = Math.max(pipeline.created_at, at - Math.round(random.between(15, 45) * MINUTE_MS))
  return {
    pipelineId,
    at,
    agentId: agent.id,
    startedAt: outage === undefined ? searched : Math.max(searched, outage.endsAt),
    source: random.pick(agentOf(agent.id).sources ?? ['web search']),
  }
}
