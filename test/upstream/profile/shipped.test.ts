/**
 * The shipped profiles, each against a server in the dialect of its vendor: a copy that is killed and goes on,
 * changes, additions and removals.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Profile, parseProfile } from '../../../src/upstream/profile/profile.ts'
import { DIALECTS } from '../../support/source/vendors/dialects.ts'
import {
  type Copied,
  type Dialect,
  KEY,
  type Kept,
  keptOf,
  SECRET,
  startVendor,
  type Vendor,
} from '../../support/source/vendors/vendor.ts'
import { openSyncing, type Syncing } from '../../support/syncing.ts'

const FOLDER = join(import.meta.dirname, '../../../profiles')
const options = { parts: ['leads'], pageSize: 20 } as const

function openCopy(vendor: Vendor, profile: Profile, folder?: string): Promise<Syncing> {
  const source = { profile, secret: SECRET }
  return openSyncing(vendor.url, KEY, { source, ...(folder === undefined ? {} : { folder }) })
}

async function copied({ store, source }: Syncing): Promise<Copied[]> {
  const rows = await store.db
    .selectFrom('lead')
    .where('deleted_at', 'is', null)
    .select(['id', 'status', 'company_name', 'contact_name', 'value_amount', 'owner', 'pipeline_id'])
    .select(['created_at', 'updated_at'])
    .orderBy('created_at')
    .execute()
  // Where the vendor tells no time of change, it is the time at which the copy saw it.
  if (source.profile.mapping.lead.updated_at !== undefined) return rows
  return rows.map((row) => ({ ...row, updated_at: null }))
}

function offered({ records }: Vendor, dialect: Dialect): Copied[] {
  const kept = [...records.values()].filter(({ isDeleted }) => !isDeleted)
  return kept.map((record) => ({ ...columnsOf(record), ...dialect.copied(record) }))
}

const columnsOf = (kept: Kept): Copied => ({
  id: kept.id,
  status: kept.status,
  company_name: kept.company,
  contact_name: kept.contact,
  value_amount: kept.value,
  owner: kept.owner,
  pipeline_id: kept.pipeline,
  created_at: kept.created,
  updated_at: kept.updated,
})

test.each(DIALECTS.map((dialect) => [dialect.profile, dialect] as const))('%s', async (file, dialect) => {
  const shipped = parseProfile(parse(readFileSync(join(FOLDER, `${file}.yaml`), 'utf8')), file)
  // The servers take as many requests a second as there are.
  const profile = { ...shipped, limits: { ...shipped.limits, requests_per_second: undefined } }
  const stages = new Set(profile.stages.map(({ status }) => status))
  await using vendor = await startVendor(dialect, 95)
  const stop = new AbortController()
  vendor.before = (request) => {
    if (request === 3) stop.abort(new Error('killed'))
  }
  const first = await openCopy(vendor, profile)
  expect((await first.sync({ ...options, signal: stop.signal })).scan?.stop).toBe('interrupted')
  await first[Symbol.asyncDispose]()
  vendor.before = () => undefined

  await using copy = await openCopy(vendor, profile, first.folder)
  const whole = await copy.sync(options)
  expect(whole.problems).toEqual([])
  expect(whole.scan).toMatchObject({ mode: 'full', result: 'complete', distinct: 95 })
  expect(await copied(copy)).toEqual(offered(vendor, dialect))
  const unknown = (await copied(copy)).filter(({ status }) => stages.size > 0 && !stages.has(status))
  expect(unknown).toEqual([])

  copy.clock.now = new Date('2026-11-21T07:00:00Z')
  const updated = '2026-11-21T06:30:00.000Z'
  const [one, other] = [keptOf(5, dialect), keptOf(90, dialect)]
  const status = dialect.statuses.at(-1) ?? ''
  vendor.records.set(5, { ...one, status, company: 'Renamed', value: 7.5, owner: 'Mary Lee', updated })
  vendor.records.set(90, { ...other, contact: 'Ada King', pipeline: '2', updated })
  vendor.records.set(200, { ...keptOf(200, dialect), created: updated, updated })
  const changes = await copy.sync(options)
  expect(changes.problems).toEqual([])
  const read =
    profile.filters.updated_since === undefined
      ? { mode: 'full', distinct: 96 }
      : { mode: 'incremental', distinct: 3 }
  expect(changes.scan).toMatchObject({ ...read, result: 'complete' })
  expect(await copied(copy)).toEqual(offered(vendor, dialect))

  for (const number of [7, 8]) {
    vendor.records.set(number, {
      ...keptOf(number, dialect),
      isDeleted: true,
      updated: '2026-11-21T07:30:00.000Z',
    })
  }
  for (const full of [true, true]) {
    copy.clock.now = new Date(copy.clock.now.getTime() + 3_600_000)
    expect((await copy.sync({ ...options, full })).scan).toMatchObject({ result: 'complete' })
  }
  expect(await copied(copy)).toEqual(offered(vendor, dialect))
})
