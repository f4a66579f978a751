/** Counts how often a report names a cause of a change: a planted one, or a wrong one if all change alike. */
import { chooseSplit } from '../../../src/insight/drivers.ts'
import { judgeReport } from '../../../src/insight/expect.ts'
import { random } from '../../support/random.ts'
import { count } from '../../support/reports/daily-numbers.ts'
import { headlinesOf } from './headlines.ts'
import { addHit, type Goal, noHits, type Result, resultOf, shareOf } from './result.ts'

/** The shares of the members of four groups: pipelines, sources, countries and agents. */
const GROUPS = [
  [0.45, 0.25, 0.15, 0.1, 0.05],
  [0.4, 0.25, 0.15, 0.12, 0.08],
  [0.5, 0.1, 0.1, 0.08, 0.07, 0.05, 0.05, 0.05],
  Array.from({ length: 12 }, () => 1 / 12),
]
const WEEK = [1.2, 1.25, 1.2, 1.1, 1, 0.6, 0.65]
const MEAN = 40
const AT = 330
/** The first one is a Monday. */
const DATES = Array.from({ length: AT + 30 }, (_, day) =>
  new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10),
)

interface Member {
  readonly group: number
  readonly member: number
}

/** The factor of a member's leads from day AT on; of all leads, if there is no such group. */
interface Planted extends Member {
  readonly times: number
}

const PLANTED: Readonly<Record<string, Planted>> = {
  'the largest source down to a tenth': { group: 1, member: 0, times: 0.1 },
  'the largest pipeline down to a tenth': { group: 0, member: 0, times: 0.1 },
  'a source of a quarter, three times as many': { group: 1, member: 1, times: 3 },
  'half of all countries’ leads, twice as many': { group: 2, member: 0, times: 2 },
  'one of twelve agents, six times as many': { group: 3, member: 0, times: 6 },
}
const ALIKE = { 'all alike, half as many': 0.5, 'all alike, half more': 1.5 }

/** Counts by group, member and day. */
function countsOf(planted: Planted | null, days: number, seed: number): number[][][] {
  const next = random(seed * 7919)
  const counts = GROUPS.map((members) => members.map(() => new Array<number>(days).fill(0)))
  const pick = (shares: readonly number[]) => {
    let left = next() * shares.reduce((sum, each) => sum + each, 0)
    for (const [index, share] of shares.entries()) {
      left -= share
      if (left < 0) return index
    }
    return 0
  }
  for (let day = 0; day < days; day++) {
    const isChanged = planted !== null && day >= AT
    const weights = GROUPS.map((shares, group) =>
      shares.map((share, member) =>
        isChanged && group === planted.group && member === planted.member ? share * planted.times : share,
      ),
    )
    const whole =
      isChanged && planted.group < 0
        ? planted.times
        : weights.reduce((product, shares) => product * shares.reduce((sum, each) => sum + each, 0), 1)
    const leads = count(MEAN * (WEEK[day % 7] ?? 1) * whole, 1, next)
    for (let lead = 0; lead < leads; lead++) {
      for (const [group, shares] of weights.entries()) {
        const numbers = counts[group]?.[pick(shares)]
        if (numbers) numbers[day] = (numbers[day] ?? 0) + 1
      }
    }
  }
  return counts
}

interface NamedCauses {
  readonly named: readonly Member[]
  readonly isExact: boolean
}

/** Splits the number of each day from AT on that a report calls unusual; null if there is none. */
function findCauses(counts: readonly number[][][]): NamedCauses | null {
  const pipelines = counts[0] ?? []
  const all = (pipelines[0] ?? []).map((_, day) =>
    pipelines.reduce((sum, numbers) => sum + (numbers[day] ?? 0), 0),
  )
  const unusual = headlinesOf([all, ...pipelines], null, AT).filter((each) => each.unusual.includes(0))
  const days = unusual.map(({ day }) => splitDay(all, counts, day + 1))
  if (days.length === 0) return null
  return { named: days.flatMap(({ named }) => named), isExact: days.every(({ isExact }) => isExact) }
}

/** Splits the number of the last of so many days as a report does. */
function splitDay(all: readonly number[], counts: readonly number[][][], days: number): NamedCauses {
  const numbers = { figure: 'new_leads', pipeline: null, values: all.slice(0, days) } as const
  const { judged } = judgeReport({ kind: 'day', dates: DATES.slice(0, days), length: 1 }, [numbers], null, {})
  const groups = counts.map((members, group) => ({
    name: group,
    members: members.map((values, member) => ({ name: String(member), numbers: values.slice(0, days) })),
  }))
  const [of] = judged
  const split = of === undefined ? null : chooseSplit(groups, of)
  if (of === undefined || split === null) return { named: [], isExact: true }
  const { group, parts, rest, actual } = split
  return {
    named: parts.map(({ name }) => ({ group, member: Number(name) })),
    isExact:
      parts.reduce((sum, { difference }) => sum + difference, rest) === actual - Math.round(of.expected),
  }
}

export function measureCauses(rounds: number): Result[] {
  const shares: Result[] = []
  const add = (goal: Goal, series: string, causes: readonly NamedCauses[], is: (each: Member) => boolean) => {
    const named = noHits()
    for (const cause of causes) addHit(named, cause.named.some(is))
    shares.push(shareOf(goal, series, 'when unusual', named))
  }
  const isAny = () => true
  /** The causes that reports name in as many histories, without those in which nothing is unusual. */
  const causesOf = (planted: Planted | null, days: number, firstSeed: number): NamedCauses[] =>
    Array.from({ length: rounds }, (_, index) =>
      findCauses(countsOf(planted, AT + days, firstSeed + index)),
    ).filter((cause) => cause !== null)
  const exact = noHits()
  for (const [name, planted] of Object.entries(PLANTED)) {
    const causes = causesOf(planted, 3, 1)
    const isPlanted = (each: Member) => each.group === planted.group && each.member === planted.member
    for (const { isExact } of causes) addHit(exact, isExact)
    add('cause-named', name, causes, isPlanted)
    add('cause-wrong', name, causes, (each) => !isPlanted(each))
  }
  for (const [name, times] of Object.entries(ALIKE))
    add('cause-wrong', name, causesOf({ group: -1, member: -1, times }, 3, 3001), isAny)
  const days = rounds * 30
  const ofNothing = causesOf(null, 30, 6001).filter(({ named }) => named.length > 0).length
  return [
    ...shares,
    resultOf('cause-of-nothing', 'nothing changed', 'a day', ofNothing / days, days),
    shareOf('cause-adds-up', 'all planted causes', 'when unusual', exact),
  ]
}
