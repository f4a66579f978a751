/** Lists that are asked for by POST, in the dialects of vendors. */
import { describe, expect, it } from 'vitest'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import {
  DIALECTS,
  type Dialect,
  startVendor,
  VENDOR_KEY,
  type Vendor,
} from '../../support/source/post-dialects.ts'
import { openSyncing, type Syncing } from '../../support/syncing.ts'

const PAGE = 20

async function openCopy(vendor: Vendor, dialect: Dialect, folder?: string): Promise<Syncing> {
  const source = { profile: parseProfile(dialect.profile, 'test') }
  return openSyncing(vendor.url, VENDOR_KEY, { source, ...(folder === undefined ? {} : { folder }) })
}

/** The leads of the copy that are not deleted, as `id name status`. */
async function copied({ store }: Syncing): Promise<string[]> {
  const rows = await store.db
    .selectFrom('lead')
    .where('deleted_at', 'is', null)
    .select(['id', 'company_name', 'status'])
    .orderBy('id')
    .execute()
  return rows.map((row) => `${row.id} ${row.company_name} ${row.status}`)
}

function offered({ leads }: Vendor, { profile }: Dialect): string[] {
  const idOf = (id: string): string => (profile.name === 'copper' ? id.slice(1) : id)
  return [...leads.values()].map(({ id, name, status }) => `${idOf(id)} ${name} ${status}`).sort()
}

const options = { parts: ['leads'], pageSize: PAGE } as const

describe.each(Object.entries(DIALECTS))('a list by POST as of %s', (_, dialect) => {
  it('is copied, and so are changes, additions and removals', async () => {
    await using vendor = await startVendor(dialect, 95)
    await using copy = await openCopy(vendor, dialect)
    expect((await copy.sync(options)).scan).toMatchObject({ mode: 'full', result: 'complete', distinct: 95 })
    expect(await copied(copy)).toEqual(offered(vendor, dialect))
    expect(vendor.bodies[0]).toMatchObject(Object(dialect.profile.request?.body))

    copy.clock.now = new Date('2026-11-21T07:00:00Z')
    const now = '2026-11-21T06:30:00.000Z'
    const [first, second, third] = [...vendor.leads.values()]
    if (first === undefined || second === undefined || third === undefined) throw new Error('no leads')
    vendor.leads.set(first.id, { ...first, status: 'won', updated: now })
    vendor.leads.set('l200000', { ...second, id: 'l200000', name: 'New', created: now, updated: now })
    const asked = vendor.bodies.length
    const changes = await copy.sync(options)
    expect(changes.problems).toEqual([])
    expect(await copied(copy)).toEqual(offered(vendor, dialect))
    if (dialect.profile.filters?.updated_since !== undefined) {
      expect(changes.scan).toMatchObject({ mode: 'incremental', result: 'complete' })
      expect(vendor.bodies.length - asked).toBeLessThanOrEqual(2)
    }

    vendor.leads.delete(third.id)
    for (const full of [true, true]) {
      copy.clock.now = new Date(copy.clock.now.getTime() + 3_600_000)
      expect((await copy.sync({ ...options, full })).scan).toMatchObject({ result: 'complete' })
    }
    expect(await copied(copy)).toEqual(offered(vendor, dialect))
  })

  it('goes on where it was after an interruption, and is read again after a failure', async () => {
    await using vendor = await startVendor(dialect, 95)
    const stop = new AbortController()
    vendor.before = (_, request) => {
      if (request === 2) return { status: 503, body: {} }
      if (request === 4) stop.abort(new Error('killed'))
      return null
    }
    const first = await openCopy(vendor, dialect)
    expect((await first.sync({ ...options, signal: stop.signal })).scan?.stop).toBe('interrupted')
    expect((await copied(first)).length).toBeGreaterThan(0)
    await first[Symbol.asyncDispose]()
    const [begin] = vendor.bodies
    vendor.before = () => null
    vendor.bodies.length = 0
    await using copy = await openCopy(vendor, dialect, first.folder)
    expect((await copy.sync(options)).scan).toMatchObject({ result: 'complete', distinct: 95 })
    expect(await copied(copy)).toEqual(offered(vendor, dialect))
    expect(vendor.bodies[0]).not.toEqual(begin)
  })
})
