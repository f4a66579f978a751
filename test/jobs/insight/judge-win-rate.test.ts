// @both-stores
/** The win rates and the won value of a report, from leads that a test closes day by day. */
import { expect, it } from 'vitest'
import type { JudgedWinRate } from '../../../src/domain/insight.ts'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo, localDates } from '../../../src/domain/period.ts'
import { judgeNumbers } from '../../../src/jobs/insight/judge-numbers.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { publishRanges } from '../../support/reports/published-ranges.ts'
import { COVERED, requestOf } from '../../support/reports/request.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

const NOW = new Date('2026-11-21T06:00:00.000Z')
const ZONE = 'Europe/Berlin'
const DAYS = daysUpTo(NOW.toISOString(), 330, ZONE)

/** Returns the closed leads of a day for each source, and how many of them were won. */
type Closed = (daysAgo: number) => Readonly<Record<'web' | 'referral', readonly [won: number, of: number]>>

/**
 * Returns the win rate of all leads, then those of the pipelines.
 * @param pipelineOf returns the pipeline of the leads of a source
 */
async function judgeRatesOf(
  closed: Closed,
  pipelineOf?: (source: string) => string,
): Promise<readonly JudgedWinRate[]> {
  return (await judge(closed, pipelineOf)).winRates
}

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
      for (let each = 0; each < of; each++) {
        const at = new Date(Date.parse(day.from) + 3_600_000 + each * 60_000).toISOString()
        const times = { createdAt: at, updatedAt: at, statusChangedAt: at }
        const status = each < won ? 'won' : 'lost'
        leads.push(
          lead(`${localDates(day)} ${source} ${each}`, {
            source,
            pipelineId: pipelineOf(source),
            status,
            ...times,
            valueAmount: 100 * (1 + (each % 3)),
            valueCurrency: 'EUR',
          }),
        )
      }
    }
  }
  await save(store, leads)
  await prepare(store)
  return await judgeNumbers({ store, now: () => NOW }, requestOf('day', NOW, ZONE), COVERED, {})
}

/** The web wins about two of five leads, and referrals one of five. */
const asEver: Closed = (ago) => ({ web: [1 + (ago % 3), 5], referral: [1, 5] })

it('a win rate as ever is normal, with a range and a record', async () => {
  const [judged] = await judgeRatesOf(asEver)
  expect(judged).toMatchObject({ won: 90, decided: 300, judgement: 'normal' })
  expect(judged?.range?.low).toBeGreaterThan(60)
  expect(judged?.range?.low).toBeLessThan(90)
  expect(judged?.range?.high).toBeGreaterThan(90)
  expect(judged?.expected).toBeCloseTo(0.3, 2)
  expect(judged?.record).toEqual({ hits: 2, of: 2 })
})

it('a win rate that fell is unusual, also where no source wins less', async () => {
  const [judged] = await judgeRatesOf((ago) =>
    ago < 30 ? { web: [0, 0], referral: [2, 10] } : { web: [3, 5], referral: [1, 5] },
  )
  expect(judged).toMatchObject({ won: 60, decided: 300, judgement: 'low' })
})

it('a win rate of few leads is never news', async () => {
  const [judged] = await judgeRatesOf((ago) =>
    ago < 30
      ? { web: [ago < 2 ? 1 : 0, ago < 3 ? 1 : 0], referral: [0, 0] }
      : { web: [0, 1], referral: [0, 1] },
  )
  expect(judged).toMatchObject({ won: 2, decided: 3, judgement: 'learning', range: null })
})

it('a pipeline has a range of its own, and is never called unusual', async () => {
  const [ofAll, referral, web] = await judgeRatesOf(
    (ago) => (ago < 30 ? { web: [5, 5], referral: [1, 5] } : asEver(ago)),
    (source) => source,
  )
  expect(ofAll).toMatchObject({ pipeline: null, judgement: 'high' })
  expect(referral).toMatchObject({ pipeline: { id: 'referral' }, won: 30, decided: 150, judgement: 'normal' })
  expect(referral?.expected).toBeCloseTo(0.2, 2)
  expect(web).toMatchObject({ pipeline: { id: 'web' }, won: 150, decided: 150, judgement: 'normal' })
  expect(web?.range?.high).toBeLessThan(100)
  expect(web?.expected).toBeCloseTo(0.4, 2)
})

it('a range is withheld if so few held of those that reports published', async () => {
  const published = { before: '2026-11-20', timeZone: ZONE }
  const { winRates } = await judge(
    asEver,
    (source) => source,
    async (store) => {
      await publishRanges(store, published, { kind: '30_days', figure: 'win_rate', hits: 11, of: 15 })
      await publishRanges(store, published, {
        kind: '30_days',
        figure: 'win_rate',
        hits: 12,
        of: 15,
        pipelines: '["web"]',
      })
    },
  )
  expect(winRates.map(({ judgement, range }) => [judgement, range !== null])).toEqual([
    ['withheld', false],
    ['normal', true],
    ['normal', true],
  ])
})
