/** Draws when a company is discovered and how its lead turns out, only from seed, pipeline, day and lead. */

import type { PipelineRow } from '../store/database.ts'
import { pickAgent } from './agents.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay, WEEKDAY_ACTIVITY, weekday } from './calendar.ts'
import type { Character } from './characters.ts'
import { characterOf } from './characters.ts'
import type { Company } from './companies.ts'
import type { Random } from './random.ts'
import { randomFor } from './random.ts'
import type { World } from './world.ts'

/** The later course of a lead. */
export type Fate = Readonly<ReturnType<typeof fateOf>>

const DROP_RATE = 0.09
const BOUNCE_RATE = 0.04
const SET_BACK_RATE = 0.1
/** The shares of leads that are forgotten in each status. A forgotten lead does not take its due step. */
const STALL_RATE = { qualified: 0.015, contacted: 0.008, replied: 0.03, meeting: 0.04 } as const

export function fateOf(
  world: World,
  lead: { readonly id: string; readonly pipeline_id: string; readonly created_at: number },
  company: Company,
) {
  const character = characterOf(lead.pipeline_id)
  const random = randomFor(world.seed, 'fate', lead.id)
  const score = drawScore(company, random)
  const warmth = 0.75 + Math.max(0, score - 50) / 80
  const drift = 1 + character.replyDrift * (trendAt(world, lead.created_at) - 0.5)
  const replies = random.chance(character.replyRate * warmth * drift)
  const meets = replies && random.chance(character.meetingRate * warmth)
  const wins = meets && random.chance(character.winRate * warmth)
  return {
    score,
    isQualified: score >= character.qualifyingScore,
    /** The expected value of the deal in whole USD. */
    dealUsd: drawDeal(company, character, random),
    replies,
    meets,
    wins,
    /** True if the lead, once qualified, turns out to be a company that must not be contacted. */
    isDropped: random.chance(DROP_RATE),
    /** True if the first message cannot be delivered. */
    bounces: random.chance(BOUNCE_RATE),
    /** True if the first meeting has no result and a second meeting follows. */
    isSetBack: random.chance(SET_BACK_RATE),
    /** The status in which the lead is forgotten until somebody closes it; null if it is not forgotten. */
    stallsAt: drawStall(replies, meets, random),
    /** The time from the first contact to the reply. */
    replyAfterMs: drawDays(random, 1.9 * character.pace, 0.7, [0.1, 6]) * DAY_MS,
    meetingAfterMs: drawDays(random, 2.8 * character.pace, 0.45, [1, 5]) * DAY_MS,
    /** The time from the meeting to the decision. */
    decisionAfterMs: drawDays(random, 12 * character.pace, 0.4, [6, 24]) * DAY_MS,
  }
}

function drawScore(company: Company, random: Random): number {
  const size = Math.min(12, 3.5 * Math.log10(1 + (company.employees ?? 0)))
  const known = (company.domain === null ? -8 : 0) + (company.isHiring ? 5 : 0)
  const standing = company.isActive ? 0 : -38
  const score = Math.round(random.between(42, 86) + size + known + standing)
  return Math.min(99, Math.max(1, score))
}

function drawDeal(company: Company, character: Character, random: Random): number {
  const usd = character.dealSize * random.spread(4000 + 700 * (company.employees ?? 2) ** 0.7, 0.45)
  const step = usd < 20_000 ? 500 : usd < 100_000 ? 1000 : 5000
  return Math.min(400_000, Math.max(step, Math.round(usd / step) * step))
}

/** `qualified`, or the last status before it would be closed. Null if the lead is not forgotten. */
function drawStall(replies: boolean, meets: boolean, random: Random): keyof typeof STALL_RATE | null {
  if (random.chance(STALL_RATE.qualified)) return 'qualified'
  const last = meets ? 'meeting' : replies ? 'replied' : 'contacted'
  return random.chance(STALL_RATE[last]) ? last : null
}

/** A value outside the bounds becomes a random one between them; the bound would give many equal values. */
function drawDays(random: Random, median: number, sigma: number, bounds: readonly [number, number]): number {
  const days = random.spread(median, sigma)
  const elsewhere = random.between(...bounds)
  return days < bounds[0] || days > bounds[1] ? elsewhere : days
}

export type Discovery = Readonly<ReturnType<typeof withAgent>>

/** The number of first leads that a new pipeline of a client gets. */
const FIRST_SWEEP_LEADS = 12
/** The time within which a new pipeline gets its first leads. */
const FIRST_SWEEP_MS = 90 * MINUTE_MS
/** The share of discoveries made in the daytime. The other discoveries are spread over the 24 hours. */
const DAYTIME_SHARE = 0.85

/** Lists the discoveries of the pipeline with `from < at <= to`, in order of time. */
export function listDiscoveries(
  world: World,
  pipeline: Pick<PipelineRow, 'id' | 'created_at'>,
  from: number,
  to: number,
): readonly Discovery[] {
  const found: Discovery[] = []
  // The loop starts a day early, because an incident can delay an agent's discoveries past midnight.
  for (let day = startOfDay(from) - DAY_MS; day <= to; day += DAY_MS) {
    for (const discovery of discoveriesOfDay(world, pipeline, day)) {
      if (discovery.at > from && discovery.at <= to) found.push(discovery)
    }
  }
  return found.sort((a, b) => a.at - b.at)
}

function discoveriesOfDay(
  world: World,
  pipeline: Pick<PipelineRow, 'id' | 'created_at'>,
  day: number,
): readonly Discovery[] {
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
    .filter((discovery) => discovery.at > pipeline.created_at)
}

function countOfDay(world: World, pipelineId: string, day: number, random: Random): number {
  const { leadsPerDay, growth } = characterOf(pipelineId)
  const trend = 1 + growth * (trendAt(world, day) - 0.5)
  const expected = leadsPerDay * (WEEKDAY_ACTIVITY[weekday(day)] ?? 1) * trend * random.between(0.75, 1.25)
  return Math.floor(expected) + (random.chance(expected % 1) ? 1 : 0)
}

/** 0 at the start of the history, 1 after 90 days and later. */
function trendAt(world: World, at: number): number {
  return Math.min(1, Math.max(0, (at - world.epochAt) / (90 * DAY_MS)))
}

function firstSweep(createdAt: number, random: Random): readonly number[] {
  return Array.from({ length: FIRST_SWEEP_LEADS }, (_, index) =>
    Math.round(createdAt + MINUTE_MS + (index + random.unit()) * (FIRST_SWEEP_MS / FIRST_SWEEP_LEADS)),
  )
}

function withAgent(
  world: World,
  pipeline: Pick<PipelineRow, 'id' | 'created_at'>,
  planned: number,
  random: Random,
) {
  const pipelineId = pipeline.id
  const agent = pickAgent('discovery', pipelineId === 'pl_emea' ? 'Europe' : null, random)
  const outage = world.incidents.duringWork(agent.id, planned)
  const at = outage === undefined ? planned : outage.endsAt + Math.round(random.between(2, 40) * MINUTE_MS)
  const searched = Math.max(pipeline.created_at, at - Math.round(random.between(15, 45) * MINUTE_MS))
  return {
    pipelineId,
    at,
    agentId: agent.id,
    /** The start of the search that ended with this discovery. */
    startedAt: outage === undefined ? searched : Math.max(searched, outage.endsAt),
    source: random.pick(agent.sources),
  }
}
