/**
 * Splits the difference of a rate, such as the win rate, into what came from the mix of the groups and what came
 * from the rates within them (Kitagawa, Components of a Difference Between Two Rates, 1955, page 1174). A rate can
 * fall although the rate of no group fell, if more leads came from groups that always win less.
 */
import { normalProbability } from './count-distribution.ts'
import { wholeParts } from './drivers.ts'

/** A group is named if the difference of its own rate is this unlikely, divided by the number of groups. */
const NAMED_BELOW = 0.01
/** A named group has at least this share of the whole difference. */
const DIFFERENCE_MIN = 0.25
const NAMED_MAX = 3
/** Parts are whole tenths of a percentage point. */
const TENTHS = 1000

/** The number of leads that were won, and the number of all that were closed. */
export interface RateCounts {
  readonly hits: number
  readonly of: number
}

export interface RateMember {
  readonly name: string
  readonly before: RateCounts
  readonly now: RateCounts
}

/** All numbers are whole tenths of a percentage point: `mix`, `within` of all named, and `rest` make `difference`. */
export interface RateSplit {
  readonly difference: number
  readonly mix: number
  /** The named groups, the largest part first; at most three, and none if no group stands out. */
  readonly named: readonly { readonly name: string; readonly within: number }[]
  /** The part of the difference that came from the rates within all other groups. */
  readonly rest: number
  /** The least chance of a rate as different as that of a named group, times the groups; 1 if none is named. */
  readonly probability: number
}

/**
 * Splits the difference of the rate now from the rate before.
 * @returns null if one of the two times has no case at all
 */
export function splitRate(members: readonly RateMember[]): RateSplit | null {
  const before = total(members.map((member) => member.before))
  const now = total(members.map((member) => member.now))
  if (before.of === 0 || now.of === 0) return null
  const parts = members.map((member) => {
    const [share, shareBefore] = [member.now.of / now.of, member.before.of / before.of]
    // A group that is missing at one of the times has changed the mix alone.
    const rate = rateOf(member.now.of > 0 ? member.now : member.before)
    const rateBefore = rateOf(member.before.of > 0 ? member.before : member.now)
    return {
      mix: (share - shareBefore) * ((rate + rateBefore) / 2),
      within: (rate - rateBefore) * ((share + shareBefore) / 2),
    }
  })
  // Adding 0 turns -0 into 0.
  const difference = Math.round(TENTHS * (rateOf(now) - rateOf(before))) + 0
  const mixOfAll = parts.reduce((sum, part) => sum + part.mix, 0)
  const [mix = 0, ...within] = wholeParts(
    [mixOfAll, ...parts.map((part) => part.within)].map((part) => part * TENTHS),
    difference,
  )
  const judged = members
    .map((member, index) => ({
      name: member.name,
      within: within[index] ?? 0,
      probability: rateProbability(member) * members.length,
    }))
    .filter(
      (each) =>
        Math.sign(each.within) === Math.sign(difference) &&
        Math.abs(each.within) >= DIFFERENCE_MIN * Math.abs(difference) &&
        each.probability < NAMED_BELOW,
    )
    .sort((one, other) => Math.abs(other.within) - Math.abs(one.within))
    .slice(0, NAMED_MAX)
  const told = judged.reduce((sum, each) => sum + each.within, 0)
  return {
    difference,
    mix: mix + 0,
    named: judged.map(({ name, within: ofName }) => ({ name, within: ofName })),
    rest: difference - mix - told,
    probability: Math.min(1, ...judged.map(({ probability }) => probability)),
  }
}

/** Returns the chance of rates at least as different if the rate of the group did not change. */
function rateProbability({ before, now }: RateMember): number {
  if (before.of === 0 || now.of === 0) return 1
  // Half a case on each side keeps a group in which all or none were won from having no variance.
  const pooled = (before.hits + now.hits + 0.5) / (before.of + now.of + 1)
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / before.of + 1 / now.of))
  const correction = (1 / before.of + 1 / now.of) / 2
  const off = Math.max(0, Math.abs(rateOf(now) - rateOf(before)) - correction)
  return 2 * (1 - normalProbability(off / deviation))
}

function rateOf({ hits, of }: RateCounts): number {
  return of > 0 ? hits / of : 0
}

function total(counts: readonly RateCounts[]): RateCounts {
  return {
    hits: counts.reduce((sum, { hits }) => sum + hits, 0),
    of: counts.reduce((sum, { of }) => sum + of, 0),
  }
}
