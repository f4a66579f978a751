// @both-stores
/** The meaning of each figure, shown by small pasts. The shown SQL gives every program the same numbers. */

import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import { dayBefore } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { FIGURES, type FigureName } from '../../../src/store/figures/definition.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { explainFigure, type FigureScope, readFigure } from '../../../src/store/figures/query.ts'
import { readCoverages } from '../../../src/store/figures/report-figures.ts'
import { askSqlProgram, hasSqlProgram } from '../../support/data/sql-program.ts'
import { openSyncedStore } from '../../support/data/synced-store.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

/** A week in UTC. */
const WEEK: FigureScope = {
  from: '2026-11-14T00:00:00.000Z',
  to: '2026-11-21T00:00:00.000Z',
  filter: EVERY_LEAD,
  stalledDays: 7,
}

/** Returns noon of a day in November. */
const noon = (day: number): string => `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`

/** Returns a lead that was created on the 1st, with its states from day to day. */
function past(
  id: string,
  statuses: Readonly<Record<number, string>>,
  change: Parameters<typeof lead>[1] = {},
): Lead[] {
  return Object.entries(statuses).map(([day, status]) =>
    lead(id, { status, updatedAt: noon(Number(day)), statusChangedAt: noon(Number(day)), ...change }),
  )
}

async function storeOf(states: readonly Lead[]): Promise<Store> {
  const store = await openEmptyStore()
  for (const state of states) await save(store, [state], state.updatedAt ?? undefined)
  return store
}

async function figure(name: FigureName, states: readonly Lead[], scope: Partial<FigureScope> = {}) {
  await using store = await storeOf(states)
  return await readFigure(store.db, name, { ...WEEK, ...scope })
}

/** Saves entries of a lead's activity without a status. */
async function saveActivity(store: Store, id: string, at: readonly string[]): Promise<void> {
  const rows = at.map((each) => ({ ...ENTRY, lead_id: id, id: each, at: each }))
  if (rows.length > 0) await store.write((trx) => trx.insertInto('activity').values(rows).execute())
}

const ENTRY = {
  type: null,
  agent_id: null,
  summary: null,
  from_status: null,
  to_status: null,
  first_seen_at: noon(24),
  run_id: 'run',
}

const one = (value: number | null) => [{ of: null, value, part: null, whole: null }]
const share = (part: number, whole: number) => [
  { of: null, value: whole === 0 ? null : part / whole, part, whole },
]

describe('qualified', () => {
  it('counts a lead when it first comes into a qualified stage, and never again', async () => {
    const states = [
      ...past('now', { 2: 'new', 15: 'contacted' }),
      ...past('before', { 2: 'new', 10: 'contacted', 12: 'new', 16: 'contacted' }),
      ...past('passed', { 2: 'new', 15: 'contacted', 16: 'lost' }),
      ...past('later', { 2: 'new', 21: 'contacted' }),
      ...past('jumped', { 2: 'new', 17: 'won' }),
      ...past('lost', { 2: 'new', 17: 'lost' }),
    ]
    expect(await figure('qualified', states)).toEqual(one(3))
  })

  it('does not take a lead for qualified on the day from which on it is known', async () => {
    const known = [
      ...past('first known as won', { 17: 'won' }),
      ...past('as new', { 17: 'won' }, { createdAt: noon(16) }),
    ]
    expect(await figure('qualified', known)).toEqual(one(1))
  })

  it('is empty where no stage is marked', async () => {
    await using store = await storeOf(past('1', { 2: 'new', 15: 'contacted' }))
    await store.write((trx) => trx.updateTable('stage').set({ is_qualified: 0 }).execute())
    expect(await readFigure(store.db, 'qualified', WEEK)).toEqual(one(null))
  })
})

