// @both-stores
import { spawnSync } from 'node:child_process'
import { hostname } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { IN_POSTGRES, openEmptyStore } from '../../support/store.ts'

/** In PostgreSQL, the clock of the server decides. */
const NOON = IN_POSTGRES ? new Date() : new Date('2026-11-21T12:00:00Z')
const later = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000)
const at = (moment: Date) => () => moment

/** Puts a lease of another process into the table. */
async function holdBy(store: Store, { host = hostname(), pid, until }: Holder): Promise<void> {
  const times = { acquired_at: NOON.toISOString(), expires_at: until.toISOString() }
  const lease = { name: 'sync', holder: 'somebody else', host, pid, ...times }
  await store.write(async (trx) => {
    await trx.deleteFrom('lease').execute()
    await trx.insertInto('lease').values(lease).execute()
  })
}

interface Holder {
  readonly host?: string
  readonly pid: number
  readonly until: Date
}

/** Returns the id of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['--version']).pid
}

describe('a lease', () => {
  it('is held by one, who is named to the other, and free after its release', async () => {
    await using store = await openEmptyStore()
    const lease = await claimLease(store, 'sync', at(NOON))
    await expect(claimLease(store, 'sync', at(NOON))).rejects.toMatchObject({
      code: 'job_busy',
      message: `A sync is already running: process ${process.pid} on ${hostname()} since ${NOON.toISOString()}`,
    })
    await (await claimLease(store, 'delivery', at(NOON))).release()
    await lease.release()
    await (await claimLease(store, 'sync', at(NOON))).release()
  })

  it('is taken over at once from a process of this machine that has ended', async () => {
    await using store = await openEmptyStore()
    const left = await claimLease(store, 'sync', at(NOON))
    await store.write((trx) => trx.updateTable('lease').set({ pid: deadPid() }).execute())
    await (await claimLease(store, 'sync', at(NOON))).release()
    await left.release()
  })

  it.each<readonly [string, boolean, () => Holder]>([
    ['a machine that gave no sign until it expired', true, () => ({ host: 'other', pid: 1, until: NOON })],
    ['a process id in use by another program, expired', true, () => ({ pid: process.ppid, until: NOON })],
    ['a process that runs', false, () => ({ pid: process.ppid, until: later(60) })],
    ['another machine, which cannot be seen', false, () => ({ host: 'other', pid: 1, until: later(60) })],
    // In PostgreSQL, a machine of the same name may be another one.
    ['a process that is not there', !IN_POSTGRES, () => ({ pid: deadPid(), until: later(180) })],
    ['an earlier life of this process', !IN_POSTGRES, () => ({ pid: process.pid, until: later(180) })],
  ])('of %s is taken over: %j', async (_name, isFree, other) => {
    await using store = await openEmptyStore()
    await holdBy(store, other())
    const claim = claimLease(store, 'sync', at(NOON))
    if (isFree) await (await claim).release()
    else await expect(claim).rejects.toMatchObject({ code: 'job_busy' })
  })

  it('that could not be released, because the store was away, is free for its own process', async () => {
    await using store = await openEmptyStore()
    let isAway = false
    const write: Store['write'] = (work) =>
      isAway ? Promise.reject(new Error('the store is away')) : store.write(work)
    const lease = await claimLease({ place: store.place, write }, 'sync', at(NOON))
    isAway = true
    await expect(lease.release()).rejects.toThrow('the store is away')
    await (await claimLease(store, 'sync', at(NOON))).release()
  })

  it('that was taken over lets its former holder write nothing more, nor take it away again', async () => {
    await using store = await openEmptyStore()
    const lease = await claimLease(store, 'sync', at(NOON))
    await holdBy(store, { host: 'other', pid: 1, until: later(180) })
    const work = store.write(async (trx) => {
      await trx.insertInto('sync_scan_page').values({ page: 1, pass: 1, seen: '[]' }).execute()
      await lease.renew(trx, NOON)
    })
    await expect(work).rejects.toMatchObject({ code: 'job_busy' })
    expect(await store.db.selectFrom('sync_scan_page').selectAll().execute()).toEqual([])
    await lease.release()
    const holders = store.db.selectFrom('lease').select('holder')
    expect(await holders.execute()).toEqual([{ holder: 'somebody else' }])
  })

  it('renews itself while it is held, and tells when it was lost', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    await using store = await openEmptyStore()
    let now = NOON
    const lease = await claimLease(store, 'sync', () => now)
    const expiry = async () =>
      (await store.db.selectFrom('lease').select('expires_at').executeTakeFirstOrThrow()).expires_at
    const first = await expiry()
    now = later(600)
    await vi.advanceTimersByTimeAsync(30_000)
    if (IN_POSTGRES) await expect.poll(async () => (await expiry()) > first).toBe(true)
    else await expect.poll(expiry).toBe(later(690).toISOString())
    await holdBy(store, { host: 'other', pid: 1, until: later(999) })
    await vi.advanceTimersByTimeAsync(30_000)
    await expect.poll(() => lease.lost.aborted).toBe(true)
    expect(lease.lost.reason).toMatchObject({ code: 'job_busy' })
    await lease.release()
    vi.useRealTimers()
  })
})
