// @both-stores
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { storeDerivedVersions } from '../../../src/store/leads/lead-version.ts'
import { createSeenLeads } from '../../../src/store/sync/scan-memory.ts'
import { recordMissing } from '../../../src/store/sync/soft-delete.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { IN_POSTGRES, lead, observedAt, openEmptyStore, save } from '../../support/store.ts'

const T = ['2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z', '2026-11-03T00:00:00.000Z'] as const
const SEEN = '2026-11-21T06:00:00.000Z'

/** Returns the status, start and end of each version of each lead, in order. */
async function versionsOf(store: Store): Promise<unknown[]> {
  const rows = await store.db
    .selectFrom('lead_version')
    .selectAll()
    .orderBy('lead_id')
    .orderBy('valid_from')
    .execute()
  return rows.map((row) => [row.status, row.score, row.valid_from, row.valid_to])
}

async function deletionsOf(store: Store): Promise<unknown[]> {
  const rows = await store.db.selectFrom('lead_deletion').selectAll().orderBy('deleted_since').execute()
  return rows.map((row) => [row.deleted_since, row.returned_at])
}

/** Marks all present leads as gone, by a second full scan without them. */
async function removeAll(store: Store, at: string): Promise<void> {
  for (let scan = 0; scan < 2; scan++) {
    await store.write((trx) => recordMissing(trx, createSeenLeads(), { ...observedAt(at), startedAt: at }))
  }
}

describe('the versions of a lead', () => {
  it('do not grow by a change of another field, nor by the same record again', async () => {
    await using store = await openEmptyStore()
    await save(store, [lead('1')])
    await save(store, [lead('1', { companyName: 'Renamed', updatedAt: T[1] })])
    await save(store, [lead('1', { companyName: 'Renamed', updatedAt: T[1] })])
    expect(await versionsOf(store)).toEqual([['new', null, T[0], null]])
    const row = await store.db.selectFrom('lead').selectAll().executeTakeFirstOrThrow()
    expect([row.company_name, row.updated_at]).toEqual(['Renamed', T[1]])
  })

  it('never end before they began, nor overlap, though our clock is behind the upstream’s and steps back', async () => {
    await using store = await openEmptyStore()
    await save(store, [lead('1', { updatedAt: T[2], statusChangedAt: T[2] })], T[1])
    await removeAll(store, T[1])
    await save(store, [lead('1', { updatedAt: T[2], statusChangedAt: T[2] })], T[0])
    await removeAll(store, '2026-11-10T00:00:00.000Z')
    await save(store, [lead('1', { updatedAt: T[2], statusChangedAt: T[2] })], T[1])
    const { rows } = await sql`
      SELECT * FROM (SELECT *, lead(valid_from) OVER (ORDER BY valid_from) AS next FROM lead_version) AS version
      WHERE valid_to < valid_from OR valid_to > next`.execute(store.db)
    expect(rows).toEqual([])
    expect(await versionsOf(store)).toHaveLength(2)
    expect(await deletionsOf(store)).toEqual([
      [T[1], '2026-11-02T00:00:00.001Z'],
      ['2026-11-10T00:00:00.000Z', '2026-11-10T00:00:00.001Z'],
    ])
  })

  it('do not pile up by records that change while their time stays, nor by those that have none', async () => {
    await using store = await openEmptyStore()
    for (let visits = 0; visits < 5; visits++) {
      await save(store, [lead('1', { tags: [`seen ${visits} times`] })])
      await save(store, [
        lead('2', { tags: [`seen ${visits} times`], updatedAt: null, statusChangedAt: null }),
      ])
    }
    const minorUpdates = await store.db.selectFrom('lead_minor_update').selectAll().execute()
    expect([await versionsOf(store), minorUpdates]).toEqual([
      [
        ['new', null, T[0], null],
        ['new', null, SEEN, null],
      ],
      [],
    ])
  })

  it('grow by what changes without a time, from when it was read', async () => {
    await using store = await openEmptyStore()
    const undated = { updatedAt: null, statusChangedAt: null }
    await save(store, [lead('1', undated)], T[0])
    await save(store, [lead('1', { ...undated, score: 50 })], T[1])
    await save(store, [lead('1', { ...undated, score: 50, companyName: 'Renamed' })], T[2])
    await save(store, [lead('1', { ...undated, status: 'won', score: 50 })], SEEN)
    expect(await versionsOf(store)).toEqual([
      ['new', null, T[0], T[1]],
      ['new', 50, T[1], SEEN],
      ['won', 50, SEEN, null],
    ])
  })

  it('keep the last 16 updates that changed nothing tracked', async () => {
    await using store = await openEmptyStore()
    for (let update = 0; update < 40; update++) {
      await save(store, [lead('1', { updatedAt: new Date(Date.parse(T[1]) + update).toISOString() })])
    }
    const minorUpdates = await store.db
      .selectFrom('lead_minor_update')
      .select('changed_at')
      .orderBy('changed_at')
      .execute()
    expect([minorUpdates.length, minorUpdates[0], minorUpdates.at(-1)]).toEqual([
      16,
      { changed_at: '2026-11-02T00:00:00.024Z' },
      { changed_at: '2026-11-02T00:00:00.039Z' },
    ])
    expect(await versionsOf(store)).toEqual([['new', null, T[0], null]])
  })

  it('go on as they were when a removed lead comes back as an older record', async () => {
    await using store = await openEmptyStore()
    const gone = '2026-11-10T00:00:00.000Z'
    await save(store, [lead('1', { status: 'won', updatedAt: T[2], statusChangedAt: T[2] })])
    await removeAll(store, gone)
    await save(store, [lead('1', { status: 'contacted', updatedAt: T[1], statusChangedAt: T[1] })], SEEN)
    expect(await versionsOf(store)).toEqual([
      ['contacted', null, T[1], T[2]],
      ['won', null, T[2], gone],
      ['won', null, SEEN, null],
    ])
    const row = await store.db
      .selectFrom('lead')
      .select(['status', 'updated_at', 'deleted_at'])
      .executeTakeFirst()
    expect(row).toEqual({ status: 'won', updated_at: T[2], deleted_at: null })
    expect(await deletionsOf(store)).toEqual([[gone, SEEN]])
  })
})

