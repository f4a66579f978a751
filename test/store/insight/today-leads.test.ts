// @both-stores
/** The leads on which a person should act today, with their reasons. */
import { describe, expect, it } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { type FigureScope, inReadTransaction } from '../../../src/store/figures/query.ts'
import { readStalled } from '../../../src/store/figures/report-lists.ts'
import { fillFilteredLeads } from '../../../src/store/figures/temp-tables.ts'
import { readTodayLeads } from '../../../src/store/insight/today-leads.ts'
import { saveStages } from '../../../src/store/leads/stages.ts'
import { lead, openEmptyStore, STAGES, save } from '../../support/store.ts'

/** The report about 19 November in Berlin ends then. */
const END = '2026-11-19T23:00:00.000Z'
const SCOPE = {
  from: '2026-11-18T23:00:00.000Z',
  to: END,
  timeZone: 'Europe/Berlin',
  filter: EVERY_LEAD,
  stalledDays: 14,
}
const ago = (days: number): string => new Date(Date.parse(END) - days * 86_400_000).toISOString()

/** Saves a lead that was created a long time ago and has been in its stage for a number of days. */
async function saveStaying(
  store: Store,
  id: string,
  days: number,
  change: Partial<Lead> = {},
): Promise<void> {
  const since = ago(days)
  await save(store, [lead(id, { createdAt: ago(40), statusChangedAt: since, updatedAt: since, ...change })])
}

interface Asked {
  readonly scope?: Partial<FigureScope>
  readonly thresholds?: Readonly<Record<string, number | null>>
  readonly rowsMax?: number
}

async function today(store: Store, { scope = {}, thresholds = {}, rowsMax = 10 }: Asked = {}) {
  const asked = { ...SCOPE, ...scope }
  const limits = Object.entries(thresholds).map(([status, days]) => [status, { days, winners: 300 }] as const)
  const options = { thresholds: new Map(limits), horizonDays: 3, topScore: 80, rowsMax }
  return inReadTransaction(store.db, async (trx) =>
    readTodayLeads(await fillFilteredLeads(trx, asked), asked, options),
  )
}

async function reasonsOf(store: Store, asked: Asked = {}): Promise<Record<string, unknown>> {
  const { rows } = await today(store, asked)
  return Object.fromEntries(rows.map(({ lead: { id }, why }) => [id, why]))
}

describe('a lead whose expected close has passed', () => {
  it.each([
    ['2026-11-18T00:00:00.000Z', true],
    ['2026-11-19T00:00:00.000Z', true],
    ['2026-11-19T22:59:00.000Z', true],
    ['2026-11-19T23:00:00.000Z', false],
    ['2026-11-20T00:00:00.000Z', false],
    [null, false],
  ])('at %s is due in Berlin: %s', async (expectedCloseAt, isDue) => {
    await using store = await openEmptyStore()
    await saveStaying(store, 'a', 2, { expectedCloseAt })
    expect(await reasonsOf(store)).toEqual(isDue ? { a: { kind: 'overdue', expectedCloseAt } } : {})
  })

  it.each([
    ['2026-11-19T00:00:00.000Z', true],
    ['2026-11-20T00:00:00.000Z', false],
    ['2026-11-20T00:00:01.000Z', true],
  ])('at %s is due in New York, where a date lasts until midnight: %s', async (expectedCloseAt, isDue) => {
    await using store = await openEmptyStore()
    await saveStaying(store, 'a', 2, { expectedCloseAt })
    const scope = { timeZone: 'America/New_York', to: '2026-11-20T05:00:00.000Z' }
    expect(Object.keys(await reasonsOf(store, { scope }))).toEqual(isDue ? ['a'] : [])
  })

  it('is not due once it is closed or deleted', async () => {
    await using store = await openEmptyStore()
    const passed = { expectedCloseAt: ago(3) }
    for (const status of ['won', 'lost', 'disqualified'])
      await saveStaying(store, status, 2, { ...passed, status })
    await saveStaying(store, 'gone', 2, passed)
    await saveStaying(store, 'without stage', 2, { ...passed, status: 'odd' })
    await store.write((trx) =>
      trx.updateTable('lead').where('id', '=', 'gone').set({ deleted_at: END }).execute(),
    )
    expect(Object.keys(await reasonsOf(store))).toEqual(['without stage'])
  })
})

