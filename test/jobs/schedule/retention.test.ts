// @both-stores
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { prune, type Retention } from '../../../src/jobs/schedule/retention.ts'
import type { Db, Store } from '../../../src/store/db/store.ts'
import { savePipelineStat } from '../../../src/store/sync/samples.ts'
import { random } from '../../support/random.ts'
import { lead, openEmptyStore, save, stat } from '../../support/store.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const KEEP: Retention = { dailyAfterDays: 30 }
const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS

function run(store: Store, retention: Retention = KEEP, now = NOW) {
  return prune(store, retention, { now: () => now, signal: new AbortController().signal })
}

/** Inserts samples of one agent. `at` has the minutes of the day. The status is running unless given. */
async function insertReadings(
  store: Store,
  readings: readonly (readonly [at: string, status: string])[],
  id = 'a1',
): Promise<void> {
  await store.write(async (trx) => {
    await sql`INSERT INTO agent (id, name, status, observed_at, raw) VALUES (${id}, ${id}, 'running', '2026', '{}')
      ON CONFLICT DO NOTHING`.execute(trx)
    await sql`INSERT INTO agent_sample (agent_id, observed_at, run_id, status)
      SELECT ${id}, value ->> 0, 'r', value ->> 1 FROM json_each(${JSON.stringify(readings)})`.execute(trx)
  })
}

async function instants(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('agent_sample').select('observed_at').orderBy('observed_at').execute()
  return rows.map((row) => row.observed_at)
}

async function outages(db: Db): Promise<unknown[]> {
  const { rows } =
    await sql`SELECT agent_id, began_at, ended_at, hours FROM agent_outage ORDER BY 1, 2`.execute(db)
  return rows
}

function every(minutes: number, from: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) =>
    new Date(Date.parse(from) + n * minutes * MINUTE_MS).toISOString(),
  )
}

describe('old readings', () => {
  test('leave the first of each day, and the young stay', async () => {
    await using store = await openEmptyStore()
    const young = every(15, '2026-10-22T00:00:00Z', 8)
    const days = every(15, '2026-10-20T23:00:00Z', 16)
    await insertReadings(
      store,
      [...days, ...young].map((at) => [at, 'running']),
    )
    const result = await run(store)
    expect(await instants(store.db)).toEqual([days[0], days[4], ...young])
    expect(result).toEqual([
      { table: 'pipeline_stat', before: '2026-10-22T00:00:00.000Z', deleted: 0 },
      { table: 'agent_sample', before: '2026-10-22T00:00:00.000Z', deleted: 14 },
      { table: 'event', before: '2026-11-14T00:00:00.000Z', deleted: 0 },
    ])
    const marks = store.db.selectFrom('pruned').where('rows', '>', 0).select(['table_name', 'before', 'rows'])
    const before = '2026-10-22T00:00:00.000Z'
    expect(await marks.execute()).toEqual([{ table_name: 'agent_sample', before, rows: 14 }])
  })

  test('keep each outage as long as it was, in one go and in many, and a second time changes nothing', async () => {
    const chance = random(11)
    const readings = every(20, '2026-08-01T00:00:00Z', 2_500).map(
      (at) => [at, chance() < 0.05 ? 'failing' : 'running'] as const,
    )
    await using atOnce = await openEmptyStore()
    await using daily = await openEmptyStore()
    for (const store of [atOnce, daily])
      for (const id of ['a1', 'a2']) await insertReadings(store, readings, id)
    const before = await outages(atOnce.db)
    expect(before.length).toBeGreaterThan(100)
    await run(atOnce)
    for (let days = 120; days >= 0; days -= 7) await run(daily, KEEP, new Date(NOW.getTime() - days * DAY_MS))
    await run(daily)
    for (const { db } of [atOnce, daily]) expect(await outages(db)).toEqual(before)
    expect(await instants(daily.db)).toEqual(await instants(atOnce.db))
    expect((await instants(daily.db)).length).toBeLessThan(2_500)
    expect((await run(daily)).map(({ deleted }) => deleted)).toEqual([0, 0, 0])
  })

  test('leave the last one of a pipeline, and take the stages of the others along', async () => {
    await using store = await openEmptyStore()
    await save(store, [lead('l1', { pipelineId: 'p1' })])
    for (const at of every(20, '2026-01-01T00:00:00Z', 5))
      await store.write((trx) =>
        savePipelineStat(trx, stat('p1', at, { new: 3, won: 1 }), { runId: 'r', at }),
      )
    await run(store)
    const count = async (table: 'pipeline_stat' | 'pipeline_stage_stat') =>
      (
        await store.db.selectFrom(table).select('observed_at').distinct().orderBy('observed_at').execute()
      ).map((row) => row.observed_at)
    const stay = ['2026-01-01T00:00:00.000Z', '2026-01-01T01:20:00.000Z']
    expect(await count('pipeline_stat')).toEqual(stay)
    expect(await count('pipeline_stage_stat')).toEqual(stay)
  })
})

test('events that are done with go after a week, so that no sender can repeat them before; what waits stays', async () => {
  await using store = await openEmptyStore()
  const came = (id: string, received_at: string, done_at: string | null) =>
    sql`INSERT INTO event (id, received_at, resource, resource_id, done_at, outcome)
      VALUES (${id}, ${received_at}, 'lead', 'l1', ${done_at}, ${done_at && 'updated'})`.execute(store.db)
  await came('old', '2026-11-13T23:59:59.999Z', '2026-11-14T00:00:01.000Z')
  await came('waits', '2026-11-01T00:00:00.000Z', null)
  await came('young', '2026-11-14T00:00:00.000Z', '2026-11-14T00:00:01.000Z')
  const events = { table: 'event', before: '2026-11-14T00:00:00.000Z', deleted: 1 }
  expect((await run(store))[2]).toEqual(events)
  const left = await store.db.selectFrom('event').select('id').orderBy('id').execute()
  expect(left.map(({ id }) => id)).toEqual(['waits', 'young'])
})
