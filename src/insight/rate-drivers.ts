/**
 * Splits the change of a rate, such as the win rate, into two parts: the changed mix of groups, such as the
 * sources of leads, and the changed rates within groups (Kitagawa, Components of a Difference Between Two
 * Rates, 1955, page 1174). The whole rate can fall without a fall in any group, if more leads come from
 * groups that always win less.
 */
import { normalProbability } from './count-distribution.ts'
import { weightOf, wholeParts } from './drivers.ts'

/** A group is named if the chance of so large a deviation from the other groups is below this. */
const NAMED_BELOW = 0.02
/** A named group has at least this share of the whole difference. */
const DIFFERENCE_MIN = 0.25
const NAMED_MAX = 3
/** If no group stands out, the mix is reported if it makes up at least this share of the difference. */
const MIX_MIN = 0.5
/** The number of tenths of a percentage point in a rate of 1. */
const TENTHS = 1000

/** The number of won leads (`hits`), and the number of all closed leads (`of`). */
interface RateCounts {
  readonly hits: number
  readonly of: number
}

export interface RateMember {
  readonly name: string
  readonly before: RateCounts
  readonly now: RateCounts
}

/**
 * The parts of the difference between two rates, in tenths of a percentage point. `mix`, `rest` and all
 * `within` add up to `difference`.
 */
interface RateSplit {
  readonly difference: number
  readonly mix: number
  /**
   * At most three groups that stand out, the largest `within` first. `within` is the part of the difference
   * that comes from the group's own rate.
   */
  readonly named: readonly { readonly name: string; readonly within: number }[]
  /** The part of the difference that came from the rates within all other groups. */
  readonly rest: number
  /** The chance that a group deviates as much as the most unusual named group; 1 if none is named. */
  readonly probability: number
}

/**
 * Splits the difference between the rate now and the rate before.
 * @returns null if no lead was closed now, or none before
 */
export function splitRate(members: readonly RateMember[]): RateSplit | null {
  const before = total(members.map((member) => member.before))
  const now = total(members.map((member) => member.now))
  if (before.of === 0 || now.of === 0) return null
  const parts = members.map((member) => {
    const [share, shareBefore] = [member.now.of / now.of, member.before.of / before.of]
    // A group without closed leads now or before is treated as if its rate had not changed, only its share.
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
  const named = findApart(
    members.map((member, index) => ({ ...member, within: within[index] ?? 0 })),
    difference,
  )
  const namedSum = named.reduce((sum, each) => sum + each.within, 0)
  return {
    difference,
    mix: mix + 0,
    named: named
      .map(({ name, within: ofName }) => ({ name, within: ofName }))
      .sort((one, other) => Math.abs(other.within) - Math.abs(one.within)),
    rest: difference - mix - namedSum,
    probability: Math.min(1, ...named.map(({ probability }) => probability)),
  }
}

/**
 * Splits the difference of an unusual rate by the dimension, such as the source, in which a group stands out
 * most. If no group stands out, uses the dimension whose mix changed most.
 * @param isHigh whether the rate is higher than expected
 * @returns null if nothing stands out. Also null if a high rate did not rise since before, or a low rate did
 * not fall
 */
export function chooseRateSplit<Name>(
  dimensions: readonly { readonly name: Name; readonly members: readonly RateMember[] }[],
  isHigh: boolean,
): (RateSplit & { readonly dimension: Name }) | null {
  const splits = dimensions.flatMap(({ name, members }) => {
    const split = members.length < 2 ? null : splitRate(members)
    return split === null ? [] : [{ ...split, dimension: name }]
  })
  const [best] = splits
    .filter(({ named, mix, difference }) => named.length > 0 || mix / difference >= MIX_MIN)
    .sort((one, other) => one.probability - other.probability || Math.abs(other.mix) - Math.abs(one.mix))
  return best === undefined || best.difference > 0 !== isHigh ? null : best
}

interface Part extends RateMember {
  readonly within: number
}

/**
 * Finds, one after another, the groups whose rate changed differently from the rates of the other groups.
 * Finds none if all rates changed alike.
 */
function findApart(parts: readonly Part[], difference: number): (Part & { probability: number })[] {
  const isLarge = ({ within }: Part) =>
    Math.sign(within) === Math.sign(difference) && Math.abs(within) >= DIFFERENCE_MIN * Math.abs(difference)
  const found: (Part & { probability: number })[] = []
  let left = parts.filter(({ before, now }) => before.of > 0 && now.of > 0)
  while (found.length < NAMED_MAX) {
    const all = left.reduce((sum, { before }) => sum + before.of, 0)
    const [first] = left
      .filter(isLarge)
      .map((part) => ({
        ...part,
        probability:
          apartProbability(
            part,
            left.filter((each) => each.name !== part.name),
            Math.sign(difference),
          ) / weightOf(part.before.of / all, left.length),
      }))
      .sort((one, other) => one.probability - other.probability)
    if (first === undefined || first.probability >= NAMED_BELOW) break
    found.push(first)
    left = left.filter(({ name }) => name !== first.name)
  }
  return found
}

/**
 * Returns the chance that a group's odds change so differently from those of the other groups if only chance
 * acts; 1 if there are no other groups.
 */
function apartProbability(part: RateMember, others: readonly RateMember[], direction: number): number {
  if (others.length === 0) return 1
  const own = changeOf(part)
  // The change of each other group is weighted by the inverse of its variance.
  const changes = others.map(changeOf)
  const weight = changes.reduce((sum, { variance }) => sum + 1 / variance, 0)
  const mean = changes.reduce((sum, { change, variance }) => sum + change / variance, 0) / weight
  const off = (direction * (own.change - mean)) / Math.sqrt(own.variance + 1 / weight)
  return 1 - normalProbability(off)
}

/**
 * Returns the change of the logarithm of the odds, and the variance of this change (Haldane and Anscombe,
 * 1956).
 */
function changeOf({ before, now }: RateMember): { change: number; variance: number } {
  const [one, other] = [before, now].map(({ hits, of }) => {
    // Half a lead is added to the won leads and half a lead to the lost leads, so that no division by zero
    // occurs.
    const [won, lost] = [hits + 0.5, of - hits + 0.5]
    return { odds: Math.log(won / lost), variance: 1 / won + 1 / lost }
  }) as [{ odds: number; variance: number }, { odds: number; variance: number }]
  return { change: other.odds - one.odds, variance: one.variance + other.variance }
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
