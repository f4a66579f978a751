/**
 * Splits the difference between an unusual number and the expected one by the members of a group, such as the
 * sources of leads. The parts add up exactly. A member is named only if its share of the leads is unusual. If
 * all members changed alike, none is named.
 */
import { logOfTail } from './count-distribution.ts'
import type { Step } from './normal-range.ts'
import { total } from './series.ts'

/** A member is named if the chance of its share is below this, after correction for the number of members. */
const NAMED_BELOW = 0.05
/** The minimum share of the whole difference that a named member must have. */
const DIFFERENCE_MIN = 0.25
const NAMED_MAX = 3
/** The number of days before the unusual ones. The normal share of a member is computed from these days. */
const SHARE_DAYS = 56
/** The maximum number of values in a row by which shares are judged. */
const RECENT_MAX = 14

interface Member {
  readonly name: string
  readonly actual: number
  /** The member's count in the days by which its share is judged; `actual` by default. */
  readonly recent?: number
  /** The member's count in the earlier days, from which its normal share is computed. */
  readonly before: number
}

interface Part {
  readonly name: string
  readonly actual: number
  readonly expected: number
  readonly difference: number
}

/** A way to divide leads, such as by source. Each source is then a member. */
export interface Group<Name> {
  readonly name: Name
  /** The numbers of each member on each day. The numbers of all members end with the same day. */
  readonly members: readonly { readonly name: string; readonly numbers: readonly number[] }[]
}

/**
 * Splits the difference between the leads of the last days and the expected number, once for each group.
 * Returns the split in which a member stands out most.
 * @param days the number of last days whose sum is unusual
 * @param recentDays the number of last days by which the shares are judged, if they are more than `days`
 * @param expected the number of leads that was expected in these days
 * @param overdispersion as for {@link splitDifference}
 * @returns null if no member of any group stands out
 */
export function chooseSplit<Name>(
  groups: readonly Group<Name>[],
  of: { days: number; recentDays: number; expected: number; overdispersion: number },
): (Split & { readonly group: Name; readonly actual: number }) | null {
  const { days, recentDays, expected, overdispersion } = of
  const splits = groups.flatMap(({ name: group, members }) => {
    const given = members.map(({ name, numbers }) => {
      const from = numbers.length - Math.max(days, recentDays)
      return {
        name,
        actual: total(numbers.slice(-days)),
        recent: total(numbers.slice(from)),
        before: total(numbers.slice(Math.max(0, from - SHARE_DAYS), from)),
      }
    })
    const split = splitDifference(given, expected, overdispersion, groups.length)
    return split === null ? [] : [{ ...split, group, actual: total(given.map(({ actual }) => actual)) }]
  })
  return splits.sort((one, other) => other.evidence - one.evidence)[0] ?? null
}

interface Split {
  readonly parts: readonly Part[]
  readonly rest: number
  /**
   * How clearly a member stands out, times the share of the difference that the named members explain. The
   * first is the negative logarithm of the chance of so unusual a share if leads were spread at random.
   */
  readonly evidence: number
}

/**
 * Splits the difference between the sum of all members and the expected sum.
 * @param expected the number that was expected of all members together
 * @param overdispersion how many times the variance is larger than that of independent events; at least 1
 * @param groups the number of groups that are tried; more tries make a false name more probable
 * @returns in `parts` the named members, the largest difference first, and in `rest` the difference of all
 * others; null if no member stands out
 */
export function splitDifference(
  members: readonly Member[],
  expected: number,
  overdispersion: number,
  groups = 1,
): Split | null {
  const actual = total(members.map((member) => member.actual))
  const before = total(members.map((member) => member.before))
  const recent = total(members.map((member) => member.recent ?? member.actual))
  if (before === 0 || members.length < 2) return null
  const whole = actual - Math.round(expected)
  const wanted = members.map((member) => (member.before / before) * Math.round(expected))
  const differences = wholeParts(
    members.map((member, index) => member.actual - (wanted[index] ?? 0)),
    whole,
  )
  const judged = members.map((member, index) => ({
    name: member.name,
    actual: member.actual,
    expected: wanted[index] ?? 0,
    difference: differences[index] ?? 0,
    log:
      logOfShare(member, { recent, before, direction: Math.sign(whole), overdispersion }) +
      Math.log(groups / weightOf(member.before / before, members.length)),
  }))
  const named = judged
    .filter(
      ({ difference, log }) =>
        Math.sign(difference) === Math.sign(whole) &&
        Math.abs(difference) >= DIFFERENCE_MIN * Math.abs(whole) &&
        log < Math.log(NAMED_BELOW),
    )
    .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference))
    .slice(0, NAMED_MAX)
  const [first] = named
  if (first === undefined) return null
  const explained = total(named.map(({ difference }) => difference))
  return {
    parts: named.map(({ log: _, ...part }) => part),
    rest: whole - explained,
    evidence: -Math.min(...named.map(({ log }) => log)) * Math.min(1, explained / whole),
  }
}

/**
 * Counts how many numbers in a row, up to the last one, lie outside their range of 80 % on the same side; at
 * least 1. With more numbers it is clearer which member's share has changed. The numbers are totals of all
 * members, so a choice by these numbers favours no member.
 */
export function countRecent(steps: readonly Step[], values: readonly (number | null)[]): number {
  const sideOf = (back: number) => {
    const [range, value] = [steps.at(-1 - back)?.forecast?.range80, values.at(-1 - back)]
    return !range || typeof value !== 'number' ? 0 : Number(value > range.high) - Number(value < range.low)
  }
  const side = sideOf(0)
  let count = 1
  while (side !== 0 && count < RECENT_MAX && sideOf(count) === side) count++
  return count
}

/**
 * Returns the part of the accepted false alarms that a member gets. One half of the alarms is divided by
 * share, because a large member is more often the cause of a visible difference. The other half is divided
 * equally, so that new members are found too.
 */
function weightOf(share: number, members: number): number {
  return (share + 1 / members) / 2
}

/**
 * Returns the logarithm of the chance that a member's share differs so much from its earlier share, in this
 * direction, if leads are spread at random.
 */
function logOfShare(
  member: Member,
  of: { recent: number; before: number; direction: number; overdispersion: number },
): number {
  const { recent, before, direction, overdispersion } = of
  const own = member.recent ?? member.actual
  // Half a lead is added to this member and half a lead to the others, so that the variance is never zero.
  const pooled = (member.before + own + 0.5) / (before + recent + 1)
  const variance = recent * pooled * (1 - pooled) * (1 + recent / before) * overdispersion
  if (variance <= 0) return 0
  const off = direction * (own - (recent * member.before) / before) - 0.5
  return logOfTail(off / Math.sqrt(variance))
}

/**
 * Rounds numbers so that they add up to `whole` exactly. The numbers with the largest fractions are rounded
 * up.
 */
function wholeParts(numbers: readonly number[], whole: number): number[] {
  const floors = numbers.map(Math.floor)
  let left = whole - total(floors)
  const byRemainder = numbers
    .map((each, index) => ({ index, remainder: each - Math.floor(each) }))
    .sort((one, other) => other.remainder - one.remainder || one.index - other.index)
  for (const { index } of byRemainder) {
    if (left <= 0) break
    floors[index] = (floors[index] ?? 0) + 1
    left--
  }
  return floors
}
