// @both-stores
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { markDeleted } from '../../../src/store/sync/soft-delete.ts'
import { IN_POSTGRES, observedAt } from '../../support/store.ts'
import { openWorld, type Syncing } from '../../support/syncing.ts'
import { body, status } from '../../support/upstream.ts'

const LEADS = { parts: ['leads'] as const }

/** Returns the stored records of leads, in the order of their ids. */
function recordsOf({ store }: Syncing) {
  const leads = store.db.selectFrom('lead').innerJoin('lead_raw', 'lead_raw.lead_no', 'lead.no')
  return leads.select('raw').orderBy('id').execute()
}

it('a sync stores every lead of every page, with the record as it was sent, and asks afterwards only for what changed, an overlap before the watermark', async () => {
  const { upstream, syncing } = await openWorld(35)
  const result = await syncing.sync(LEADS)
  expect(result).toMatchObject({ outcome: 'ok', complete: true, pages: 4, requests: 4, retries: 0 })
  expect(result.leads).toMatchObject({ seen: 35, inserted: 35, updated: 0, quarantined: 0 })
  expect((await recordsOf(syncing)).map(({ raw }) => JSON.parse(raw))).toEqual(
    [...upstream.leads.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  )
  const at = '2026-11-20T10:00:00.000Z'
  upstream.put(3, { status: 'won', updated_at: at, status_changed_at: at })
  upstream.requests.length = 0
  const next = await syncing.sync(LEADS)
  expect(upstream.requests).toHaveLength(2)
  expect(upstream.requests[0]?.path).toContain('updated_since=2026-01-01T01%3A24%3A00.000Z')
  expect(next).toMatchObject({ outcome: 'ok', leads: { inserted: 0, updated: 1 } })
})

describe('a sync that meets faults', () => {
  it('fails after a bounded number of attempts and keeps what it has read', async () => {
    const { upstream, syncing } = await openWorld(35)
    upstream.faults.push(
      () => false,
      () => false,
      ...Array.from({ length: 50 }, () => status(500)),
    )
    const result = await syncing.sync()
    expect(result).toMatchObject({ outcome: 'partial', complete: false, pages: 2, requests: 7, retries: 4 })
    expect(result.leads.inserted).toBe(20)
    upstream.faults.length = 0
    upstream.requests.length = 0
    const next = await syncing.sync(LEADS)
    expect(next).toMatchObject({ outcome: 'ok', complete: true, pages: 2 })
    expect(next.leads.inserted).toBe(15)
    expect(upstream.requests[0]?.path).toContain('cursor=')
  })

  it('leaves its place before a page that cannot be stored, and reads that page again', async () => {
    const { upstream, syncing } = await openWorld(35)
    const { store } = syncing
    const late = [...upstream.leads.keys()].sort()[25] ?? ''
    const [refusal, end] = IN_POSTGRES
      ? [
          sql`ALTER TABLE lead ADD CONSTRAINT refusal CHECK (id <> ${sql.lit(late)})`,
          sql`ALTER TABLE lead DROP CONSTRAINT refusal`,
        ]
      : [
          sql`CREATE TRIGGER refusal BEFORE INSERT ON lead WHEN NEW.id = ${sql.lit(late)}
            BEGIN SELECT RAISE(ABORT, 'refusal'); END`,
          sql`DROP TRIGGER refusal`,
        ]
    await refusal.execute(store.db)
    await expect(syncing.sync(LEADS)).rejects.toThrow('refusal')
    expect(await recordsOf(syncing)).toHaveLength(20)
    await end.execute(store.db)
    expect(await syncing.sync(LEADS)).toMatchObject({ outcome: 'ok', complete: true, pages: 2 })
    expect(await recordsOf(syncing)).toHaveLength(35)
  })

  it('is deferred for a day at most, whatever the upstream asks', async () => {
    const { upstream, syncing } = await openWorld(35)
    upstream.faults.push(status(503, { 'retry-after': '99999999999' }))
    expect(await syncing.sync()).toMatchObject({ outcome: 'deferred', notBefore: '2026-11-22T06:00:00.000Z' })
  })
})

it.each([
  [
    'agents',
    '{"data":[{"id":"a1"},{"status":"idle"}]}',
    'agent without an id: could not be read: id: nothing at id',
  ],
  ['stats', '"nothing"', 'pipeline p9: could not be read: statistics: not an object'],
] as const)('a record that could not be read is a problem of the %s', async (part, answer, said) => {
  const { upstream, syncing } = await openWorld(0)
  upstream.faults.push(body(answer))
  const result = await syncing.sync({ parts: [part], pipelineIds: ['p9'] })
  expect(result).toMatchObject({ complete: false, problems: [{ part, code: 'api_unexpected' }] })
  expect(result.problems[0]?.message).toContain(said)
  expect(await syncing.store.db.selectFrom('quarantined_record').select('record_id').execute()).toHaveLength(
    1,
  )
})

describe('the statistics of a sync', () => {
  it('are asked of the pipelines whose leads are there, and of those in the settings', async () => {
    const { upstream, syncing } = await openWorld(0)
    upstream.put(1, { pipeline_id: 'there' })
    upstream.put(2, { pipeline_id: 'gone' })
    await syncing.sync(LEADS)
    const gone = await syncing.store.db
      .selectFrom('lead')
      .where('pipeline_id', '=', 'gone')
      .select(['no', 'id'])
      .execute()
    await syncing.store.write((trx) => markDeleted(trx, gone, observedAt('2026-11-21T06:00:00.000Z')))
    upstream.requests.length = 0
    await syncing.sync({ parts: ['stats'], pipelineIds: ['wanted'] })
    expect(upstream.requests.map((request) => request.path)).toEqual([
      '/api/v1/pipelines/there/stats',
      '/api/v1/pipelines/wanted/stats',
    ])
  })

  it('take the last of what comes twice, and keep a name that is no longer told', async () => {
    const { upstream, syncing } = await openWorld(0)
    const stages = [1, 2].map((reached) => ({ stage: 'won', current: 0, reached }))
    const stats = { pipeline_id: 'p1', as_of: '2026-11-21T05:00:00Z', stages }
    for (const name of ['EU', null]) {
      upstream.faults.push(body(JSON.stringify({ ...stats, name })))
      await syncing.sync({ parts: ['stats'], pipelineIds: ['p1'] })
    }
    expect(await syncing.store.db.selectFrom('pipeline_stage_stat').select('reached').execute()).toEqual([
      { reached: 2 },
    ])
    expect(await syncing.store.db.selectFrom('pipeline').select('name').execute()).toEqual([{ name: 'EU' }])
  })
})

it('a sync whose lease was taken over ends, and leaves the run and the scan to the other process, whose own run marks it as killed', async () => {
  const { syncing } = await openWorld(35)
  const takeOver = () =>
    syncing.store.write((trx) => trx.updateTable('lease').set({ holder: 'another' }).execute())
  let taken: Promise<unknown> | undefined
  const run = syncing.sync({
    ...LEADS,
    onProgress: ({ pages }) => {
      if (pages === 4) taken = takeOver()
    },
  })
  await expect(run).rejects.toMatchObject({ code: 'job_busy' })
  await taken
  expect(await syncing.store.db.selectFrom('sync_scan').select('seen').execute()).toEqual([{ seen: 35 }])
  const columns = ['outcome', 'finished_at', 'leads_as_of', 'leads_seen'] as const
  const runs = syncing.store.db.selectFrom('sync_run').select(columns).orderBy('started_at')
  const left = { outcome: null, finished_at: null, leads_as_of: null, leads_seen: 35 }
  expect(await runs.execute()).toEqual([left])
  syncing.clock.now = new Date('2026-11-21T06:15:00Z')
  await syncing.store.write((trx) => trx.deleteFrom('lease').execute())
  await syncing.sync(LEADS)
  expect((await runs.execute()).at(0)).toEqual({ ...left, outcome: 'killed' })
})
