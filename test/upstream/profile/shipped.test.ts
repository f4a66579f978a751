/**
 * The shipped profiles, and some of searches and of GraphQL, each against a server in the dialect of its vendor: a copy
 * that is killed and goes on, changes, additions and removals.
 */
import { expect, test } from 'vitest'
import { KEY } from '../../support/source/foreign.ts'
import { DIALECTS, NOT_SHIPPED } from '../../support/source/vendors/dialects.ts'
import {
  copiedTo,
  keptOf,
  nameOf,
  offered,
  profileOf,
  refused,
  SECRET,
  startVendor,
} from '../../support/source/vendors/vendor.ts'
import { openSyncing } from '../../support/syncing.ts'

const options = { parts: ['leads'], pageSize: 20 } as const

const CASES = [...DIALECTS, ...NOT_SHIPPED].map((dialect) => [nameOf(dialect), dialect] as const)

test.each(CASES)('%s', async (_, dialect) => {
  const profile = profileOf(dialect)
  const stages = new Set(profile.stages.map(({ status }) => status))
  await using vendor = await startVendor(dialect, 95)
  const openCopy = (folder?: string) =>
    openSyncing(vendor.url, KEY, { source: { profile, secret: SECRET }, ...(folder && { folder }) })
  const stop = new AbortController()
  vendor.before = (request) => {
    if (request === 2) return refused('try again', 503)
    if (request === 5) stop.abort(new Error('killed'))
    return null
  }
  const first = await openCopy()
  expect((await first.sync({ ...options, signal: stop.signal })).scan?.stop).toBe('interrupted')
  expect((await copiedTo(first.store, profile)).length).toBeGreaterThan(0)
  await first[Symbol.asyncDispose]()
  const places = () => vendor.asked.map(({ path, query, body }) => `${path}?${query} ${JSON.stringify(body)}`)
  const [begin] = places()
  expect(vendor.asked[0]?.body ?? {}).toMatchObject(profile.request?.body ?? {})
  vendor.asked.length = 0
  vendor.before = () => null

  await using copy = await openCopy(first.folder)
  const copied = () => copiedTo(copy.store, profile)
  const whole = await copy.sync(options)
  expect(whole.problems).toEqual([])
  expect(whole.scan).toMatchObject({ mode: 'full', result: 'complete', distinct: 95 })
  expect(await copied()).toEqual(offered(vendor, dialect))
  // The copy goes on where it was.
  expect(places()[0]).not.toBe(begin)
  const unknown = (await copied()).filter(({ status }) => stages.size > 0 && !stages.has(status))
  expect(unknown).toEqual([])
  const lead = offered(vendor, dialect)[5]
  if (profile.endpoints.lead !== 'none' && lead !== undefined) {
    const { id, status, owner, company_name: companyName, value_amount: valueAmount } = lead
    const single = await copy.source.fetchSingleLead(id)
    expect(single.lead).toMatchObject({ id, status, companyName, valueAmount, owner })
  }

  copy.clock.now = new Date('2026-11-21T07:00:00Z')
  const updated = '2026-11-21T06:30:00.000Z'
  const status = dialect.statuses.at(-1) ?? ''
  const [one, other] = [keptOf(5, dialect), keptOf(90, dialect)]
  vendor.records.set(5, { ...one, status, company: 'Renamed', value: 7.5, owner: 'Mary Lee', updated })
  vendor.records.set(90, { ...other, contact: 'Ada King', pipeline: '2', updated })
  vendor.records.set(200, { ...keptOf(200, dialect), created: updated, updated })
  vendor.asked.length = 0
  const changes = await copy.sync(options)
  expect(changes.problems).toEqual([])
  const isIncremental = profile.filters.updated_since !== undefined
  const read = isIncremental ? { mode: 'incremental', distinct: 3 } : { mode: 'full', distinct: 96 }
  expect(changes.scan).toMatchObject({ ...read, result: 'complete' })
  if (isIncremental) expect(vendor.asked.length).toBeLessThanOrEqual(2)
  expect(await copied()).toEqual(offered(vendor, dialect))

  for (const number of [7, 8]) {
    const at = '2026-11-21T07:30:00.000Z'
    vendor.records.set(number, { ...keptOf(number, dialect), isDeleted: true, updated: at })
  }
  for (const full of [true, true]) {
    copy.clock.now = new Date(copy.clock.now.getTime() + 3_600_000)
    expect((await copy.sync({ ...options, full })).scan).toMatchObject({ result: 'complete' })
  }
  expect(await copied()).toEqual(offered(vendor, dialect))
})
