// @both-stores
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { markDeleted } from '../../../src/store/sync/soft-delete.ts'
import { IN_POSTGRES, observedAt } from '../../support/store.ts'
import { openSyncing, type Syncing } from '../../support/syncing.ts'
import { body, cut, startUpstream, status } from '../../support/upstream.ts'

const LEADS = { parts: ['leads'] as const }

async function rows(syncing: Syncing, table: 'lead' | 'lead_version') {
  const { rows: all } = await sql<
    Record<string, unknown>
  >`SELECT * FROM ${sql.table(table)} ORDER BY 1, 2`.execute(syncing.store.db)
  return all
}

/** Returns the stored leads without the columns about the time and the run of the reading. */
async function contents(syncing: Syncing): Promise<unknown> {
  const { rows: all } =
    await sql`SELECT id, raw, updated_at, deleted_at IS NULL AS is_there FROM lead JOIN lead_raw ON lead_no = no ORDER BY id`.execute(
      syncing.store.db,
    )
  return all
}

describe('a sync', () => {
  it('stores every lead of every page, with the record as it was sent', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    const result = await syncing.sync(LEADS)
    expect(result).toMatchObject({ outcome: 'ok', complete: true, pages: 4, requests: 4, retries: 0 })
    expect(result.leads).toEqual({
      seen: 35,
      inserted: 35,
      updated: 0,
      unchanged: 0,
      deleted: 0,
      quarantined: 0,
    })
    const stored = await syncing.store.db
      .selectFrom('lead')
      .innerJoin('lead_raw', 'lead_raw.lead_no', 'lead.no')
      .select('raw')
      .orderBy('id')
      .execute()
    expect(stored.map(({ raw }) => JSON.parse(raw))).toEqual(
      [...upstream.leads.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    )
  })

  it('asks afterwards only for what changed, an overlap before the watermark', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    await syncing.sync(LEADS)
    upstream.put(3, {
      status: 'won',
      updated_at: '2026-11-20T10:00:00.000Z',
      status_changed_at: '2026-11-20T10:00:00.000Z',
    })
    upstream.requests.length = 0
    const result = await syncing.sync(LEADS)
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests[0]?.path).toContain('updated_since=2026-01-01T01%3A24%3A00.000Z')
    expect(result.leads).toMatchObject({ inserted: 0, updated: 1 })
    expect(result.outcome).toBe('ok')
  })

  it('changes nothing when nothing changed, and says so', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    await syncing.sync(LEADS)
    const before = await rows(syncing, 'lead')
    const result = await syncing.sync({ ...LEADS, full: true })
    expect(result.outcome).toBe('ok_no_change')
    expect(result.leads).toMatchObject({ seen: 35, inserted: 0, updated: 0, unchanged: 35 })
    expect(await rows(syncing, 'lead')).toEqual(before)
  })

  it('keeps each state that a lead was in, from the upstream’s own time of change', async () => {
    await using upstream = await startUpstream(1)
    await using syncing = await openSyncing(upstream.url)
    const first = upstream.put(0, {
      status: 'contacted',
      status_changed_at: '2026-11-01T08:00:00.000Z',
      updated_at: '2026-11-02T08:00:00.000Z',
    })
    await syncing.sync(LEADS)
    upstream.put(0, {
      status: 'won',
      status_changed_at: '2026-11-20T10:00:00.000Z',
      updated_at: '2026-11-20T11:00:00.000Z',
    })
    await syncing.sync(LEADS)
    const versions = await rows(syncing, 'lead_version')
    expect(versions.map((row) => [row['status'], row['valid_from'], row['valid_to']])).toEqual([
      ['contacted', first.status_changed_at, '2026-11-20T10:00:00.000Z'],
      ['won', '2026-11-20T10:00:00.000Z', null],
    ])
  })

  it('holds a record that cannot be mapped, with the reason, and stores the rest of its page', async () => {
    await using upstream = await startUpstream(10)
    await using syncing = await openSyncing(upstream.url)
    upstream.put(4, { created_at: 'yesterday' })
    const result = await syncing.sync(LEADS)
    expect(result.leads).toMatchObject({ seen: 9, inserted: 9, quarantined: 1 })
    const held = await syncing.store.db.selectFrom('quarantined_record').selectAll().execute()
    expect(held).toHaveLength(1)
    expect(held[0]?.reason).toBe('created_at: "yesterday" is not an instant')
    expect(JSON.parse(held[0]?.raw ?? '')).toMatchObject({ created_at: 'yesterday' })
  })

  it('keeps what identifies a lead digit for digit', async () => {
    await using upstream = await startUpstream(0)
    await using syncing = await openSyncing(upstream.url)
    const lead = { ...upstream.put(0), id: 'ID' }
    const text = JSON.stringify({ data: [lead], page: { next_cursor: null, has_more: false, total: 1 } })
    upstream.faults.push(body(text.replace('"ID"', '9007199254740993')))
    await syncing.sync(LEADS)
    expect((await rows(syncing, 'lead'))[0]?.['id']).toBe('9007199254740993')
  })
})