describe('a lead that is about to stall', () => {
  it('will soon have stayed longer in its stage than winners do', async () => {
    await using store = await openEmptyStore()
    for (const days of [25, 26, 28, 29]) await saveStaying(store, `${days}`, days)
    expect(await reasonsOf(store, { thresholds: { new: 28.5 } })).toEqual({
      26: { kind: 'stalling', stageDays: 26, limitDays: 28.5, isOfWinners: true },
      28: { kind: 'stalling', stageDays: 28, limitDays: 28.5, isOfWinners: true },
    })
  })

  it('is measured by the days of the settings where winners tell nothing', async () => {
    await using store = await openEmptyStore()
    for (const days of [9, 12, 20]) await saveStaying(store, `${days}`, days)
    // A lead of another pipeline must not make each lead appear twice.
    await saveStaying(store, 'elsewhere', 1, { pipelineId: 'p2' })
    expect(await reasonsOf(store, { thresholds: { new: null } })).toEqual({
      12: { kind: 'stalling', stageDays: 12, limitDays: 14, isOfWinners: false },
    })
  })

  it('is also past a short threshold, until it is listed as stalled', async () => {
    await using store = await openEmptyStore()
    for (const days of [0.5, 2, 13.9, 14.1])
      await saveStaying(store, `${days}`, days, { status: 'contacted' })
    const reasons = await reasonsOf(store, { thresholds: { contacted: 1 } })
    expect(Object.keys(reasons).toSorted()).toEqual(['13.9', '2'])
    const stalled = await inReadTransaction(store.db, async (trx) => readStalled(trx, SCOPE, 10))
    expect(stalled.rows.map(({ id }) => id)).toEqual(['14.1'])
  })
})

describe('a lead that came back', () => {
  /** The statuses of each lead, and for how many days up to the end of the report it has been in them. */
  const MOVES = {
    lost: 'contacted 39, lost 20.5, contacted 2',
    unfit: 'contacted 39, disqualified 9, new 6.9',
    twice: 'lost 30, new 6, lost 5, new 1',
    'long ago': 'contacted 39, lost 20, contacted 7.1',
    'lost again': 'contacted 39, lost 20, contacted 3, lost 1',
    'won once': 'won 39, contacted 3',
    later: 'lost 20, contacted -0.1',
  }

  it('is open again after it was lost or disqualified', async () => {
    await using store = await openEmptyStore()
    for (const [id, moves] of Object.entries(MOVES)) {
      for (const [status, days] of moves.split(', ').map((move) => move.split(' ')))
        await saveStaying(store, id, Number(days), { status: status ?? '' })
    }
    const expected = {
      lost: { kind: 'returned', at: ago(2), days: 18 },
      unfit: { kind: 'returned', at: ago(6.9), days: 2 },
      twice: { kind: 'returned', at: ago(1), days: 4 },
    }
    expect(await reasonsOf(store)).toEqual(expected)
    const month = { scope: { from: ago(30) } }
    expect(Object.keys(await reasonsOf(store, month)).toSorted()).toEqual(
      ['long ago', ...Object.keys(expected)].toSorted(),
    )
  })
})

describe('a lead with a high score', () => {
  it('is due while it is new, open and in the first stage', async () => {
    await using store = await openEmptyStore()
    const created = (days: number, change: Partial<Lead> = {}) => ({
      createdAt: ago(days),
      score: 80,
      ...change,
    })
    await saveStaying(store, 'new', 3, created(3))
    await saveStaying(store, 'low', 3, created(3, { score: 79 }))
    await saveStaying(store, 'unscored', 3, created(3, { score: null }))
    await saveStaying(store, 'old', 3, created(14.1))
    await saveStaying(store, 'later', -0.1, created(-0.1))
    await saveStaying(store, 'contacted', 3, created(3, { status: 'contacted' }))
    await saveStaying(store, 'back', 4, created(5, { status: 'contacted' }))
    await saveStaying(store, 'back', 3, created(5))
    expect(await reasonsOf(store)).toEqual({ new: { kind: 'uncontacted', score: 80, since: ago(3) } })
  })

  it.each([
    [
      ['discovered', 'enriched', 'Contacted', 'meeting'],
      ['discovered', 'enriched'],
    ],
    [
      ['neu', 'geprüft', 'kontaktiert'],
      ['neu', 'geprüft'],
    ],
    [['contact form', 'demo', 'offer'], ['contact form']],
    [['mql', 'sql', 'demo'], ['mql']],
  ])('in the stages %j is not contacted in %j', async (funnel, uncontacted) => {
    await using store = await openEmptyStore()
    const open = funnel.map((status, position) => ({ ...STAGES[0], status, position }))
    await store.write((trx) => saveStages(trx, [...open, { ...STAGES[2], position: 9 }]))
    for (const status of funnel) await saveStaying(store, status, 2, { createdAt: ago(2), score: 99, status })
    expect(Object.keys(await reasonsOf(store)).toSorted()).toEqual(uncontacted.toSorted())
  })
})

