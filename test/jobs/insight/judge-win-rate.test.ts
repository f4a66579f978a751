// @both-stores
/** The win rates and the won value of a report, from leads that a test closes day by day. */
import { expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo } from '../../../src/domain/period.ts'
import { judgeNumbers } from '../../../src/jobs/insight/judge-numbers.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { leadsOfDay } from '../../support/data/leads-of-day.ts'
import { publishRanges } from '../../support/reports/published-ranges.ts'
import { COVERED, requestOf } from '../../support/reports/request.ts'
import { openEmptyStore, save } from '../../support/store.ts'

const NOW = new Date('2026-11-21T06:00:00.000Z')
const ZONE = 'Europe/Berlin'
const DAYS = daysUpTo(NOW.toISOString(), 330, ZONE)

/** Returns the closed leads of a day for each source, and how many of them were won. */
type Closed = (daysAgo: number) => Readonly<Record<'web' | 'referral', readonly [won: number, of: number]>>

/** @param prepare changes the store before the report */
async function judge(
  closed: Closed,
  pipelineOf: (source: string) => string = () => 'p1',
  prepare: (store: Store) => Promise<void> = async () => undefined,
) {
  await using store = await openEmptyStore()
  const leads: Lead[] = []
  for (const [index, day] of DAYS.entries()) {
    for (const [source, [won, of]] of Object.entries(closed(DAYS.length - 1 - index))) {
      const worth = (each: number) => ({ valueAmount: 100 * (1 + (each % 3)), valueCurrency: 'EUR' })
      const closedAs = (each: number) => ({ status: each < won ? 'won' : 'lost', ...worth(each) })
      const pipelineId = pipelineOf(source)
      leads.push(...leadsOfDay(day, of, (each) => ({ source, pipelineId, ...closedAs(each) })))
    }
  }
  await save(store, leads)
  await prepare(store)
  return await judgeNumbers({ store, now: () => NOW }, requestOf('day', NOW, ZONE), COVERED, {})
}

/** The web wins about two of five leads, and referrals one of five. */
const asEver: Closed = (ago) => ({ web: [1 + (ago % 3), 5], referral: [1, 5] })

it('a win rate is judged against those before, of all leads and then of each pipeline', async () => {
  const bySource = (source: string) => source
  const published = { before: '2026-11-20', timeZone: ZONE }
  const range = { kind: '30_days', figure: 'win_rate', of: 15 } as const
  const worlds: Readonly<Record<string, Parameters<typeof judge>>> = {
    'as ever': [asEver],
    'it fell, though no source wins less': [
      (ago) => (ago < 30 ? { web: [0, 0], referral: [2, 10] } : { web: [3, 5], referral: [1, 5] }),
    ],
    'few leads were decided': [
      (ago) => ({ web: [ago < 2 ? 1 : 0, ago < 3 || ago >= 30 ? 1 : 0], referral: [0, ago < 30 ? 0 : 1] }),
    ],
    'one pipeline wins all': [
      (ago) => (ago < 30 ? { web: [5, 5], referral: [1, 5] } : asEver(ago)),
      bySource,
    ],
    'few of the ranges held that reports published of all pipelines': [
      asEver,
      bySource,
      async (store) => {
        await publishRanges(store, published, { ...range, hits: 11 })
        await publishRanges(store, published, { ...range, hits: 12, pipelines: '["web"]' })
      },
    ],
  }
  const lines: string[] = []
  for (const [name, world] of Object.entries(worlds)) {
    const { winRates } = await judge(...world)
    lines.push(name, ...winRates.map((rate) => `  ${JSON.stringify(rate, rounded)}`))
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/judged-win-rates.txt')
})

const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Math.round(value * 100) / 100 : value