describe('a sync that meets faults', () => {
  it.each([
    ['503', status(503)],
    ['408', status(408)],
    ['429 with Retry-After: 0', status(429, { 'retry-after': '0' })],
    ['a connection cut in the body', cut],
    ['cut JSON', body('{"data":[')],
  ])('asks again for the whole page after %s', async (_name, fault) => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(() => false, fault)
    const result = await syncing.sync(LEADS)
    expect(result).toMatchObject({ outcome: 'ok', complete: true, requests: 5, retries: 1 })
    expect(result.leads.inserted).toBe(35)
    expect(upstream.requests.some((request) => request.headers.range)).toBe(false)
  })

  it('stops at once when the key is refused', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(status(401))
    const result = await syncing.sync()
    expect(result).toMatchObject({ outcome: 'failed', complete: false, requests: 1 })
    expect(result.problems).toMatchObject([{ part: 'leads', code: 'api_unauthorized' }])
  })

  it('fails after a bounded number of attempts and keeps what it has read', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(
      () => false,
      () => false,
      ...Array.from({ length: 50 }, () => status(500)),
    )
    const result = await syncing.sync()
    expect(result).toMatchObject({ outcome: 'partial', complete: false, pages: 2, requests: 7 })
    expect(result.leads.inserted).toBe(20)
    upstream.faults.length = 0
    upstream.requests.length = 0
    const next = await syncing.sync(LEADS)
    expect(next).toMatchObject({ outcome: 'ok', complete: true, pages: 2 })
    expect(next.leads.inserted).toBe(15)
    expect(upstream.requests[0]?.path).toContain('cursor=')
  })

  it('leaves its place before a page that cannot be stored, and reads that page again', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
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
    expect(await contents(syncing)).toHaveLength(20)
    await end.execute(store.db)
    expect(await syncing.sync(LEADS)).toMatchObject({ outcome: 'ok', complete: true, pages: 2 })
    expect(await contents(syncing)).toHaveLength(35)
  })

  it('comes back no sooner than the upstream asks', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(() => false, status(429, { 'retry-after': '3600' }))
    const result = await syncing.sync()
    expect(result).toMatchObject({ outcome: 'deferred', notBefore: '2026-11-21T07:00:00.000Z', requests: 2 })
    upstream.requests.length = 0
    expect(await syncing.sync()).toMatchObject({ outcome: 'deferred', requests: 0 })
    expect(upstream.requests).toHaveLength(0)
    syncing.clock.now = new Date('2026-11-21T07:00:01Z')
    expect(await syncing.sync(LEADS)).toMatchObject({ outcome: 'ok', complete: true, pages: 3 })
  })

  it('is deferred for a day at most, whatever the upstream asks', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(status(503, { 'retry-after': '99999999999' }))
    expect(await syncing.sync()).toMatchObject({ outcome: 'deferred', notBefore: '2026-11-22T06:00:00.000Z' })
  })

  it.each([
    ['a web page', body('<html>Sign in</html>', 'text/html'), 'not with JSON'],
    ['JSON of another shape', body('{"items":[]}'), 'has no list of leads at data'],
    ['a redirect', status(302, { location: 'https://elsewhere.example/' }), 'redirects (302)'],
  ])('names %s as what it is', async (_name, fault, said) => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(fault)
    const result = await syncing.sync(LEADS)
    expect(result.outcome).toBe('failed')
    expect(result.problems).toMatchObject([{ code: 'api_unexpected' }])
    expect(result.problems[0]?.message).toContain(said)
    expect(await contents(syncing)).toEqual([])
  })

  it('ends a list that repeats its cursor', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    const page = JSON.stringify({
      data: [upstream.put(1)],
      page: { next_cursor: 'again', has_more: true, total: 9 },
    })
    upstream.faults.push(...Array.from({ length: 9 }, () => body(page)))
    const result = await syncing.sync(LEADS)
    expect(result.problems[0]?.message).toContain('repeats the cursor "again"')
    // At most the pages that are requested ahead, until the first one has been read.
    expect(upstream.requests.length).toBeLessThan(10)
  })

  it('starts the scan over when the upstream has forgotten the cursor', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(() => false, status(401))
    await syncing.sync(LEADS)
    upstream.faults.length = 0
    upstream.faults.push(status(400))
    const result = await syncing.sync(LEADS)
    expect(result).toMatchObject({ outcome: 'ok', complete: true, pages: 4 })
    expect(await contents(syncing)).toHaveLength(35)
  })

  it('puts down the current page when it is told to stop, and goes on there next time', async () => {
    await using upstream = await startUpstream(95)
    await using syncing = await openSyncing(upstream.url)
    const stop = new AbortController()
    const stopped = await syncing.sync({
      ...LEADS,
      signal: stop.signal,
      onProgress: ({ pages }) => pages === 3 && stop.abort(),
    })
    expect(stopped).toMatchObject({ outcome: 'partial', pages: 3, problems: [{ code: 'run_interrupted' }] })
    expect(await syncing.sync(LEADS)).toMatchObject({ outcome: 'ok', pages: 7 })
    expect(await contents(syncing)).toHaveLength(95)
  })
})

