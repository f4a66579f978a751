import { describe, expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { Lead } from '../../../src/domain/model.ts'
import { dayBefore } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { staysOf } from '../../../src/store/figures/funnel.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { saveAgents, savePipelineStat } from '../../../src/store/sync/samples.ts'
import { saveSync } from '../../support/data/operation.ts'
import { requestOf } from '../../support/reports/request.ts'
import {
  agent,
  deleteLeads,
  lead,
  OPENED_AT,
  observedAt,
  openEmptyStore,
  save,
  saveWholeRun,
  stat,
} from '../../support/store.ts'

/** The Friday before OPENED_AT, in UTC. */
const FROM = '2026-11-20T00:00:00.000Z'
const BEFORE_FROM = '2026-11-19T23:59:59.999Z'
const TO = '2026-11-21T00:00:00.000Z'
const BEFORE_TO = '2026-11-20T23:59:59.999Z'

/** Reads the figures of a report from a store of its own with these leads and what `prepare` puts into it. */
async function figuresOf(
  leads: readonly Lead[],
  request = requestOf('day', OPENED_AT, 'UTC', { stalledDays: 7 }),
  prepare: (store: Store) => Promise<unknown> = async () => undefined,
): Promise<ReportFigures> {
  await using store = await openEmptyStore()
  await save(store, leads)
  await prepare(store)
  return await readReportFigures(store.db, request)
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

  it('begin with its start and end before its end, for all pipelines and for one', async () => {
    const told: string[] = []
    for (const pipelineIds of [null, ['p2']]) {
      const filter = { pipelineIds, conditions: [] }
      const request = requestOf('day', OPENED_AT, 'UTC', { filter, stalledDays: 7, rowsMax: 50 })
      const { leads, newLeads, won, lost, wonValue, winRate, openValue, topLeads, stalled } = await figuresOf(
        both,
        request,
      )
      const shown = {
        pipelineIds,
        leads,
        newLeads,
        won,
        lost,
        wonValue,
        winRate,
        openValue,
        topLeads,
        stalled,
      }
      told.push(...Object.entries(shown).map(([name, figure]) => `${name}: ${JSON.stringify(figure)}\n`))
    }
    await expect(told.join('')).toMatchFileSnapshot('golden/bounds.txt')
  })
})

describe('the win rate', () => {
  it('is of 30 days of the zone of the report, also if its clock changed within them', async () => {
    // 30 days before midnight of 11 April it was midnight of 12 March, one hour later by UTC.
    const leads = ['2026-03-11T22:59:59.999Z', '2026-03-11T23:00:00.000Z'].map((at) =>
      lead(at, { status: 'won', statusChangedAt: at, updatedAt: at, createdAt: '2026-01-01T00:00:00.000Z' }),
    )
    const rateOn = async (at: string) =>
      (await figuresOf(leads, requestOf('day', new Date(at), 'Europe/Berlin'))).winRate
    expect(await rateOn('2026-04-11T07:00:00Z')).toEqual({
      current: { part: 1, whole: 1 },
      prior: { part: 2, whole: 2 },
    })
    expect((await rateOn('2026-04-12T07:00:00Z')).current.whole).toBe(0)
  })

  it('and the stays of 90 days begin at a midnight of that zone', () => {
    const { from, to, timeZone } = dayBefore(new Date('2026-04-11T07:00:00Z'), 'Europe/Berlin')
    expect(staysOf({ from, to, timeZone, filter: EVERY_LEAD, stalledDays: 14 }).from).toBe(
      '2026-01-10T23:00:00.000Z',
    )
  })
})

/** The samples of statistics of p1 and p2, each read a second after the one before. */
const samples =
  (...stats: ReturnType<typeof stat>[]) =>
  async (store: Store): Promise<void> => {
    for (const [index, one] of stats.entries())
      await store.write((trx) => savePipelineStat(trx, one, observedAt(`2026-11-21T06:00:0${index}Z`)))
  }
const both = (at: string) => samples(stat('p1', at, { new: 60, won: 1 }), stat('p2', at, { new: 40, won: 1 }))

/** Saves a reading of agents of p1, such as `1 idle, 2 running`. */
async function saveAgentsOf(store: Store, at: string, reading: string, isWhole = true): Promise<void> {
  const agents = reading.split(', ').map((each) => {
    const [id = '', status = ''] = each.split(' ')
    return { ...agent(id, status), taskPipelineId: 'p1' }
  })
  await store.write((trx) => saveAgents(trx, agents, observedAt(at), { isWhole }))
}

async function fail(store: Store, at: string, message: string): Promise<void> {
  const problems = [{ part: 'leads', code: 'api_unreachable', message, hint: null }] as const
  await store.write((trx) => saveSync(trx, at, { outcome: 'failed', problems }))
}

