// @both-stores
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
import { finishRun, startRun } from '../../../src/store/sync/sync-run.ts'
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

describe('new leads', () => {
  it('are those created from the start of the period on, and before its end', async () => {
    const leads = [BEFORE_FROM, FROM, BEFORE_TO, TO].map((createdAt, index) =>
      lead(`${index}`, { createdAt }),
    )
    expect((await figuresOf(leads)).newLeads).toEqual({ current: 2, prior: 0 })
  })

  it('of the same weekday a week before stand beside them', async () => {
    const leads = ['2026-11-13T00:00:00.000Z', '2026-11-13T23:59:59.999Z', '2026-11-14T00:00:00.000Z', FROM]
    expect(
      (await figuresOf(leads.map((createdAt, index) => lead(`${index}`, { createdAt })))).newLeads,
    ).toEqual({ current: 1, prior: 2 })
  })

  it('are counted by the days of the zone, also by one of 25 hours', async () => {
    // 25 October 2026 in Vienna: from 22:00Z the day before to 23:00Z.
    const period = dayBefore(new Date('2026-10-26T06:00:00Z'), 'Europe/Vienna')
    const times = ['2026-10-24T21:59:59.999Z', '2026-10-24T22:00:00.000Z', '2026-10-25T22:59:59.999Z']
    const leads = [...times, '2026-10-25T23:00:00.000Z'].map((createdAt, index) =>
      lead(`${index}`, { createdAt }),
    )
    expect((await figuresOf(leads, { period })).newLeads.current).toBe(2)
  })

  it('leave out those that are gone upstream', async () => {
    const figures = await figuresOf(
      [lead('1', { createdAt: FROM }), lead('2', { createdAt: FROM })],
      {},
      (store) => remove(store, '2', BEFORE_TO),
    )
    expect([figures.leads, figures.newLeads.current]).toEqual([1, 1])
  })
})

describe('won', () => {
  it('counts leads closed as won in the period, whenever they were created', async () => {
    const leads = [
      ...[BEFORE_FROM, FROM, BEFORE_TO, TO].map((at, index) => won(`${index}`, at)),
      lead('lost', { status: 'lost', statusChangedAt: FROM }),
      lead('open', { status: 'contacted', statusChangedAt: FROM }),
    ]
    expect((await figuresOf(leads)).won.current).toBe(2)
  })

  it('adds the values up by currency, that of most leads first whatever the amounts, and leaves out leads without one', async () => {
    const leads = [
      won('1', FROM, { valueAmount: 100, valueCurrency: 'EUR' }),
      won('2', FROM, { valueAmount: 250.5, valueCurrency: 'USD' }),
      won('3', FROM, { valueAmount: 100, valueCurrency: 'EUR' }),
      won('4', FROM),
      won('5', FROM, { valueAmount: 9 }),
    ]
    const { wonValue } = await figuresOf(leads)
    expect(wonValue.current).toEqual([
      { amount: 200, currency: 'EUR' },
      { amount: 250.5, currency: 'USD' },
    ])
    expect(wonValue.prior).toEqual([])
  })

  it('lists the leads by currency, that of most leads first, and by value only within one', async () => {
    const worth = (id: string, valueAmount: number, valueCurrency: string) =>
      won(id, FROM, { valueAmount, valueCurrency })
    const figures = await figuresOf([
      ...[worth('yen', 7_100_000, 'JPY'), worth('small', 100, 'USD'), worth('large', 5_300, 'USD')],
      ...[won('none', FROM), won('euro', FROM, { valueAmount: 90, valueCurrency: 'EUR' })],
    ])
    const changed = figures.changes.kinds.find(({ kind }) => kind === 'won')
    expect(changed?.rows.map(({ id }) => id)).toEqual(['large', 'small', 'euro', 'yen', 'none'])
    expect(changed?.value.map(({ currency }) => currency)).toEqual(['USD', 'EUR', 'JPY'])
    expect(figures.wonValue.current.map(({ currency }) => currency)).toEqual(['USD', 'EUR', 'JPY'])
  })
})

describe('the win rate', () => {
  it('is won out of won and lost of the 30 days up to the end of the period', async () => {
    const leads = [
      won('a', '2026-10-21T23:59:59.999Z'),
      won('b', '2026-10-22T00:00:00.000Z'),
      won('c', BEFORE_TO),
      won('d', TO),
      lead('e', { status: 'lost', statusChangedAt: FROM }),
      lead('f', { status: 'disqualified', statusChangedAt: FROM }),
      lead('g', { status: 'contacted', statusChangedAt: FROM }),
    ]
    const { winRate } = await figuresOf(leads)
    expect(winRate.current).toEqual({ part: 2, whole: 3 })
    expect(winRate.prior).toEqual({ part: 2, whole: 2 })
  })

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

  it('is nothing of nothing where nothing was closed', async () => {
    expect((await figuresOf([])).winRate.current).toEqual({ part: 0, whole: 0 })
  })
})

