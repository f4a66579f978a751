/** Draws how a lead turns out. The draw depends only on the lead, so it always gives the same result. */
import { DAY_MS } from './calendar.ts'
import { type Character, characterOf } from './characters.ts'
import type { Company } from './companies.ts'
import { trendAt } from './discovery.ts'
import { type Random, randomFor } from './random.ts'
import { meetsAlways } from './scenario.ts'
import type { World } from './world.ts'

export interface Fate {
  readonly score: number
  readonly isQualified: boolean
  /** The expected value of the deal in whole USD. */
  readonly dealUsd: number
  /** The status in which the lead is forgotten until somebody closes it; null if it is not forgotten. */
  readonly stallsAt: 'qualified' | 'contacted' | 'replied' | 'meeting' | null
  /** Tells whether a qualified lead must not be contacted, which is found out only later. */
  readonly isDropped: boolean
  /** Tells whether the first message bounces. */
  readonly bounces: boolean
  readonly replies: boolean
  readonly meets: boolean
  /** Tells whether the first meeting has no result and a second meeting is held. */
  readonly isSetBack: boolean
  readonly wins: boolean
  /** The chance, from 0 to 1, that the lead is won after a meeting. */
  readonly winChance: number
  /** The time from the first contact to the reply. */
  readonly replyAfterMs: number
  readonly meetingAfterMs: number
  /** The time from the meeting to the decision. */
  readonly decisionAfterMs: number
}

const DROP_RATE = 0.09
const BOUNCE_RATE = 0.04
const SET_BACK_RATE = 0.1
/** The share of leads that are forgotten in each status although a next step was due. */
const STALL_RATE = { qualified: 0.015, contacted: 0.008, replied: 0.03, meeting: 0.04 } as const

export function fateOf(
  world: World,
  lead: { readonly id: string; readonly pipeline_id: string; readonly created_at: number },
  company: Company,
): Fate {
  const character = characterOf(lead.pipeline_id)
  const random = randomFor(world.seed, 'fate', lead.id)
  const score = drawScore(company, random)
  const warmth = 0.75 + Math.max(0, score - 50) / 80
  const drift = 1 + character.replyDrift * (trendAt(world, lead.created_at) - 0.5)
  const isTrending = world.scenario === null
  const replies = random.chance(character.replyRate * warmth * (isTrending ? drift : 1))
  const meets = replies && random.chance(character.meetingRate * warmth)
  const winChance = character.winRate * warmth
  const wins = meets && random.chance(winChance)
  const fate = {
    score,
    isQualified: score >= character.qualifyingScore,
    dealUsd: drawDeal(company, character, random),
    replies,
    meets,
    wins,
    winChance,
    isDropped: random.chance(DROP_RATE),
    bounces: random.chance(BOUNCE_RATE),
    isSetBack: random.chance(SET_BACK_RATE),
    stallsAt: drawStall(replies, meets, random),
    replyAfterMs: drawDays(random, 1.9 * character.pace, 0.7, [0.1, 6]) * DAY_MS,
    meetingAfterMs: drawDays(random, 2.8 * character.pace, 0.45, [1, 5]) * DAY_MS,
    decisionAfterMs: drawDays(random, 12 * character.pace, 0.4, [6, 24]) * DAY_MS,
  }
  const isBrought = world.scenario !== null && meetsAlways(world.scenario)
  return isBrought ? { ...fate, replies: true, meets: true, stallsAt: null } : fate
}

function drawScore(company: Company, random: Random): number {
  const size = Math.min(12, 3.5 * Math.log10(1 + (company.employees ?? 0)))
  const known = (company.domain === null ? -8 : 0) + (company.isHiring ? 5 : 0)
  const standing = { active: 0, acquired: -9, inactive: -38 }[company.state]
  return Math.round(bounded(random.between(42, 86) + size + known + standing, 1, 99))
}

function drawDeal(company: Company, character: Character, random: Random): number {
  const usd = character.dealSize * random.spread(4000 + 700 * (company.employees ?? 2) ** 0.7, 0.45)
  const step = usd < 20_000 ? 500 : usd < 100_000 ? 1000 : 5000
  return Math.min(400_000, Math.max(step, Math.round(usd / step) * step))
}

/**
 * Draws whether and in which status the lead is forgotten: as qualified, or in the last status before it
 * would be closed.
 */
function drawStall(replies: boolean, meets: boolean, random: Random): Fate['stallsAt'] {
  if (random.chance(STALL_RATE.qualified)) return 'qualified'
  const last = meets ? 'meeting' : replies ? 'replied' : 'contacted'
  return random.chance(STALL_RATE[last]) ? last : null
}

/**
 * Draws a number of days. A value outside the bounds is replaced by a new draw between them, because setting
 * it to the bound would give many equal values.
 */
function drawDays(random: Random, median: number, sigma: number, bounds: readonly [number, number]): number {
  const days = random.spread(median, sigma)
  const elsewhere = random.between(...bounds)
  return days < bounds[0] || days > bounds[1] ? elsewhere : days
}

function bounded(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