const DAY_AFTER = '2026-11-22T00:00:00.000Z'
const TWO = [lead('1', { status: 'contacted' }), lead('2', { pipelineId: 'p2' })]

/** The content of the store beside two leads, by what a section of the report says of it. */
const SECTIONS: Readonly<
  Record<string, readonly ['funnel' | 'agents' | 'freshness', (store: Store) => Promise<unknown>]>
> = {
  'adds up the last reading of each pipeline, with the share of the stage before': [
    'funnel',
    samples(
      stat('p1', '2026-11-20T06:00:00Z', { new: 999, contacted: 999, won: 999 }),
      stat('p1', '2026-11-21T06:00:00Z', { on_hold: 7, new: 60, lost: 3, contacted: 30, won: 0 }),
      stat('p2', '2026-11-21T05:00:00Z', { new: 40, contacted: 20, won: 10 }),
    ),
  ],
  'has no rate after a stage that nobody reached, and forgets a pipeline whose leads are all gone': [
    'funnel',
    async (store) => {
      await samples(
        stat('p1', TO, { new: 0, contacted: 0 }),
        stat('p2', '2020-01-01T00:00:00Z', { new: 5 }),
      )(store)
      await deleteLeads(store, ['2'], TO)
    },
  ],
  'is counted by us where the statistics of one of the pipelines are missing': [
    'funnel',
    samples(stat('p1', TO, { new: 10, contacted: 5, won: 1 })),
  ],
  'of a day long past is counted by us, rather than shown as the service counts today': [
    'funnel',
    both(DAY_AFTER),
  ],
  'of yesterday is as the service counts this morning': ['funnel', both('2026-11-21T06:00:00.000Z')],
  'are those of the last reading, without the ones that are gone': [
    'agents',
    async (store) => {
      await saveAgentsOf(store, FROM, '1 idle, 2 idle, 3 idle')
      await saveAgentsOf(store, '2026-11-21T01:00:00.000Z', '1 running, 3 paused, 3 failing')
      await saveAgentsOf(store, '2026-11-21T01:00:00.000Z', '1 running', false)
    },
  ],
  'are not told of a day long past, for which they were not read': [
    'agents',
    (store) => saveAgentsOf(store, DAY_AFTER, '1 idle'),
  ],
  'covers the period as of its end, and tells the last failure after that': [
    'freshness',
    async (store) => {
      await saveWholeRun(store, TO)
      await fail(store, '2026-11-21T01:00:00.000Z', 'the first')
      await fail(store, '2026-11-21T02:00:00.000Z', 'the second')
    },
  ],
  'does not cover it a moment before its end, and a failure before that does not matter': [
    'freshness',
    async (store) => {
      await fail(store, FROM, 'too early to matter')
      await saveWholeRun(store, BEFORE_TO)
    },
  ],
  'is that of the last run in order, though the clock was years ahead before': [
    'freshness',
    async (store) => {
      await saveWholeRun(store, '2031-01-01T00:00:00Z')
      await saveWholeRun(store, BEFORE_FROM)
      await fail(store, FROM, 'after the clock was put right')
    },
  ],
}

it('the sections of a report tell what was read in time', async () => {
  const told: string[] = []
  for (const [what, [section, prepare]] of Object.entries(SECTIONS)) {
    const figures = await figuresOf(TWO, undefined, prepare)
    const shown = JSON.stringify(figures[section], (key, value) => (key === 'runId' ? undefined : value), 1)
    told.push(`${section} ${what}:\n${shown}\n`)
  }
  await expect(told.join('\n')).toMatchFileSnapshot('golden/sections.txt')
})

it('a source with a win and no new lead is listed after those with new leads, and none without news', async () => {
  const won = lead('won', { source: 'fair', status: 'won', statusChangedAt: FROM, updatedAt: FROM })
  const born = ['web', null, 'ad'].map((source) => lead(`of ${source}`, { source, createdAt: FROM }))
  const { bySource } = await figuresOf([won, lead('old', { source: 'quiet' }), ...born])
  const lines = bySource.map((line) => `${line.newLeads} ${line.won} ${line.source}`)
  expect(lines).toEqual(['1 0 ad', '1 0 web', '1 0 null', '0 1 fair'])
})

it('a lead without a company is named by its domain, or else by its id', async () => {
  const unnamed = { score: 90, createdAt: FROM, companyName: null }
  const { topLeads } = await figuresOf([
    lead('ld_6', { ...unnamed, companyDomain: 'acme.example' }),
    lead('ld_7', { ...unnamed, companyDomain: null }),
  ])
  expect(topLeads.rows.map((row) => row.companyName).sort()).toEqual(['acme.example', 'ld_7'])
})