describe('leads that are gone upstream', () => {
  it('are marked by the second whole scan without them, and come back when they return', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    await syncing.sync(LEADS)
    const gone = upstream.put(7)
    upstream.leads.delete(gone.id)
    expect((await syncing.sync({ ...LEADS, full: true })).leads.deleted).toBe(0)
    syncing.clock.now = new Date('2026-11-21T07:00:00Z')
    expect(await syncing.sync({ ...LEADS, full: true })).toMatchObject({
      outcome: 'ok',
      leads: { deleted: 1 },
    })
    const find = () =>
      syncing.store.db.selectFrom('lead').where('id', '=', gone.id).selectAll().executeTakeFirstOrThrow()
    expect((await find()).deleted_at).toBe('2026-11-21T07:00:00.000Z')
    syncing.clock.now = new Date('2026-11-21T08:00:00Z')
    upstream.put(7)
    await syncing.sync({ ...LEADS, full: true })
    expect((await find()).deleted_at).toBeNull()
    const versions = (await rows(syncing, 'lead_version')).filter((row) => row['lead_id'] === gone.id)
    expect(versions.map((row) => [row['valid_from'], row['valid_to']])).toEqual([
      [gone.status_changed_at, '2026-11-21T07:00:00.000Z'],
      ['2026-11-21T08:00:00.000Z', null],
    ])
  })

  it('are not marked by scans that did not reach the end, nor by incremental ones', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    await syncing.sync(LEADS)
    upstream.leads.delete(upstream.put(34).id)
    await syncing.sync({ ...LEADS, full: true })
    for (let round = 0; round < 3; round++) {
      upstream.faults.push(
        () => false,
        () => false,
        status(401),
      )
      await syncing.sync({ ...LEADS, full: true })
      upstream.faults.length = 0
      await syncing.store.db.deleteFrom('sync_scan').execute()
      expect((await syncing.sync(LEADS)).leads.deleted).toBe(0)
    }
    const deleted = await syncing.store.db
      .selectFrom('lead')
      .where('deleted_at', 'is not', null)
      .selectAll()
      .execute()
    expect(deleted).toEqual([])
  })

  it('are believed only up to a fifth of all: more is a fault of the upstream, and said (row 34)', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    await syncing.sync(LEADS)
    for (let number = 0; number < 20; number++) upstream.leads.delete(upstream.put(number).id)
    const results = []
    for (let round = 0; round < 3; round++) results.push(await syncing.sync({ ...LEADS, full: true }))
    expect(results.map(({ leads }) => leads.deleted)).toEqual([0, 0, 0])
    for (const { problems } of results) expect(problems[0]?.message).toContain('20 of 35 leads were missing')
  })

  it('are not those whose record cannot be read any more, nor any while one hides its id', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    await syncing.sync(LEADS)
    const unreadable = upstream.put(7, { created_at: 'yesterday' })
    for (let round = 0; round < 3; round++) {
      expect((await syncing.sync({ ...LEADS, full: true })).leads).toMatchObject({
        quarantined: 1,
        deleted: 0,
      })
    }
    upstream.leads.set(unreadable.id, { ...unreadable, id: '' })
    for (let round = 0; round < 3; round++) {
      expect((await syncing.sync({ ...LEADS, full: true })).leads).toMatchObject({
        quarantined: 1,
        deleted: 0,
      })
    }
  })
})