describe('closed leads', () => {
  const states = [
    ...past('won', { 2: 'new', 15: 'won' }),
    ...past('reopened in the period', { 2: 'new', 15: 'won', 16: 'contacted' }),
    ...past('reopened after it', { 2: 'new', 15: 'won', 22: 'contacted' }),
    ...past('won before and again', { 2: 'won', 15: 'contacted', 18: 'won' }),
    ...past('lost', { 2: 'new', 15: 'lost' }),
    ...past('disqualified', { 2: 'new', 15: 'disqualified' }),
  ]

  it('count for the period in which they were closed, if they still are at its end', async () => {
    expect(await figure('won', states)).toEqual(one(3))
    expect(await figure('lost', states)).toEqual(one(1))
    expect(await figure('disqualified', states)).toEqual(one(1))
  })

  it('have the value that they had at the end of the period', async () => {
    const valued = past('1', { 2: 'new', 15: 'won' }, { valueAmount: 10, valueCurrency: 'EUR' })
    const raised = lead('1', { ...valued[1], valueAmount: 99, updatedAt: noon(23) })
    const [row] = await figure('won_value', [...valued, raised])
    expect(row).toMatchObject({ of: 'EUR', value: 10 })
  })
})

describe('conversion', () => {
  const states = [
    ...past('old', { 2: 'new', 15: 'won' }),
    ...past('quick', { 15: 'new', 16: 'won' }, { createdAt: noon(15) }),
    ...past('slow', { 15: 'new', 22: 'won' }, { createdAt: noon(15) }),
  ]

  it('by period sets leads won in it beside leads created in it, by cohort those of the leads created in it', async () => {
    expect(await figure('period_conversion', states)).toEqual(share(2, 2))
    expect(await figure('cohort_conversion', states)).toEqual(share(1, 2))
  })

  it('is empty without a new lead', async () => {
    expect(await figure('period_conversion', past('old', { 2: 'new', 15: 'won' }))).toEqual(share(1, 0))
    expect(await figure('cohort_conversion', [])).toEqual(share(0, 0))
  })
})

describe('the time in a stage', () => {
  it('is the median of the stays that ended in the period, in the order of the stages', async () => {
    const states = [
      ...past('1', { 2: 'new', 15: 'contacted', 17: 'lost' }),
      ...past('2', { 4: 'new', 16: 'contacted' }),
      ...past('3', { 6: 'new', 22: 'contacted' }),
    ]
    const rows = await figure('time_in_stage', states)
    expect(rows.map(({ of, value }) => [of, value])).toEqual([
      ['new', 12.5],
      ['contacted', 2],
    ])
  })
})

describe('the velocity', () => {
  const valued = { valueAmount: 100, valueCurrency: 'EUR' }

  it('is open leads times win rate times mean value won, by the median days to winning', async () => {
    const created = { ...valued, createdAt: noon(5) }
    const states = [
      ...past('open 1', { 5: 'new' }, created),
      ...past('open 2', { 5: 'new' }, created),
      ...past('won', { 5: 'new', 15: 'won' }, created),
      ...past('lost', { 5: 'new', 15: 'lost' }, created),
    ]
    // 2 open x 1/2 x 100 EUR / 10 days
    expect(await figure('velocity', states)).toEqual([{ of: 'EUR', value: 10, part: null, whole: null }])
  })

  it('is empty where nothing was won', async () => {
    expect(await figure('velocity', past('open', { 5: 'new' }, valued))).toEqual([])
  })
})

describe('stalled leads of a past day', () => {
  const states = past('1', { 2: 'new', 22: 'contacted' })

  async function stalled(activity: readonly string[], scope: Partial<FigureScope> = {}) {
    await using store = await storeOf(states)
    await saveActivity(store, '1', activity)
    const asked = { ...WEEK, ...scope }
    const [row] = await readFigure(store.db, 'stalled', asked)
    const [coverages] = await readCoverages(store.db, [asked])
    return [row?.value, coverages?.get('stalled')]
  }

  it('are those that stood still then, though they have moved since', async () => {
    const later = { from: noon(22), to: noon(24) }
    expect(await stalled([])).toEqual([1, { known: 1, of: 1 }])
    expect(await stalled([], later)).toEqual([0, { known: 1, of: 1 }])
  })

  it('are none that had an activity in the days before', async () => {
    expect(await stalled([noon(2), noon(22)])).toEqual([1, { known: 1, of: 1 }])
    expect(await stalled([noon(2), noon(19), noon(22)])).toEqual([0, { known: 1, of: 1 }])
  })

  it('are none that were first read after a later change', async () => {
    await using store = await storeOf([])
    await save(
      store,
      [lead('1', { createdAt: noon(1), updatedAt: noon(24), statusChangedAt: noon(2) })],
      noon(25),
    )
    const [row] = await readFigure(store.db, 'stalled', WEEK)
    const [coverages] = await readCoverages(store.db, [WEEK])
    expect([row?.value, coverages?.get('stalled')]).toEqual([0, { known: 0, of: 1 }])
  })
})

