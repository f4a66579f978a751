import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { freshSnapshot, publishIfDue, publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { makeSnapshot } from '../../../src/store/snapshot/snapshot.ts'
import { startRun } from '../../../src/store/sync/sync-run.ts'
import { ask, publishing } from '../../support/data/publishing.ts'
import { folderWith } from '../../support/folder.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'

const NEVER = new AbortController().signal

/** Opens a store with leads from a complete sync. */
async function openFilledStore() {
  const store = await openEmptyStore()
  await save(store, [lead('l1'), lead('l2', { status: 'won' })])
  const run = await saveWholeRun(store, '2026-11-21T06:00:00Z')
  return { store, run, folder: folderWith() }
}

describe('publishing', () => {
  it('shows the leads of the store in a file that says which run it comes from', async () => {
    const { store, run, folder } = await openFilledStore()
    const deps = publishing(store, folder)
    const published = await publishSnapshot(deps, NEVER)
    await store.close()
    expect(published).toMatchObject({ file: deps.file, leadsAsOf: '2026-11-21T06:00:00.000Z' })
    expect(ask(published.file, 'SELECT id, outcome FROM lead_now ORDER BY id')).toEqual([
      { id: 'l1', outcome: 'open' },
      { id: 'l2', outcome: 'won' },
    ])
    expect(ask(published.file, 'SELECT * FROM snapshot_info')).toMatchObject([
      {
        made_at: '2026-11-21T06:30:00.000Z',
        leads_as_of: '2026-11-21T06:00:00.000Z',
        run_id: run,
        leadsheet_version: '0.0.0',
      },
    ])
  })

  it('notes that a folder lies in its place, until it is gone', async () => {
    const { store, folder } = await openFilledStore()
    const faults: (string | null)[] = []
    const noteFault = (fault: Error | null) => void faults.push(fault?.message ?? null)
    const deps = { ...publishing(store, folder), noteFault }
    mkdirSync(deps.file)
    await expect(publishIfDue(deps, NEVER)).rejects.toMatchObject({ code: 'data_unwritable' })
    rmSync(deps.file, { recursive: true })
    await publishIfDue(deps, NEVER)
    await store.close()
    expect(faults).toEqual([
      expect.stringMatching(/snapshot\.db cannot be made: EISDIR: illegal operation on a directory$/),
      null,
    ])
  })

  it('leaves one file without a journal, which everybody may read and nobody write', async () => {
    const { store, folder } = await openFilledStore()
    const { file } = await publishSnapshot(publishing(store, folder), NEVER)
    await store.close()
    expect(readdirSync(folder).sort()).toEqual(['snapshot.db'])
    expect(statSync(file).mode & 0o777).toBe(0o400)
    expect([...readFileSync(file).subarray(18, 20)]).toEqual([1, 1])
  })

  it.skipIf(process.getuid?.() !== 0)('is for a group alone, if the settings name one', async () => {
    const { store, folder } = await openFilledStore()
    // The number of the group `daemon`, which every machine has.
    for (const group of ['daemon', '1']) {
      const { file } = await publishSnapshot({ ...publishing(store, folder), group }, NEVER)
      const { mode, gid } = statSync(file)
      expect([mode & 0o777, gid]).toEqual([0o640, 1])
    }
    await store.close()
  })

  it('says that there is no such group, and leaves nothing behind', async () => {
    const { store, folder } = await openFilledStore()
    const publication = publishSnapshot({ ...publishing(store, folder), group: 'nobodys-group' }, NEVER)
    await expect(publication).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'snapshot.group: there is no group nobodys-group',
      hint: expect.stringContaining('groupadd nobodys-group'),
    })
    await store.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('keeps who receives reports and how the store works inside out of every byte of the file', async () => {
    const { store, folder } = await openFilledStore()
    const secret = 'canary-4711'
    const period = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' }
    const figures = JSON.stringify({
      period,
      prior: period,
      pipelines: [],
      stalled: { days: 7 },
      topLeads: { minScore: 80 },
    })
    await store.write(async (trx) => {
      const issue = { id: 'e1', report: 'daily', time_zone: 'UTC', figures, subject: 'Shown', run_id: null }
      const times = { period_from: period.from, period_to: period.to, rendered_at: '2026' }
      await trx
        .insertInto('report_issue')
        .values({ ...issue, ...times, html: secret, text: secret })
        .execute()
      const message = { message_id: secret, issue_id: 'e1', recipient: secret }
      await trx
        .insertInto('delivery')
        .values({ ...message, state: 'sent', queued_at: '2026', state_at: '2026', response: secret })
        .execute()
      const bytes = Buffer.from(secret)
      await trx
        .insertInto('message')
        .values({ message_id: secret, head: secret, files: '[]', html: bytes, text: bytes })
        .execute()
      await trx.insertInto('message_file').values({ sha256: secret, content: bytes }).execute()
      await trx
        .insertInto('lease')
        .values({
          name: 'daemon',
          holder: secret,
          host: secret,
          pid: 1,
          acquired_at: '2026',
          expires_at: '2026',
        })
        .execute()
    })
    const { file } = await publishSnapshot(publishing(store, folder), NEVER)
    await store.close()
    expect(readFileSync(file).includes(secret)).toBe(false)
    expect(ask(file, 'SELECT subject FROM report_issue')).toEqual([{ subject: 'Shown' }])
  })

  it('refuses where no sync has read all leads yet', async () => {
    const store = await openEmptyStore()
    await expect(publishSnapshot(publishing(store, folderWith()), NEVER)).rejects.toMatchObject({
      code: 'report_no_data',
    })
    await store.close()
  })

  it('leaves the snapshot that is there alone when it cannot make another, and says why', async () => {
    const { store, folder } = await openFilledStore()
    const { file } = await publishSnapshot(publishing(store, folder), NEVER)
    const before = readFileSync(file)
    await store.close()
    writeFileSync(fileOf(store), 'no database any more')
    const job = { madeAt: '2026', version: '', sourcePaths: {} }
    await expect(makeSnapshot(store, job, file, { group: null, signal: NEVER })).rejects.toMatchObject({
      code: 'store_corrupt',
    })
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(folder).sort()).toEqual(['snapshot.db'])
  })

  it('stops when it is told to, and leaves nothing behind', async () => {
    const { store, folder } = await openFilledStore()
    const stop = new AbortController()
    const publication = publishSnapshot(publishing(store, folder), stop.signal)
    setTimeout(() => stop.abort(new Error('told to stop')), 20)
    await expect(publication).rejects.toThrow('told to stop')
    await store.close()
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('the snapshot for the queries of a report', () => {
  it('is made if it is older than the last sync of all leads, and else stays', async () => {
    const { store, folder } = await openFilledStore()
    const deps = publishing(store, folder)
    const runOf = async () => ask(await freshSnapshot(deps, NEVER), 'SELECT run_id FROM snapshot_info')
    const first = await runOf()
    const madeFirst = statSync(deps.file).ino
    expect(await runOf()).toEqual(first)
    expect(statSync(deps.file).ino).toBe(madeFirst)
    const run = await saveWholeRun(store, '2026-11-21T06:10:00Z')
    expect(await runOf()).toEqual([{ run_id: run }])
    await store.close()
  })

  it('is waited for while another process makes it', async () => {
    const { store, folder } = await openFilledStore()
    const deps = publishing(store, folder)
    const others = await Promise.all([1, 2, 3].map(() => freshSnapshot(deps, NEVER)))
    expect(others).toEqual(Array(3).fill(deps.file))
    const lease = await claimLease(store, 'snapshot', deps.now)
    await saveWholeRun(store, '2026-11-21T06:10:00Z')
    const stop = new AbortController()
    const waiting = freshSnapshot(deps, stop.signal)
    stop.abort(new Error('told to stop'))
    await expect(waiting).rejects.toThrow('told to stop')
    await lease.release()
    await store.close()
  })
})

describe('publishing what is due', () => {
  it('makes the first snapshot, and another only once a sync has changed a lead', async () => {
    const { store, folder } = await openFilledStore()
    const deps = publishing(store, folder)
    expect(await publishIfDue(deps, NEVER)).not.toBeNull()
    await saveWholeRun(store, '2026-11-21T06:31:00Z')
    expect(await publishIfDue(deps, NEVER)).toBeNull()
    const run = await saveWholeRun(store, '2026-11-21T06:32:00Z')
    await store.write((trx) =>
      trx.updateTable('sync_run').where('id', '=', run).set({ leads_updated: 1 }).execute(),
    )
    const later = { ...deps, now: () => new Date('2026-11-21T06:33:00Z') }
    expect(await publishIfDue(later, NEVER)).toMatchObject({ leadsAsOf: '2026-11-21T06:32:00.000Z' })
    expect(await publishIfDue(later, NEVER)).toBeNull()
    await store.close()
  })

  it('spends at most a twentieth of the time on making snapshots', async () => {
    const { store, folder } = await openFilledStore()
    let now = new Date('2026-11-21T06:30:00Z')
    const deps = publishing(store, folder, { now: () => now })
    const { file, durationMs } = (await publishIfDue(deps, NEVER)) ?? {}
    const madeIn = (ms?: number) => {
      const database = new Database(file)
      const before = database.pragma('user_version', { simple: true })
      if (ms !== undefined) database.pragma(`user_version = ${ms}`)
      database.close()
      return before
    }
    expect(madeIn(15_000)).toBeGreaterThan(0)
    expect(madeIn()).toBe(15_000)
    expect(durationMs).toBeLessThan(15_000)
    const run = await saveWholeRun(store, '2026-11-21T06:31:00Z')
    await store.write((trx) =>
      trx.updateTable('sync_run').where('id', '=', run).set({ leads_updated: 1 }).execute(),
    )
    now = new Date('2026-11-21T06:34:59Z')
    expect(await publishIfDue(deps, NEVER)).toBeNull()
    now = new Date('2026-11-21T06:35:00Z')
    expect(await publishIfDue(deps, NEVER)).not.toBeNull()
    await store.close()
  })

  it('makes another when a sync of the details alone has read some, once', async () => {
    const { store, folder } = await openFilledStore()
    const deps = publishing(store, folder)
    await publishIfDue(deps, NEVER)
    const run = { mode: 'incremental', parts: ['details'], at: '2026-11-21T06:31:00.000Z' } as const
    await store.write(async (trx) => {
      const id = await startRun(trx, run)
      const done = { details_read: 5, outcome: 'ok', finished_at: '2026-11-21T06:32:00.000Z' } as const
      await trx.updateTable('sync_run').where('id', '=', id).set(done).execute()
    })
    const later = { ...deps, now: () => new Date('2026-11-21T06:33:00Z') }
    expect(await publishIfDue(later, NEVER)).not.toBeNull()
    expect(await publishIfDue(later, NEVER)).toBeNull()
    await store.close()
  })

  it('shows how fresh the copy is within the hour, also where no lead changes', async () => {
    const { store, folder } = await openFilledStore()
    let now = new Date('2026-11-21T06:30:00Z')
    const deps = publishing(store, folder, { now: () => now })
    await publishIfDue(deps, NEVER)
    now = new Date('2026-11-21T07:29:00Z')
    await saveWholeRun(store, '2026-11-21T07:29:00Z')
    expect(await publishIfDue(deps, NEVER)).toBeNull()
    now = new Date('2026-11-21T07:30:00Z')
    expect(await publishIfDue(deps, NEVER)).toMatchObject({ leadsAsOf: '2026-11-21T07:29:00.000Z' })
    await store.close()
  })

  it('makes it anew where it is of another version, or is no snapshot', async () => {
    const { store, folder } = await openFilledStore()
    const deps = publishing(store, folder)
    await publishIfDue(deps, NEVER)
    expect(await publishIfDue({ ...deps, version: '0.0.1' }, NEVER)).not.toBeNull()
    const other = folderWith({ 'snapshot.db': 'no database' })
    expect(await publishIfDue(publishing(store, other), NEVER)).not.toBeNull()
    await store.close()
  })

  it('makes none before the first whole sync', async () => {
    const store = await openEmptyStore()
    const folder = folderWith()
    expect(await publishIfDue(publishing(store, folder), NEVER)).toBeNull()
    expect(existsSync(join(folder, 'snapshot.db'))).toBe(false)
    await store.close()
  })
})