describe('the version of a lead that has not changed', () => {
  it('is the same derived and stored, whatever the upstream dates', async () => {
    await using store = await openEmptyStore()
    const dates = [null, ...T]
    const leads = dates.flatMap((updatedAt, row) =>
      dates.map((statusChangedAt, column) =>
        lead(`${row}${column}`, { updatedAt, statusChangedAt, score: column === 0 ? null : 0.5 }),
      ),
    )
    await save(store, leads, SEEN)
    const read = () =>
      store.db.selectFrom('lead_version').selectAll().orderBy('lead_id').orderBy('valid_from').execute()
    const derived = await read()
    // A state that the lead's row does not hold exactly is stored at once.
    const stored = await store.db.selectFrom('lead_history').select('lead_id').orderBy('lead_id').execute()
    expect(stored.map((row) => row.lead_id)).toEqual(['12', '13', '23'])
    await store.write((trx) =>
      storeDerivedVersions(
        trx,
        leads.map(({ id }) => id),
      ),
    )
    expect(await store.db.selectFrom('lead_history').selectAll().execute()).toHaveLength(leads.length)
    expect(await read()).toEqual(derived)
    expect(derived).toHaveLength(leads.length)
  })

  it('is found by an index, by its lead and by its beginning', async () => {
    await using store = await openEmptyStore()
    const ofLead = await explainPlan(store, `SELECT * FROM lead_version WHERE lead_id = '1'`)
    expect(ofLead).toMatch(IN_POSTGRES ? /lead_history_pkey/ : /SEARCH lead_history USING PRIMARY KEY/)
    expect(ofLead).toContain('lead_by_id')
    const since = await explainPlan(store, `SELECT * FROM lead_version WHERE valid_from >= '2026-11-20'`)
    expect(since).toContain('lead_history_by_start')
    expect(since).toContain('lead_by_state')
  })
})

describe('a lead', () => {
  it('whose record somebody has deleted can be changed', async () => {
    await using store = await openEmptyStore()
    await save(store, [lead('1')])
    await store.write((trx) => trx.deleteFrom('lead_raw').execute())
    await save(store, [lead('1', { score: 99, updatedAt: '2030-01-01T00:00:00.000Z' })])
    expect(await store.db.selectFrom('lead').select('score').execute()).toEqual([{ score: 99 }])
    expect(await store.db.selectFrom('lead_raw').selectAll().execute()).toHaveLength(1)
  })

  it('keeps what it was given to the message: unusual text, large and broken numbers', async () => {
    await using store = await openEmptyStore()
    const odd = lead('9007199254740993', {
      companyName: '深圳 "x" \\ \u{1F680}\n\t',
      valueAmount: 0.1,
      companyEmployees: 9_007_199_254_740_991,
      tags: ['a,b', '"'],
    })
    await save(store, [odd])
    const row = await store.db
      .selectFrom('lead')
      .innerJoin('lead_raw', 'lead_raw.lead_no', 'lead.no')
      .selectAll()
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      id: odd.id,
      company_name: odd.companyName,
      value_amount: 0.1,
      company_employees: 9_007_199_254_740_991,
      tags: '["a,b","\\""]',
      raw: odd.raw,
    })
  })
})
