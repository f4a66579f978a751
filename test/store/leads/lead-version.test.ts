// @both-stores
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import { storeDerivedVersions } from '../../../src/store/leads/lead-version.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { deleteLeads, IN_POSTGRES, lead, openEmptyStore, save } from '../../support/store.ts'

const T = ['2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z', '2026-11-03T00:00:00.000Z'] as const
const GONE = '2026-11-10T00:00:00.000Z'
const SEEN = '2026-11-21T06:00:00.000Z'
const UNDATED = { updatedAt: null, statusChangedAt: null }
const LATE = { updatedAt: T[2], statusChangedAt: T[2] }
const repeat = <R>(times: number, reading: (time: number) => R): R[] =>
  Array.from({ length: times }, (_, time) => reading(time))

/** How a lead was read one time after another, and when it was found gone, by what its versions show. */
const READINGS: Readonly<Record<string, readonly (readonly [string, Partial<Lead> | 'gone'])[]>> = {
  'a change of another field makes none, nor does the same record again': [
    [SEEN, {}],
    ...repeat(2, () => [SEEN, { companyName: 'Renamed', updatedAt: T[1] }] as const),
  ],
  'none ends before it began, nor do they overlap, though our clock is behind the upstream’s and steps back':
    [
      [T[1], LATE],
      [T[1], 'gone'],
      [T[0], LATE],
      [GONE, 'gone'],
      [T[1], LATE],
    ],
  'records that change while their time stays make none': repeat(5, (time) => [
    SEEN,
    { tags: [`seen ${time} times`] },
  ]),
  'nor do those without a time': repeat(5, (time) => [SEEN, { tags: [`seen ${time} times`], ...UNDATED }]),
  'what changes without a time makes one from when it was read': [
    [T[0], UNDATED],
    [T[1], { ...UNDATED, score: 50 }],
    [T[2], { ...UNDATED, score: 50, companyName: 'Renamed' }],
    [SEEN, { ...UNDATED, status: 'won', score: 50 }],
  ],
  'the last 16 updates that changed nothing tracked are kept': repeat(40, (time) => [
    SEEN,
    { updatedAt: new Date(Date.parse(T[1]) + time).toISOString() },
  ]),
  'they go on as they were when a removed lead comes back as an older record': [
    [SEEN, { status: 'won', ...LATE }],
    [GONE, 'gone'],
    [SEEN, { status: 'contacted', updatedAt: T[1], statusChangedAt: T[1] }],
  ],
}

it('the versions of a lead follow from how it was read', async () => {
  await using store = await openEmptyStore()
  const told: string[] = []
  for (const [id, readings] of Object.entries(READINGS)) {
    for (const [at, reading] of readings) {
      if (reading === 'gone') await deleteLeads(store, [id], at)
      else await save(store, [lead(id, reading)], at)
    }
    const { db } = store
    const row = await db.selectFrom('lead').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    told.push(id, `  ${row.status}, ${row.company_name}, of ${row.updated_at}, deleted ${row.deleted_at}`)
    const versions = db.selectFrom('lead_version').selectAll().where('lead_id', '=', id)
    for (const version of await versions.orderBy('valid_from').execute())
      told.push(`  ${version.status} ${version.score} from ${version.valid_from} to ${version.valid_to}`)
    const deletions = db.selectFrom('lead_deletion').selectAll().where('lead_id', '=', id)
    for (const { deleted_since, returned_at } of await deletions.orderBy('deleted_since').execute())
      told.push(`  gone from ${deleted_since} to ${returned_at}`)
    const updates = db.selectFrom('lead_minor_update').selectAll().where('lead_id', '=', id)
    for (const { changed_at } of await updates.orderBy('changed_at').execute())
      told.push(`  updated at ${changed_at}`)
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/versions-read.txt')
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
    const ids = leads.map(({ id }) => id)
    await store.write((trx) => storeDerivedVersions(trx, ids))
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
