/**
 * Splits the difference of a rate, such as the win rate, into what came from the mix of the groups and what came
 * from the rates within them (Kitagawa, Components of a Difference Between Two Rates, 1955, page 1174). A rate can
 * fall although the rate of no group fell, if more leads came from groups that always win less.
 */
import { normalProbability } from './count-distribution.ts'
import { weightOf, wholeParts } from './drivers.ts'

/** A group is named if a change so different from those of the others has a smaller chance, for all groups together. */
const NAMED_BELOW = 0.02
/** A named group has at least this share of the whole difference. */
const DIFFERENCE_MIN = 0.25
const NAMED_MAX = 3
/** Without a group that stands out, the mix is told if it makes at least this share of the difference. */
const MIX_MIN = 0.5
/** Parts are whole tenths of a percentage point. */
const TENTHS = 1000

/** The number of leads that were won, and the number of all that were closed. */
interface RateCounts {
  readonly hits: number
  readonly of: number
}

export interface RateMember {
  readonly name: string
  readonly before: RateCounts
  readonly now: RateCounts
}

/** All numbers are whole tenths of a percentage point: `mix`, `within` of all named, and `rest` make `difference`. */
interface RateSplit {
  readonly difference: number
  readonly mix: number
  /** The named groups, the largest part first; at most three, and none if no group stands out. */
  readonly named: readonly { readonly name: string; readonly within: number }[]
  /** The part of the difference that came from the rates within all other groups. */
  readonly rest: number
  /** The least chance of a change as different as that of a named group; 1 if none is named. */
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
 * Splits the difference of an unusual rate by the dimension in which a group stands out most, or else the mix.
 * @param isHigh whether the rate is higher than it was expected
 * @returns null if nothing stands out, and if the rate before was not below a high rate, or above a low one
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
 * Finds the groups whose rate changed apart from the rates of the others, one after another. Where the rates of all
 * groups changed alike, none did.
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

/** Returns the chance that a group's odds change so far apart from the others to one side; 1 without others. */
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

/** Returns the change of the logarithm of the odds and its variance (Haldane and Anscombe, 1956). */
function changeOf({ before, now }: RateMember): { change: number; variance: number } {
  const [one, other] = [before, now].map(({ hits, of }) => {
    // Half a case on each side keeps a group in which all or none were won from having no odds.
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