describe('the open pipeline', () => {
  const value = (id: string, change: Parameters<typeof lead>[1]): Lead =>
    lead(id, { valueAmount: 10 ** Number(id), valueCurrency: 'EUR', ...change })

  it('holds what was created before the end of the period and not closed by then', async () => {
    const leads = [
      value('0', { createdAt: BEFORE_TO }),
      value('1', { createdAt: TO, updatedAt: TO, statusChangedAt: TO }),
      value('2', { status: 'won', statusChangedAt: BEFORE_TO }),
      value('3', { status: 'lost', statusChangedAt: TO, updatedAt: TO }),
      value('4', { status: 'disqualified', statusChangedAt: FROM }),
    ]
    expect((await figuresOf(leads)).openValue.current).toEqual([{ amount: 1001, currency: 'EUR' }])
  })

  it('counts a status that no stage names as open', async () => {
    const { openValue } = await figuresOf([value('2', { status: 'on_hold' })])
    expect(openValue.current).toEqual([{ amount: 100, currency: 'EUR' }])
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
        stat('p1', '2026-11-21T06:00:00Z', { new: 60, contacted: 30, won: 0 }),
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

  it('has no rate after a stage that nobody reached', async () => {
    const { funnel } = await figuresOf(
      [lead('1')],
      {},
      samples(stat('p1', TO, { new: 0, contacted: 0, won: 0 })),
    )
    expect(funnel.stages.map((stage) => stage.conversion)).toEqual([null, null, null])
  })

  it('leaves out statuses that are no step towards being won, known or not', async () => {
    const { funnel } = await figuresOf(
      [lead('1')],
      {},
      samples(stat('p1', TO, { on_hold: 7, new: 10, lost: 3, contacted: 5, won: 1, disqualified: 2 })),
    )
    expect(funnel.stages.map((stage) => stage.status)).toEqual(['new', 'contacted', 'won'])
  })

  it('forgets a pipeline whose leads are all gone', async () => {
    const both = samples(stat('p1', TO, { new: 10 }), stat('p2', '2020-01-01T00:00:00Z', { new: 5 }))
    const { funnel } = await figuresOf([lead('1'), lead('2', { pipelineId: 'p2' })], {}, async (store) => {
      await both(store)
      await remove(store, '2', TO)
    })
    expect(funnel).toMatchObject({ asOf: TO, stages: [{ status: 'new', reached: 10, conversion: null }] })
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

  it('is counted by us where the service has no statistics that can be read', async () => {
    expect((await figuresOf(two)).funnel).toMatchObject(OURS)
  })

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

describe('the agents', () => {
  it('are not told of a day long past, for which they were not read', async () => {
    const readAt = (at: number) => async (store: Store) => {
      const observed = observedAt(new Date(Date.parse(TO) + at).toISOString())
      await store.write((trx) => saveAgents(trx, [agentOf('a1', 'idle')], observed, { isWhole: true }))
    }
    expect((await figuresOf([lead('1')], {}, readAt(3_600_000))).agents.rows).toHaveLength(1)
    const { agents } = await figuresOf([lead('1')], {}, readAt(86_400_000))
    expect(agents).toMatchObject({ asOf: new Date(Date.parse(TO) + 86_400_000).toISOString(), rows: [] })
  })
})

describe('top leads', () => {
  it('are those created in the period from the score on, the best five, and how many there are', async () => {
    const leads = [79, 80, 99, 90, 85, 95, 81].map((score, index) =>
      lead(`${index}`, { score, createdAt: FROM }),
    )
    const { topLeads } = await figuresOf([
      ...leads,
      lead('late', { score: 100, createdAt: TO }),
      lead('none'),
    ])
    expect([topLeads.minScore, topLeads.total]).toEqual([80, 6])
    expect(topLeads.rows.map((row) => row.score)).toEqual([99, 95, 90, 85, 81])
    expect(topLeads.rows[0]).toMatchObject({ companyName: 'Company 2', pipelineName: 'p1' })
  })

  it.each([
    ['acme.example', 'acme.example'],
    [null, 'ld_7'],
  ])('without a company have their domain %s or else their id for a name', async (companyDomain, name) => {
    const unnamed = { score: 90, createdAt: FROM, companyName: null, companyDomain }
    const { topLeads } = await figuresOf([lead('ld_7', unnamed)])
    expect(topLeads.rows[0]?.companyName).toBe(name)
  })
})

describe('stalled leads', () => {
  it('are open and unchanged since so many days before the end of the period, the longest first', async () => {
    const unchanged = (id: string, updatedAt: string, status = 'contacted'): Lead =>
      lead(id, { status, updatedAt, valueAmount: 5, valueCurrency: 'EUR' })
    const { stalled } = await figuresOf([
      unchanged('just', '2026-11-14T00:00:00.000Z'),
      unchanged('not yet', '2026-11-14T00:00:00.001Z'),
      unchanged('long', '2026-11-10T12:00:00.000Z'),
      unchanged('closed', '2026-11-01T00:00:00.000Z', 'lost'),
    ])
    expect([stalled.days, stalled.total]).toEqual([7, 2])
    expect(stalled.rows.map((row) => [row.id, row.idleDays, row.value])).toEqual([
      ['long', 10, { amount: 5, currency: 'EUR' }],
      ['just', 7, { amount: 5, currency: 'EUR' }],
    ])
  })
})

describe('the pipelines of a report', () => {
  it('bound every figure of leads and the funnel', async () => {
    const leads = ['p1', 'p2'].flatMap((pipelineId) => [
      lead(`${pipelineId} new`, { pipelineId, createdAt: FROM, updatedAt: FROM, score: 90 }),
      won(`${pipelineId} won`, FROM, { pipelineId, valueAmount: 1, valueCurrency: 'EUR' }),
      lead(`${pipelineId} old`, { pipelineId, valueAmount: 1, valueCurrency: 'EUR' }),
    ])
    const prepare = (store: Store): Promise<void> =>
      store.write(async (trx) => {
        for (const id of ['p1', 'p2']) await savePipelineStat(trx, stat(id, TO, { new: 3 }), observedAt(TO))
      })
    const figures = await figuresOf(leads, { filter: { pipelineIds: ['p2'], conditions: [] } }, prepare)
    expect(figures).toMatchObject({
      pipelines: ['Pipeline p2'],
      leads: 3,
      newLeads: { current: 1 },
      won: { current: 1 },
      wonValue: { current: [{ amount: 1, currency: 'EUR' }] },
      winRate: { current: { part: 1, whole: 1 } },
      openValue: { current: [{ amount: 1, currency: 'EUR' }] },
      funnel: { stages: [{ reached: 3 }] },
      topLeads: { total: 1 },
      stalled: { total: 1 },
    })
    expect(
      (await figuresOf(leads, { filter: { pipelineIds: ['none'], conditions: [] } }, prepare)).leads,
    ).toBe(0)
    expect((await figuresOf(leads, {}, prepare)).funnel.stages[0]?.reached).toBe(6)
  })
})

describe('agents', () => {
  it('are those of the last reading, without the ones that are gone', async () => {
    const agent = (id: string, status: string) => ({
      id,
      name: `Agent ${id}`,
      kind: null,
      status,
      statusChangedAt: null,
      taskType: null,
      taskPipelineId: 'p1',
      taskLeadId: null,
      taskStartedAt: null,
      taskProgress: null,
      lastSeenAt: null,
      tasks24h: null,
      errors24h: null,
      lastErrorAt: null,
      lastErrorMessage: null,
      raw: '{}',
    })
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
      const leads = { seen: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, quarantined: 0 }
      const problems = [{ part: 'leads' as const, code: 'api_unreachable', message, hint: null }]
      const counts = {
        stats: 0,
        agents: 0,
        details: { read: 0, notFound: 0, failed: 0 },
        pages: 0,
        requests: 1,
        retries: 0,
        durationMs: 1,
      }
      await finishRun(
        trx,
        {
          runId,
          outcome: 'failed',
          complete: false,
          leads,
          ...counts,
          problems,
          notBefore: null,
          scan: null,
        },
        at,
      )
    })

  it('knows of no data before a run has read all leads, however many pages are in', async () => {
    const { freshness, leads } = await figuresOf([lead('1')], {}, (store) =>
      store.write((trx) => startRun(trx, { mode: 'full', parts: ['leads'], at: TO })),
    )
    expect(leads).toBe(1)
    expect(freshness).toMatchObject({ dataAsOf: null, coversPeriod: false, runId: null })
  })

  it.each([
    [BEFORE_TO, false],
    [TO, true],
  ])('as of %s covers the period: %s', async (asOf, coversPeriod) => {
    const { freshness } = await figuresOf([], {}, (store) => saveWholeRun(store, asOf))
    expect(freshness).toMatchObject({ dataAsOf: asOf, coversPeriod })
  })

  it('tells the last failure after the data, and none that a whole run came after', async () => {
    const after = await figuresOf([], {}, async (store) => {
      await failed(store, FROM, 'too early to matter')
      await saveWholeRun(store, TO)
      await failed(store, '2026-11-21T01:00:00.000Z', 'the first')
      await failed(store, '2026-11-21T02:00:00.000Z', 'the second')
    })
    expect(after.freshness.lastFailure).toMatchObject({
      at: '2026-11-21T02:00:00.000Z',
      message: 'the second',
    })
    const before = await figuresOf([], {}, async (store) => {
      await failed(store, FROM, 'too early to matter')
      await saveWholeRun(store, TO)
    })
    expect(before.freshness.lastFailure).toBeNull()
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