describe('the list of today', () => {
  const passed = { expectedCloseAt: ago(3) }
  const worth = (valueAmount: number, valueCurrency = 'EUR') => ({ valueAmount, valueCurrency })

  it('has each lead once, with its first reason', async () => {
    await using store = await openEmptyStore()
    const high = { createdAt: ago(12), score: 90 }
    await saveStaying(store, 'all', 12.5, { ...high, status: 'lost' })
    await saveStaying(store, 'all', 12, { ...high, ...passed })
    await saveStaying(store, 'stalling', 12.5, { ...high, status: 'lost' })
    await saveStaying(store, 'stalling', 12, high)
    await saveStaying(store, 'returned', 6.5, { ...high, status: 'lost' })
    await saveStaying(store, 'returned', 6, high)
    await saveStaying(store, 'uncontacted', 5, high)
    const reasons = await reasonsOf(store, { scope: { from: ago(30) } })
    expect(Object.entries(reasons).map(([id, why]) => [id, (why as { kind: string }).kind])).toEqual([
      ['all', 'overdue'],
      ['stalling', 'stalling'],
      ['returned', 'returned'],
      ['uncontacted', 'uncontacted'],
    ])
  })

  it('has the most valuable first, each currency by itself, and says what all are', async () => {
    await using store = await openEmptyStore()
    const ana = { ...passed, owner: 'Ana' }
    await saveStaying(store, 'small', 1, { ...ana, ...worth(10.1) })
    await saveStaying(store, 'large', 1, { ...ana, ...worth(500.2) })
    await saveStaying(store, 'dollars', 1, { ...passed, ...worth(900, 'AUD') })
    await saveStaying(store, 'nothing', 1, { ...passed, owner: 'Tom' })
    await saveStaying(store, 'unnamed', 1, {
      ...passed,
      owner: 'Tom',
      valueAmount: null,
      valueCurrency: 'EUR',
    })
    await saveStaying(store, 'fine', 1, { owner: 'Tom', ...worth(7) })
    const { rows, ...all } = await today(store)
    expect(rows.map(({ lead: { id } }) => id)).toEqual(['large', 'small', 'dollars', 'nothing', 'unnamed'])
    expect(rows[0]?.lead).toMatchObject({
      companyName: 'Company large',
      owner: 'Ana',
      expectedCloseAt: passed.expectedCloseAt,
      value: { amount: 500.2, currency: 'EUR' },
    })
    expect(all).toEqual({
      total: 5,
      value: [
        { amount: 510.3, currency: 'EUR' },
        { amount: 900, currency: 'AUD' },
      ],
      byOwner: [
        { owner: 'Ana', leads: 2 },
        { owner: 'Tom', leads: 2 },
        { owner: null, leads: 1 },
      ],
    })
    expect(await today(store, { rowsMax: 1 })).toMatchObject({ ...all, rows: [{ lead: { id: 'large' } }] })
  })

  it.each<[LeadFilter, string[]]>([
    [
      { pipelineIds: null, conditions: [{ field: 'owner', in: ['Ana'] }] },
      ['back ana', 'due ana', 'hot ana'],
    ],
    [{ pipelineIds: ['p2'], conditions: [{ field: 'owner', in: ['Ana', 'Tom'] }] }, ['stays tom']],
    [{ pipelineIds: ['p2'], conditions: [] }, ['stays tom']],
    [{ pipelineIds: null, conditions: [{ field: 'owner', in: ['ana'] }] }, []],
  ])('of a filter %j is %j', async (filter, ids) => {
    await using store = await openEmptyStore()
    for (const owner of ['Ana', 'Tom', null]) {
      const name = `${owner}`.toLowerCase()
      const pipelineId = owner === 'Tom' ? 'p2' : 'p1'
      if (owner !== 'Tom') {
        await saveStaying(store, `due ${name}`, 1, { ...passed, owner, pipelineId })
        await saveStaying(store, `hot ${name}`, 1, { createdAt: ago(1), score: 99, owner, pipelineId })
        await saveStaying(store, `back ${name}`, 5, { status: 'lost', owner, pipelineId })
        await saveStaying(store, `back ${name}`, 4, { status: 'contacted', owner, pipelineId })
      } else await saveStaying(store, `stays ${name}`, 12, { owner, pipelineId })
    }
    const { total, rows, byOwner } = await today(store, { scope: { filter } })
    expect(rows.map(({ lead: { id } }) => id).toSorted()).toEqual(ids)
    expect(total).toBe(ids.length)
    expect(byOwner.reduce((sum, { leads }) => sum + leads, 0)).toBe(ids.length)
  })
})