describe('the history of leads', () => {
  it('is known of a lead for a period from which on each of its statuses is', async () => {
    await using store = await openEmptyStore()
    const old = { createdAt: noon(1) }
    await save(store, [
      lead('still', { ...old, updatedAt: noon(2), statusChangedAt: old.createdAt }),
      lead('moved before', { ...old, status: 'contacted', updatedAt: noon(16), statusChangedAt: noon(10) }),
      lead('moved in it', { ...old, status: 'contacted', updatedAt: noon(16), statusChangedAt: noon(16) }),
      lead('won after it', { ...old, status: 'won', updatedAt: noon(22), statusChangedAt: noon(22) }),
      lead('as new', { createdAt: noon(15), status: 'won', updatedAt: noon(16), statusChangedAt: noon(16) }),
      lead('read since', { ...old, status: 'new', updatedAt: noon(2), statusChangedAt: noon(2) }),
    ])
    await save(store, [
      lead('read since', { ...old, status: 'won', updatedAt: noon(17), statusChangedAt: noon(17) }),
    ])
    const [coverages] = await readCoverages(store.db, [WEEK])
    const names = [
      'qualified',
      'cohort_conversion',
      'velocity',
      'won',
      'lost',
      'win_rate',
      'open',
      'open_value',
    ] as const
    expect(names.map((name) => coverages?.get(name))).toEqual([
      { known: 3, of: 6 },
      { known: 1, of: 1 },
      ...Array(5).fill({ known: 5, of: 6 }),
      // For the lead "won after it", it is unknown that it was open, and what it was worth.
      { known: 3, of: 4 },
    ])
  })
})

describe('the SQL that is shown', () => {
  it(`gives every program the figure${hasSqlProgram ? '' : ' (it is not installed)'}`, async () => {
    const now = new Date('2026-11-21T06:00:00Z')
    await using store = await openSyncedStore(20)
    const { db } = store
    const period = dayBefore(now, 'Europe/Berlin')
    const pipelines = (await db.selectFrom('pipeline').select('id').execute()).map(({ id }) => id)
    const whole = { ...WEEK, from: period.from, to: period.to }
    const scopes = [whole, { ...whole, filter: { ...EVERY_LEAD, pipelineIds: pipelines.slice(0, 2) } }]
    for (const scope of scopes) {
      for (const { name } of FIGURES) {
        const shown = explainFigure(name, scope)
        const expected = await readFigure(db, name, scope)
        const { rows: plain } = await db.executeQuery(CompiledQuery.raw(shown))
        expect(plain, name).toEqual(expected.map((row) => expect.objectContaining({ value: row.value })))
        if (hasSqlProgram) expect(askSqlProgram(store, shown), name).toEqual(plain)
      }
    }
  })

  it('has values quoted that would end a text', async () => {
    await using store = await storeOf([])
    const shown = explainFigure('new_leads', {
      ...WEEK,
      filter: { ...EVERY_LEAD, pipelineIds: ["p'); DROP TABLE lead; --"] },
    })
    const { rows } = await store.db.executeQuery(CompiledQuery.raw(shown))
    expect(rows).toEqual([{ value: 0 }])
    expect(await store.db.selectFrom('lead').select('id').execute()).toEqual([])
  })
})
