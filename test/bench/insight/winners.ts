/**
 * Tests whether the shares of winners that reports print come true: of the leads that are won next, 1 % are
 * older than the age at which a lead counts as lost, and 5 % stay longer in a stage than its threshold. The
 * thresholds are counted every 30 days from what was known then.
 */
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import {
  AGE_SHARE,
  readOldLeads,
  readStallThresholds,
  refreshStallThresholds,
  STAY_SHARE,
} from '../../../src/store/insight/stall-threshold.ts'
import { saveLeads } from '../../../src/store/leads/lead.ts'
import { saveStages } from '../../../src/store/leads/stages.ts'
import { openStore } from '../../../src/store/open.ts'
import { BLANK_LEAD } from '../../support/data/blank-lead.ts'
import { random } from '../../support/random.ts'
import { count } from '../../support/reports/daily-numbers.ts'
import { jStat } from '../../support/reports/jstat.ts'
import { addHit, type Hits, noHits, type Result, shareOf } from './result.ts'

const START = Date.parse('2023-01-02T00:00:00Z')
const DAY_MS = 86_400_000
const DAYS = 3 * 365
/** From this day on, thresholds are tried on the winners of the next 30 days. */
const FIRST = 365
const NEXT_DAYS = 30
/** A lead goes through both stages, and is then won. */
const STAGES = [
  { status: 'new', position: 0, outcome: 'open', inFunnel: true, isQualified: false },
  { status: 'contacted', position: 1, outcome: 'open', inFunnel: true, isQualified: true },
  { status: 'won', position: 2, outcome: 'won', inFunnel: true, isQualified: true },
] as const

interface Kind {
  readonly wonADay: number
  /** The medians of the stays in both stages, in days, and the deviation of their logarithm. */
  readonly medians: readonly [number, number]
  readonly deviation: number
  /** The factor of stays that begin a year later. */
  readonly growth?: number
  /** The days before the first day on which leads begin to arrive; without any, all are young at first. */
  readonly before?: number
}

const KINDS: Readonly<Record<string, Kind>> = {
  'won after 3 weeks, 3 a day': { wonADay: 3, medians: [3, 15], deviation: 1 },
  'won after 3 weeks, 10 a day': { wonADay: 10, medians: [3, 15], deviation: 1 },
  'some won after a year, 3 a day': { wonADay: 3, medians: [5, 25], deviation: 1.4 },
  'slower by a fifth each year, 3 a day': { wonADay: 3, medians: [3, 15], deviation: 1, growth: 1.2 },
  'no lead before the first day, 3 a day': { wonADay: 3, medians: [5, 25], deviation: 1.4, before: 0 },
}

/** The times of a winner in milliseconds, by the stage that begins then. */
interface Winner {
  readonly id: string
  readonly new: number
  readonly contacted: number
  readonly won: number
}

function winnersOf({ wonADay, medians, deviation, growth = 1, before = 365 }: Kind, seed: number): Winner[] {
  const next = random(seed * 7919)
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const winners: Winner[] = []
  for (let day = -before; day < DAYS; day++) {
    for (let left = count(wonADay, 1, next); left > 0; left--) {
      const created = START + (day + next()) * DAY_MS
      const [first, second] = medians.map(
        (median) => median * growth ** (day / 365) * Math.exp(deviation * normal()) * DAY_MS,
      ) as [number, number]
      const contacted = created + first
      winners.push({ id: `${winners.length}`, new: created, contacted, won: contacted + second })
    }
  }
  return winners.sort((one, other) => one.won - other.won)
}

async function saveWinners(store: Store, winners: readonly Winner[]): Promise<void> {
  const at = (time: number) => new Date(time).toISOString()
  const observed = { runId: 'run', at: at(winners.at(-1)?.won ?? START) }
  for (const { status } of STAGES) {
    const leads = winners.map((winner): Lead => {
      const changedAt = at(winner[status])
      const own = {
        id: winner.id,
        pipelineId: 'p',
        status,
        companyName: winner.id,
        createdAt: at(winner.new),
      }
      const times = { updatedAt: changedAt, statusChangedAt: changedAt }
      const raw = JSON.stringify({ ...own, ...times })
      return { ...BLANK_LEAD, ...own, ...times, cleaned: [], cut: 0, unsure: [], raw }
    })
    await store.write((trx) => saveLeads(trx, leads, observed))
  }
}

/** Returns whether the share of later winners lies in its interval of 90 %. */
function isInInterval(share: number, exceeded: number, of: number): boolean {
  const atLeast = (times: number) => (times === 0 ? 1 : jStat.ibeta(share, times, of - times + 1))
  return atLeast(exceeded) > 0.05 && 1 - atLeast(exceeded + 1) > 0.05
}

async function tryThresholds(store: Store, winners: readonly Winner[], hits: { age: Hits; stay: Hits }) {
  const until = (day: number) => START + day * DAY_MS
  const within = (from: number, to: number) => winners.filter(({ won }) => won >= from && won < to)
  await store.write((trx) => saveStages(trx, STAGES))
  await saveWinners(store, within(-Infinity, until(FIRST)))
  for (let day = FIRST; day + NEXT_DAYS <= DAYS; day += NEXT_DAYS) {
    await refreshStallThresholds(store, new Date(until(day)))
    const next = within(until(day), until(day + NEXT_DAYS))
    const tryDays = (of: Hits, share: number, days: unknown, from: 'new' | 'contacted') => {
      if (typeof days !== 'number') return
      const exceeded = next.filter((winner) => winner.won - winner[from] > days * DAY_MS)
      addHit(of, isInInterval(share, exceeded.length, next.length))
    }
    tryDays(hits.age, AGE_SHARE, (await readOldLeads(store.db))?.age.days, 'new')
    tryDays(hits.stay, STAY_SHARE, (await readStallThresholds(store.db)).get('contacted')?.days, 'contacted')
    await saveWinners(store, next)
  }
}

/** @param rounds the histories of each kind */
export async function measureWinners(rounds: number): Promise<Result[]> {
  const results: Result[] = []
  for (const [name, kind] of Object.entries(KINDS)) {
    const hits = { age: noHits(), stay: noHits() }
    for (let seed = 1; seed <= rounds; seed++) {
      await using store = await openStore(':memory:', new Date(START))
      await tryThresholds(store, winnersOf(kind, seed), hits)
    }
    results.push(
      shareOf('share-hits', name, 'age of 1 % of winners', hits.age),
      shareOf('share-hits', name, 'stay of 5 % of winners', hits.stay),
    )
  }
  return results
}
