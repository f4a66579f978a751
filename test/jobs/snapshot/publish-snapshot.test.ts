import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { freshSnapshot, publishIfDue, publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { makeSnapshot } from '../../../src/store/snapshot/snapshot.ts'
import { ask, publishing } from '../../support/data/publishing.ts'
import { folderWith } from '../../support/folder.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'

const NEVER = new AbortController().signal

/** Opens a store with leads from a complete sync, and a clock that publishes at 06:30. */
async function openWorld() {
  const store = await openEmptyStore()
  await save(store, [lead('l1'), lead('l2', { status: 'won' })])
  const run = await saveWholeRun(store, '2026-11-21T06:00:00Z')
  const folder = folderWith()
  const clock = { now: new Date('2026-11-21T06:30:00Z') }
  const deps = publishing(store, folder, { now: () => clock.now })
  return {
    store,
    run,
    folder,
    deps,
    publish: (change: Partial<typeof deps> = {}, signal = NEVER) =>
      publishSnapshot({ ...deps, ...change }, signal),
    publishIfDue(at: string) {
      clock.now = new Date(`2026-11-21T${at}:00Z`)
      return publishIfDue(deps, NEVER)
    },
    [Symbol.asyncDispose]: store.close,
  }
}

describe('publishing', () => {
  it('shows the leads of the store in one file without a journal, which says which run it comes from, and which nobody may write', async () => {
    await using world = await openWorld()
    const { run, deps, folder } = world
    const published = await world.publish()
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
    expect(readdirSync(folder)).toEqual(['snapshot.db'])
    expect(statSync(published.file).mode & 0o777).toBe(0o400)
    expect([...readFileSync(published.file).subarray(18, 20)]).toEqual([1, 1])
  })

  it('notes that a folder lies in its place, until it is gone', async () => {
    await using world = await openWorld()
    const faults: (string | null)[] = []
    const noteFault = (fault: Error | null) => void faults.push(fault?.message ?? null)
    const deps = { ...world.deps, noteFault }
    mkdirSync(deps.file)
    await expect(publishIfDue(deps, NEVER)).rejects.toMatchObject({ code: 'data_unwritable' })
    rmSync(deps.file, { recursive: true })
    await publishIfDue(deps, NEVER)
    expect(faults).toEqual([
      expect.stringMatching(/snapshot\.db cannot be made: EISDIR: illegal operation on a directory$/),
      null,
    ])
  })

  it.skipIf(process.getuid?.() !== 0)('is for a group alone, if the settings name one', async () => {
    await using world = await openWorld()
    // The number of the group `daemon`, which every machine has.
    for (const group of ['daemon', '1']) {
      const { file } = await world.publish({ group })
      const { mode, gid } = statSync(file)
      expect([mode & 0o777, gid]).toEqual([0o640, 1])
    }
  })

  it('says that there is no such group, and leaves nothing behind', async () => {
    await using world = await openWorld()
    await expect(world.publish({ group: 'nobodys-group' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'snapshot.group: there is no group nobodys-group',
      hint: expect.stringContaining('groupadd nobodys-group'),
    })
    expect(readdirSync(world.folder)).toEqual([])
  })

  it('leaves the snapshot that is there alone when it cannot make another, and says why', async () => {
    await using world = await openWorld()
    const { store, folder } = world
    const { file } = await world.publish()
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
})

describe('the snapshot for the queries of a report', () => {
  it('is made if it is older than the last sync of all leads, and else stays', async () => {
    await using world = await openWorld()
    const { store, deps } = world
    const runOf = async () => ask(await freshSnapshot(deps, NEVER), 'SELECT run_id FROM snapshot_info')
    const first = await runOf()
    const madeFirst = statSync(deps.file).ino
    expect(await runOf()).toEqual(first)
    expect(statSync(deps.file).ino).toBe(madeFirst)
    const run = await saveWholeRun(store, '2026-11-21T06:10:00Z')
    expect(await runOf()).toEqual([{ run_id: run }])
  })

  it('is waited for while another process makes it', async () => {
    await using world = await openWorld()
    const { store, deps } = world
    const others = await Promise.all([1, 2, 3].map(() => freshSnapshot(deps, NEVER)))
    expect(others).toEqual(Array(3).fill(deps.file))
    const lease = await claimLease(store, 'snapshot', deps.now)
    await saveWholeRun(store, '2026-11-21T06:10:00Z')
    const stop = new AbortController()
    const waiting = freshSnapshot(deps, stop.signal)
    stop.abort(new Error('told to stop'))
    await expect(waiting).rejects.toThrow('told to stop')
    await lease.release()
  })
})

describe('publishing what is due', () => {
  const NONE = { leads_updated: 0 }
  const CHANGED = { leads_updated: 1 }
  const DETAILS = { leads_as_of: null, details_read: 5, finished_at: '2026-11-21T06:32:00.000Z' }
  it.each<[what: string, set: object, at: string, look: string, asOf: string | null, tookMs?: number]>([
    ['changed no lead', NONE, '06:31', '06:33', null],
    ['changed no lead', NONE, '07:29', '07:29', null],
    ['changed no lead, after an hour', NONE, '07:29', '07:30', '07:29'],
    ['changed a lead', CHANGED, '06:32', '06:33', '06:32'],
    ['read details alone', DETAILS, '06:31', '06:33', '06:00'],
    ['changed a lead, but the last one took 15 s', CHANGED, '06:31', '06:34', null, 15_000],
    ['changed a lead, and 20 times 15 s have passed', CHANGED, '06:31', '06:35', '06:31', 15_000],
  ])(
    'makes the first snapshot, and after a sync that %s, %j at %s, at %s one as of %s, once',
    async (_, set, at, look, asOf, tookMs) => {
      await using world = await openWorld()
      expect(await world.publishIfDue('06:30')).not.toBeNull()
      const database = new Database(world.deps.file)
      expect(database.pragma('user_version', { simple: true })).toBeGreaterThan(0)
      if (tookMs !== undefined) database.pragma(`user_version = ${tookMs}`)
      database.close()
      const id = await saveWholeRun(world.store, `2026-11-21T${at}:00Z`)
      await world.store.db.updateTable('sync_run').where('id', '=', id).set(set).execute()
      const published = await world.publishIfDue(look)
      expect(published?.leadsAsOf ?? null).toBe(asOf && `2026-11-21T${asOf}:00.000Z`)
      expect(await world.publishIfDue(look)).toBeNull()
    },
  )

  it('makes it anew where it is of another version, or is no snapshot', async () => {
    await using world = await openWorld()
    await world.publish()
    expect(await publishIfDue({ ...world.deps, version: '0.0.1' }, NEVER)).not.toBeNull()
    const other = folderWith({ 'snapshot.db': 'no database' })
    expect(await publishIfDue(publishing(world.store, other), NEVER)).not.toBeNull()
  })

  it('makes none before the first whole sync', async () => {
    await using store = await openEmptyStore()
    const folder = folderWith()
    const deps = publishing(store, folder)
    expect(await publishIfDue(deps, NEVER)).toBeNull()
    await expect(publishSnapshot(deps, NEVER)).rejects.toMatchObject({ code: 'report_no_data' })
    expect(existsSync(join(folder, 'snapshot.db'))).toBe(false)
  })
})