describe('a record that could not be read', () => {
  it('is skipped once it can be', async () => {
    await using upstream = await startUpstream(10)
    await using syncing = await openSyncing(upstream.url)
    upstream.put(4, { created_at: 'yesterday' })
    await syncing.sync(LEADS)
    upstream.put(4)
    await syncing.sync({ ...LEADS, full: true })
    expect(await syncing.store.db.selectFrom('quarantined_record').selectAll().execute()).toEqual([])
    expect(await contents(syncing)).toHaveLength(10)
  })

  it.each([
    [
      'agents',
      '{"data":[{"id":"a1"},{"status":"idle"}]}',
      'agent without an id: could not be read: id: nothing at id',
    ],
    ['stats', '"nothing"', 'pipeline p9: could not be read: statistics: not an object'],
  ] as const)('is a problem of the %s', async (part, answer, said) => {
    await using upstream = await startUpstream(0)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(body(answer))
    const result = await syncing.sync({ parts: [part], pipelineIds: ['p9'] })
    expect(result).toMatchObject({ complete: false, problems: [{ part, code: 'api_unexpected' }] })
    expect(result.problems[0]?.message).toContain(said)
    expect(
      await syncing.store.db.selectFrom('quarantined_record').select('record_id').execute(),
    ).toHaveLength(1)
  })
})

describe('the statistics of a sync', () => {
  it('are asked of the pipelines whose leads are there, and of those in the settings', async () => {
    await using upstream = await startUpstream(0)
    await using syncing = await openSyncing(upstream.url)
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
    await using upstream = await startUpstream(0)
    await using syncing = await openSyncing(upstream.url)
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

describe('the end of the list', () => {
  const page = (data: unknown[], next: string | null, more: boolean) =>
    body(JSON.stringify({ data, page: { next_cursor: next, has_more: more, total: 35 } }))

  it('is not a page that says more follow and does not tell where', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(page([upstream.put(1)], null, true))
    const result = await syncing.sync(LEADS)
    expect(result).toMatchObject({ outcome: 'failed', problems: [{ code: 'api_unexpected' }] })
  })
})

describe('a sync whose lease was taken over', () => {
  it('ends, and leaves the run and the scan to the other process', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
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
    const runs = await syncing.store.db.selectFrom('sync_run').select(['outcome', 'leads_as_of']).execute()
    expect(runs).toEqual([{ outcome: null, leads_as_of: null }])
  })
})

describe('two syncs at once', () => {
  it('are refused, naming who is at it', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    const first = syncing.sync(LEADS)
    await expect(syncing.sync(LEADS)).rejects.toMatchObject({
      code: 'job_busy',
      message: expect.stringContaining(`process ${process.pid}`),
    })
    expect((await first).outcome).toBe('ok')
  })
})
