/**
 * Counts how often a report names the origin of an unusual win rate: a group, the mix, or all groups alike.
 */
import { findUnusual } from '../../../src/insight/false-discovery.ts'
import { chooseRateSplit, type RateMember } from '../../../src/insight/rate-drivers.ts'
import { judgeRate, RATE_DAYS } from '../../../src/insight/win-rate.ts'
import { random } from '../../support/random.ts'
import { count } from '../../support/reports/daily-numbers.ts'
import { GROUPS } from './causes.ts'
import { type Goal, type Result, resultOf } from './result.ts'

const DECIDED_A_DAY = 20
/** The rates of the members of a group, as multiples of the rate of all. */
const FACTORS = [1.2, 0.5, 1.1, 0.9, 1]
const RATE = 0.3
/** Reports compare the last window with the six before it. */
const BEFORE = 6 * RATE_DAYS
const AT = 14 * RATE_DAYS
/** The other numbers that a reader with twelve series has; none of them is unusual. */
const OTHERS = Array.from({ length: 12 }, (_, index) => ({ probability: 0.5, isOfAll: index < 2 }))

interface Planted {
  readonly name: string
  /** The group and the member that change from day AT on; a group of -1 changes the rates of all alike. */
  readonly group: number
  readonly member: number
  /** The factor of the member's rate, and of its number of leads. */
  readonly rate?: number
  readonly leads?: number
}

const PLANTED: readonly Planted[] = [
  { name: 'the rate of the largest source a third of what it was', group: 1, member: 0, rate: 1 / 3 },
  { name: 'the rate of the largest pipeline half of what it was', group: 0, member: 0, rate: 0.5 },
  { name: 'the rate of half of all countries’ leads twice as high', group: 2, member: 0, rate: 2 },
]
const MIXED: Planted = {
  name: 'five times as many leads of a source that wins half',
  group: 1,
  member: 1,
  leads: 5,
}
const ALIKE: readonly Planted[] = [
  { name: 'the rates of all alike, a third lower', group: -1, member: 0, rate: 2 / 3 },
  { name: 'the rates of all alike, a third higher', group: -1, member: 0, rate: 4 / 3 },
]

interface Days {
  readonly won: number[]
  readonly lost: number[]
}

/** Makes the decided leads of each group, member and day. */
function decide(planted: Planted | null, seed: number): Days[][] {
  const next = random(seed * 7919)
  const days = AT + RATE_DAYS
  const none = (): number[] => new Array<number>(days).fill(0)
  const counts = GROUPS.map((members) => members.map(() => ({ won: none(), lost: none() })))
  for (let day = 0; day < days; day++) {
    const change = day < AT ? null : planted
    const ofMember = (group: number, member: number) =>
      change?.group === group && change.member === member ? change : null
    const shares = GROUPS.map((members, group) =>
      members.map((share, member) => share * (ofMember(group, member)?.leads ?? 1)),
    )
    const more = shares.reduce((product, each) => product * each.reduce((sum, share) => sum + share, 0), 1)
    for (let left = count(DECIDED_A_DAY * more, 1, next); left > 0; left--) {
      const members = shares.map((each) => pick(each, next))
      const factors = members.map(
        (member, group) =>
          // Only sources win at different rates, so that a mix of the others changes nothing.
          (group === 1 ? (FACTORS[member] ?? 1) : 1) * (ofMember(group, member)?.rate ?? 1),
      )
      const ofAll = change?.group === -1 ? (change.rate ?? 1) : 1
      const isWon =
        next() <
        Math.min(
          0.95,
          factors.reduce((product, each) => product * each, RATE * ofAll),
        )
      for (const [group, member] of members.entries()) {
        const numbers = counts[group]?.[member]?.[isWon ? 'won' : 'lost']
        if (numbers) numbers[day] = (numbers[day] ?? 0) + 1
      }
    }
  }
  return counts
}

function pick(shares: readonly number[], next: () => number): number {
  let left = next() * shares.reduce((sum, each) => sum + each, 0)
  const found = shares.findIndex((share) => {
    left -= share
    return left < 0
  })
  return Math.max(0, found)
}

type Split = ReturnType<typeof chooseRateSplit<number>>

/** Judges the rate of the last 30 days as a report does; undefined if it is not unusual. */
function tellOrigin(groups: readonly Days[][]): Split | undefined {
  const [pipelines = []] = groups
  const ofAll = (of: keyof Days) =>
    (pipelines[0]?.[of] ?? []).map((_, day) => pipelines.reduce((sum, each) => sum + (each[of][day] ?? 0), 0))
  const last = judgeRate({ won: ofAll('won'), lost: ofAll('lost') }).steps.at(-1)
  if (!last?.forecast) return undefined
  const { probability, rate } = last.forecast
  if (findUnusual([...OTHERS, { probability, isOfAll: false }]).at(-1) !== true) return undefined
  const dimensions = groups.map((members, name) => ({ name, members: members.map(memberOf) }))
  return chooseRateSplit(dimensions, last.won > last.decided * rate)
}

function memberOf({ won, lost }: Days, member: number): RateMember {
  const countsOf = (from: number, to: number) => {
    const [hits, missed] = [won, lost].map((each) => each.slice(from, to).reduce((sum, n) => sum + n, 0))
    return { hits: hits ?? 0, of: (hits ?? 0) + (missed ?? 0) }
  }
  return { name: String(member), before: countsOf(AT - BEFORE, AT), now: countsOf(AT, AT + RATE_DAYS) }
}

export function measureRateCauses(rounds: number): Result[] {
  const results: Result[] = []
  let [exact, judged] = [0, 0]
  const add = (goal: Goal, series: string, number: number, of: number) =>
    results.push(resultOf(goal, series, 'when unusual', number / of, of))
  const measure = (
    planted: Planted | null,
    seed: number,
    isRight: (split: Split, planted: Planted) => boolean,
  ) => {
    const counted = { right: 0, wrong: 0, of: 0 }
    for (let round = 1; round <= rounds; round++) {
      const split = tellOrigin(decide(planted, seed + round))
      if (split === undefined) continue
      counted.of++
      const isNamed = (split?.named.length ?? 0) > 0
      if (split !== null) {
        judged++
        const within = split.named.reduce((sum, each) => sum + each.within, split.rest)
        if (within + split.mix === split.difference) exact++
      }
      if (planted !== null && isRight(split, planted)) counted.right++
      else if (isNamed) counted.wrong++
    }
    return counted
  }
  for (const [index, planted] of PLANTED.entries()) {
    const { right, wrong, of } = measure(
      planted,
      10_000 * (index + 1),
      (split, { group, member }) =>
        split?.dimension === group && split.named.length === 1 && split.named[0]?.name === String(member),
    )
    add('cause-named', planted.name, right, of)
    add('cause-wrong', planted.name, wrong, of)
  }
  const mixed = measure(
    MIXED,
    40_000,
    (split, { group }) => split?.dimension === group && split.named.length === 0,
  )
  add('cause-named', MIXED.name, mixed.right, mixed.of)
  add('cause-wrong', MIXED.name, mixed.wrong, mixed.of)
  for (const [index, planted] of ALIKE.entries()) {
    const { wrong, of } = measure(planted, 50_000 + 10_000 * index, () => false)
    add('cause-wrong', planted.name, wrong, of)
  }
  const ofNothing = measure(null, 70_000, () => false)
  results.push(
    resultOf('cause-of-nothing', 'win rate, nothing changed', '30 days', ofNothing.wrong / rounds, rounds),
  )
  add('cause-adds-up', 'all origins of win rates', exact, judged)
  return results
}
