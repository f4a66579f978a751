import { describe, expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { Lead } from '../../../src/domain/model.ts'
import { dayBefore, weekBefore } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { staysOf } from '../../../src/store/figures/funnel.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { type ReportRequest, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { recordDeletions } from '../../../src/store/leads/lead-version.ts'
import { saveAgents, savePipelineStat } from '../../../src/store/sync/samples.ts'
import { startRun } from '../../../src/store/sync/sync-run.ts'
import {
  agent as agentOf,
  lead,
  observedAt,
  openEmptyStore,
  save,
  saveWholeRun,
  stat,
} from '../../support/store.ts'

/** Friday 20 November 2026 in UTC, from the morning after. */
const FRIDAY = dayBefore(new Date('2026-11-21T07:00:00Z'), 'UTC')
const FROM = '2026-11-20T00:00:00.000Z'
const BEFORE_FROM = '2026-11-19T23:59:59.999Z'
const TO = '2026-11-21T00:00:00.000Z'
const BEFORE_TO = '2026-11-20T23:59:59.999Z'

async function figuresOf(
  leads: readonly Lead[],
  change: Partial<ReportRequest> = {},
  prepare: (store: Store) => Promise<unknown> = async () => undefined,
): Promise<ReportFigures> {
  const store = await openEmptyStore()
  await save(store, leads)
  await prepare(store)
  const period = change.period ?? FRIDAY
  const figures = await readReportFigures(store.db, {
    kind: 'day',
    period,
    prior: weekBefore(period),
    filter: EVERY_LEAD,
    topScore: 80,
    stalledDays: 7,
    rowsMax: 5,
    since: null,
    trendDays: [],
    ...change,
  })
  await store.close()
  return figures
}

const won = (id: string, at: string, change: Parameters<typeof lead>[1] = {}): Lead =>
  lead(id, { status: 'won', statusChangedAt: at, updatedAt: at, ...change })

/** Removes a lead like a second complete scan without it. */
async function remove(store: Store, id: string, at: string): Promise<void> {
  await store.write(async (trx) => {
    await trx.updateTable('lead').set({ deleted_at: at }).where('id', '=', id).execute()
    await recordDeletions(trx, [id], observedAt(at))
  })
}

describe('the figures of a period', () => {
  const worth = (valueAmount: number) => ({ valueAmount, valueCurrency: 'EUR' })

  /** Leads at each side of each bound, all of one pipeline. */
  function atTheBounds(pipelineId: string): Lead[] {
    const of = (id: string, change: Parameters<typeof lead>[1]) =>
      lead(`${pipelineId} ${id}`, { pipelineId, ...change })
    const closed = (status: string, at: string, amount: number) =>
      of(`${status} ${at}`, { status, statusChangedAt: at, updatedAt: at, ...worth(amount) })
    const created = [
      ...['2026-11-12T23:59:59.999Z', '2026-11-13T00:00:00.000Z', '2026-11-13T23:59:59.999Z'],
      ...['2026-11-14T00:00:00.000Z', '2026-11-14T00:00:00.001Z', BEFORE_FROM, FROM, BEFORE_TO, TO],
    ]
    return [
      ...created.map((at, index) =>
        of(`new ${at}`, {
          createdAt: at,
          updatedAt: at,
          statusChangedAt: at,
          score: 73 + index,
          ...worth(10 ** index),
        }),
      ),
      ...['2026-10-21T23:59:59.999Z', '2026-10-22T00:00:00.000Z', BEFORE_FROM, FROM, BEFORE_TO, TO].map(
        (at, index) => closed('won', at, 2 ** index),
      ),
      ...[closed('lost', FROM, 1), closed('disqualified', FROM, 1)],
      of('on hold', { status: 'on_hold', updatedAt: FROM, ...worth(2_000_000_000) }),
    ]
  }
  const both = [...atTheBounds('p1'), ...atTheBounds('p2')]
  const euros = (amount: number) => [{ amount, currency: 'EUR' }]

  it.each([
    ['all pipelines', null, 2],
    ['one pipeline', ['p2'], 1],
  ])('begin with its start and end before its end, for %s', async (_, pipelineIds, times) => {
    const filter = { pipelineIds, conditions: [] }
    const figures = await figuresOf(both, { filter, topScore: 80, rowsMax: 50 })
    expect(figures).toMatchObject({
      leads: 17 * times,
      newLeads: { current: 2 * times, prior: 2 * times },
      won: { current: 2 * times, prior: 0 },
      lost: { current: times, prior: 0 },
      wonValue: { current: euros(24 * times), prior: [] },
      winRate: {
        current: { part: 4 * times, whole: 5 * times },
        prior: { part: 2 * times, whole: 2 * times },
      },
      topLeads: { minScore: 80, total: times },
      stalled: { days: 7, total: 4 * times },
    })
    expect(figures.openValue.current).toEqual(euros(2_011_111_143 * times))
    const ranked = <T>(values: readonly T[]) => values.flatMap((value) => Array<T>(times).fill(value))
    expect(figures.topLeads.rows.map(({ score }) => score)).toEqual(ranked([80]))
    const stalled = figures.stalled.rows.map(({ idleDays, value }) => `${value?.amount} for ${idleDays} days`)
    expect(stalled).toEqual(ranked(['1 for 8 days', '10 for 8 days', '100 for 7 days', '1000 for 7 days']))
  })
})

describe('the win rate', () => {
  it('is of 30 days of the zone of the report, also if its clock changed within them', async () => {
    const period = dayBefore(new Date('2026-04-11T07:00:00Z'), 'Europe/Berlin')
    const prior = weekBefore(period)
    // 30 days before midnight of 11 April it was midnight of 12 March, one hour later by UTC.
    const ends = ['2026-03-11T22:59:59.999Z', '2026-03-11T23:00:00.000Z']
    const leads = ends.map((at) => won(at, at, { createdAt: '2026-01-01T00:00:00.000Z' }))
    const { winRate } = await figuresOf(leads, { period, prior })
    expect(winRate.current).toEqual({ part: 1, whole: 1 })
    expect(winRate.prior).toEqual({ part: 2, whole: 2 })
    const later = dayBefore(new Date('2026-04-12T07:00:00Z'), 'Europe/Berlin')
    expect((await figuresOf(leads, { period: later, prior: weekBefore(later) })).winRate.current.whole).toBe(
      0,
    )
  })

  it('and the stays of 90 days begin at a midnight of that zone', () => {
    const { from, to, timeZone } = dayBefore(new Date('2026-04-11T07:00:00Z'), 'Europe/Berlin')
    expect(staysOf({ from, to, timeZone, filter: EVERY_LEAD, stalledDays: 14 }).from).toBe(
      '2026-01-10T23:00:00.000Z',
    )
  })
})

describe('the funnel', () => {
  const samples =
    (...stats: ReturnType<typeof stat>[]) =>
    async (store: Store): Promise<void> => {
      for (const [index, one] of stats.entries()) {
        await store.write((trx) => savePipelineStat(trx, one, observedAt(`2026-11-21T06:00:0${index}Z`)))
      }
    }

  it('adds up the last reading of each pipeline, with the share of the stage before', async () => {
    const { funnel } = await figuresOf(
      [lead('1'), lead('2', { pipelineId: 'p2' })],
      {},
      samples(
        stat('p1', '2026-11-20T06:00:00Z', { new: 999, contacted: 999, won: 999 }),
        stat('p1', '2026-11-21T06:00:00Z', { on_hold: 7, new: 60, lost: 3, contacted: 30, won: 0 }),
        stat('p2', '2026-11-21T05:00:00Z', { new: 40, contacted: 20, won: 10 }),
      ),
    )
    expect(funnel).toMatchObject({
      source: 'service',
      asOf: '2026-11-21T05:00:00.000Z',
      stages: [
        { status: 'new', reached: 100, conversion: null },
        { status: 'contacted', reached: 50, conversion: 0.5 },
        { status: 'won', reached: 10, conversion: 0.2 },
      ],
    })
  })

  it('has no rate after a stage that nobody reached, and forgets a pipeline whose leads are all gone', async () => {
    const both = samples(
      stat('p1', TO, { new: 0, contacted: 0 }),
      stat('p2', '2020-01-01T00:00:00Z', { new: 5 }),
    )
    const { funnel } = await figuresOf([lead('1'), lead('2', { pipelineId: 'p2' })], {}, async (store) => {
      await both(store)
      await remove(store, '2', TO)
    })
    expect(funnel).toMatchObject({
      asOf: TO,
      stages: [
        { status: 'new', reached: 0, conversion: null },
        { status: 'contacted', reached: 0, conversion: null },
      ],
    })
  })

  const OURS = {
    source: 'ours',
    stages: [
      { status: 'new', reached: 2 },
      { status: 'contacted', reached: 1 },
      { status: 'won', reached: 0 },
    ],
  }
  const two = [lead('1', { status: 'contacted' }), lead('2', { pipelineId: 'p2' })]

  it('is counted by us where the statistics of one of the pipelines are missing', async () => {
    const { funnel } = await figuresOf(two, {}, samples(stat('p1', TO, { new: 10, contacted: 5, won: 1 })))
    expect(funnel).toMatchObject(OURS)
  })

  it('of a day long past is counted by us, rather than shown as the service counts today', async () => {
    const both = (at: string) => [stat('p1', at, { new: 60, won: 1 }), stat('p2', at, { new: 40, won: 1 })]
    const dayAfter = new Date(Date.parse(TO) + 86_400_000).toISOString()
    const nextMorning = new Date(Date.parse(TO) + 6 * 3_600_000).toISOString()
    expect((await figuresOf(two, {}, samples(...both(dayAfter)))).funnel).toMatchObject(OURS)
    expect((await figuresOf(two, {}, samples(...both(nextMorning)))).funnel).toMatchObject({
      source: 'service',
      asOf: nextMorning,
    })
  })
})

it('a lead without a company is named by its domain, or else by its id', async () => {
  const unnamed = { score: 90, createdAt: FROM, companyName: null }
  const { topLeads } = await figuresOf([
    lead('ld_6', { ...unnamed, companyDomain: 'acme.example' }),
    lead('ld_7', { ...unnamed, companyDomain: null }),
  ])
  expect(topLeads.rows.map((row) => row.companyName).sort()).toEqual(['acme.example', 'ld_7'])
})

describe('agents', () => {
  it('are not told of a day long past, for which they were not read', async () => {
    const readAt = (at: number) => async (store: Store) => {
      const observed = observedAt(new Date(Date.parse(TO) + at).toISOString())
      await store.write((trx) => saveAgents(trx, [agentOf('a1', 'idle')], observed, { isWhole: true }))
    }
    expect((await figuresOf([lead('1')], {}, readAt(3_600_000))).agents.rows).toHaveLength(1)
    const { agents } = await figuresOf([lead('1')], {}, readAt(86_400_000))
    expect(agents).toMatchObject({ asOf: new Date(Date.parse(TO) + 86_400_000).toISOString(), rows: [] })
  })

  it('are those of the last reading, without the ones that are gone', async () => {
    const agent = (id: string, status: string) => ({ ...agentOf(id, status), taskPipelineId: 'p1' })
    const { agents } = await figuresOf([lead('1')], {}, async (store) => {
      const keep = (agents: ReturnType<typeof agent>[], at: string, isWhole = true): Promise<void> =>
        store.write((trx) => saveAgents(trx, agents, observedAt(at), { isWhole }))
      await keep([agent('1', 'idle'), agent('2', 'idle'), agent('3', 'idle')], FROM)
      await keep([agent('1', 'running'), agent('3', 'paused'), agent('3', 'failing')], TO)
      await keep([agent('1', 'running')], TO, false)
    })
    expect(agents.asOf).toBe(TO)
    expect(agents.rows.map((row) => [row.name, row.status, row.taskPipelineName])).toEqual([
      ['Agent 1', 'running', 'p1'],
      ['Agent 3', 'failing', 'p1'],
    ])
  })
})

describe('freshness', () => {
  const failed = (store: Store, at: string, message: string): Promise<void> =>
    store.write(async (trx) => {
      const runId = await startRun(trx, { mode: 'incremental', parts: ['leads'], at })
      const problems = JSON.stringify([{ part: 'leads', code: 'api_unreachable', message, hint: null }])
      const ended = { outcome: 'failed', finished_at: at, problems } as const
      await trx.updateTable('sync_run').where('id', '=', runId).set(ended).execute()
    })

  it('covers the period as of its end, and tells the last failure after that', async () => {
    const { freshness: before } = await figuresOf([], {}, async (store) => {
      await failed(store, FROM, 'too early to matter')
      await saveWholeRun(store, BEFORE_TO)
    })
    expect(before).toMatchObject({ dataAsOf: BEFORE_TO, coversPeriod: false, lastFailure: null })
    const at = '2026-11-21T02:00:00.000Z'
    const { freshness: after } = await figuresOf([], {}, async (store) => {
      await saveWholeRun(store, TO)
      await failed(store, '2026-11-21T01:00:00.000Z', 'the first')
      await failed(store, at, 'the second')
    })
    const lastFailure = { at, message: 'the second' }
    expect(after).toMatchObject({ dataAsOf: TO, coversPeriod: true, lastFailure })
  })

  it('is that of the last run in order, though the clock was years ahead before', async () => {
    const { freshness } = await figuresOf([], {}, async (store) => {
      await saveWholeRun(store, '2031-01-01T00:00:00Z')
      await saveWholeRun(store, BEFORE_FROM)
      await failed(store, FROM, 'after the clock was put right')
    })
    expect(freshness).toMatchObject({
      dataAsOf: BEFORE_FROM,
      coversPeriod: false,
      lastFailure: { message: 'after the clock was put right' },
    })
  })
})
