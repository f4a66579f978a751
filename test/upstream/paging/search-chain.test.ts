/** Searches that end after some records, read as a chain of searches by time. */
import { describe, expect, it } from 'vitest'
import type { Profile } from '../../../src/upstream/profile/profile.ts'
import { countCases, random, SEED_OF_TODAY } from '../../support/random.ts'
import { KEY } from '../../support/source/foreign.ts'
import { COPPER } from '../../support/source/vendors/copper.ts'
import { HUBSPOT_SEARCH as HUBSPOT } from '../../support/source/vendors/hubspot.ts'
import { NOTION } from '../../support/source/vendors/notion.ts'
import {
  copiedTo,
  type Dialect,
  keptOf,
  offered,
  profileOf,
  SECRET,
  startVendor,
  type Vendor,
} from '../../support/source/vendors/vendor.ts'
import { openSyncing, type Syncing } from '../../support/syncing.ts'

const CAP = 60
const options = { parts: ['leads'], pageSize: 20 } as const
const SEARCHES = { HubSpot: HUBSPOT, Copper: COPPER, Notion: NOTION }
const limits = { search_records: CAP }

function openCopy(vendor: Vendor, profile: Profile, folder?: string): Promise<Syncing> {
  return openSyncing(vendor.url, KEY, { source: { profile, secret: SECRET }, ...(folder && { folder }) })
}

async function expectAll(copy: Syncing, vendor: Vendor, dialect: Dialect, message?: string): Promise<void> {
  expect(await copiedTo(copy.store, copy.source.profile), message).toEqual(offered(vendor, dialect))
}

/** Sets the time of change of some leads to one instant. */
function changeAtOnce({ records }: Vendor, count: number, updated: string): void {
  for (const kept of [...records.values()].slice(0, count)) records.set(kept.number, { ...kept, updated })
}

describe.each(Object.entries(SEARCHES))('a search of %s that ends', (name, dialect) => {
  it('is not the end of the list where nobody says where it ends', async () => {
    await using vendor = await startVendor(dialect, 500, CAP)
    await using copy = await openCopy(vendor, profileOf(dialect, { limits: {} }))
    const { scan } = await copy.sync(options)
    // Copper leaves the rest out without a word.
    expect(scan?.result).toBe(name === 'Copper' ? 'complete' : 'incomplete')
  })

  it('is followed by others up to the end of the list, through leads of one time too, and tells of too many', async () => {
    await using vendor = await startVendor(dialect, 300, CAP)
    const instant = '2026-11-05T12:00:00.000Z'
    changeAtOnce(vendor, 35, instant)
    await using copy = await openCopy(vendor, profileOf(dialect, { limits }))
    const followed = { mode: 'full', result: 'complete', distinct: 300 }
    expect((await copy.sync(options)).scan).toMatchObject(followed)
    expect(vendor.asked.length).toBeLessThan(40)
    await expectAll(copy, vendor, dialect)
    changeAtOnce(vendor, 90, instant)
    const { scan, problems } = await copy.sync({ ...options, full: true })
    expect(scan?.result).toBe('incomplete')
    expect(problems[0]?.message).toMatch(
      /has 60 leads or more that changed at one time since 2026-11-05T1[12]:/,
    )
  })

  it('is followed from where it was after a kill', async () => {
    await using vendor = await startVendor(dialect, 500, CAP)
    const stop = new AbortController()
    vendor.before = (request) => {
      if (request === 14) stop.abort(new Error('killed'))
      return null
    }
    const first = await openCopy(vendor, profileOf(dialect, { limits }))
    await first.sync({ ...options, signal: stop.signal })
    const begun = (await copiedTo(first.store, first.source.profile)).length
    await first[Symbol.asyncDispose]()
    vendor.asked.length = 0
    vendor.before = () => null
    await using copy = await openCopy(vendor, profileOf(dialect, { limits }), first.folder)
    expect((await copy.sync(options)).scan).toMatchObject({ result: 'complete', distinct: 500 })
    await expectAll(copy, vendor, dialect)
    expect(begun).toBeGreaterThan(100)
    expect(vendor.asked.length).toBeLessThan(50)
  })
})

describe('a chain of searches', () => {
  it('is read again if a lead changes in a search of several pages, which moves others past its pages', async () => {
    await using vendor = await startVendor(HUBSPOT, 300, CAP)
    changeAtOnce(vendor, 50, '2026-10-15T12:00:00.000Z')
    const [first] = vendor.records.values()
    vendor.before = (_, { body }) => {
      if (first !== undefined && body.after === '40')
        vendor.records.set(first.number, { ...first, updated: '2026-11-21T06:00:01.000Z' })
      return null
    }
    await using copy = await openCopy(vendor, profileOf(HUBSPOT, { limits }))
    expect((await copy.sync(options)).scan).toMatchObject({ result: 'complete', passes: 2, distinct: 300 })
    await expectAll(copy, vendor, HUBSPOT)
  })

  it('gives the changes alone, also more than a search has', async () => {
    await using vendor = await startVendor(HUBSPOT, 300, CAP)
    await using copy = await openCopy(vendor, profileOf(HUBSPOT, { limits }))
    await copy.sync(options)
    copy.clock.now = new Date('2026-11-21T08:00:00Z')
    for (const [index, kept] of [...vendor.records.values()].slice(0, 150).entries()) {
      const updated = new Date(Date.parse('2026-11-21T07:00:00Z') + index * 700).toISOString()
      vendor.records.set(kept.number, { ...kept, status: 'customer', updated })
    }
    const { scan, leads } = await copy.sync(options)
    expect(scan).toMatchObject({ mode: 'incremental', result: 'complete' })
    expect(leads.updated).toBe(150)
    await expectAll(copy, vendor, HUBSPOT)
  })

  it('is read on and not believed if the order is ignored, although each page by itself is in order', async () => {
    await using vendor = await startVendor(HUBSPOT, 200, CAP)
    for (const kept of vendor.records.values()) {
      // The last leads of the second page.
      const updated = Math.abs(kept.number - 37) < 3 ? '2026-11-20T06:00:00.000Z' : kept.created
      vendor.records.set(kept.number, { ...kept, updated })
    }
    await using copy = await openCopy(vendor, profileOf(HUBSPOT, { request: { method: 'POST' }, limits }))
    expect((await copy.sync(options)).scan).toMatchObject({ result: 'unproven', distinct: 200 })
  })

  it.each([
    [
      'another order',
      { request: { method: 'POST', body: { properties: ['company'] } } } as const,
      /not in the order of change/,
    ],
    [
      'an order, but ignores the filter',
      { filters: { updated_since: { param: 'query', value: 'x' } } },
      /in a search for changes since/,
    ],
  ])('is refused if the list has %s', async (_, parts, message) => {
    await using vendor = await startVendor(HUBSPOT, 200, CAP)
    await using copy = await openCopy(vendor, profileOf(HUBSPOT, { ...parts, limits }))
    const { problems, scan } = await copy.sync(options)
    expect(scan?.result).toBe('incomplete')
    expect(problems[0]?.message).toMatch(message)
  })

  it('that leaves out a time is not believed', async () => {
    await using vendor = await startVendor(HUBSPOT, 200, CAP)
    // The upstream reads the time of the filter in another zone.
    vendor.before = (_, { body }) => {
      const filter = body.filterGroups?.[0]?.filters?.[0]
      if (filter !== undefined) filter.value += 8 * 3_600_000
      return null
    }
    const { paging } = profileOf(HUBSPOT)
    const profile = { ...profileOf(HUBSPOT, { limits }), paging: { ...paging, total: undefined } }
    await using copy = await openCopy(vendor, profile)
    const { scan, problems } = await copy.sync(options)
    expect(scan?.result).toBe('unproven')
    expect(problems[0]?.hint).toContain('the time zone in which it is read')
  })
})

const CASES = countCases(12, 200)

it(`leads that come, change and go while searches follow one another are all there in the end: ${CASES} lists (SEED=${SEED_OF_TODAY})`, async () => {
  const results: Record<string, number> = {}
  for (let seed = SEED_OF_TODAY; seed < SEED_OF_TODAY + CASES; seed++) {
    const next = random(seed)
    const [name = '', dialect = HUBSPOT] = Object.entries(SEARCHES)[seed % 3] ?? []
    await using vendor = await startVendor(dialect, 100 + Math.floor(next() * 200), CAP)
    const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(next() * list.length)]
    // Some changes were made by a bulk update at one time, of more leads than a page has.
    if (next() < 0.5) changeAtOnce(vendor, 10 + Math.floor(next() * 25), '2026-11-05T12:00:00.000Z')
    await using copy = await openCopy(vendor, profileOf(dialect, { limits }))
    copy.clock.now = new Date('2026-11-25T06:00:00Z')
    let ticks = 0
    const before = [...vendor.records.values()]
    const gone = new Set<number>()
    vendor.before = () => {
      if (next() > 0.5) return null
      ticks++
      copy.clock.now = new Date(copy.clock.now.getTime() + 1000)
      const updated = copy.clock.now.toISOString()
      const kept = pick([...vendor.records.values()])
      const dice = next()
      if (kept === undefined) return null
      if (dice < 0.6) vendor.records.set(kept.number, { ...kept, status: `s${ticks}`, updated })
      else if (dice < 0.8) {
        const fresh = { ...keptOf(10_000 + ticks, dialect), updated }
        vendor.records.set(fresh.number, fresh)
      } else {
        vendor.records.delete(kept.number)
        gone.add(kept.number)
      }
      return null
    }
    const { scan, problems } = await copy.sync(options)
    const result = scan?.result ?? 'none'
    results[`${name} ${result}`] = (results[`${name} ${result}`] ?? 0) + 1
    expect(problems.length === 0, `seed ${seed}: ${problems[0]?.message}`).toBe(result === 'complete')
    vendor.before = () => null
    if (result === 'complete') {
      const stored = new Set((await copiedTo(copy.store, copy.source.profile)).map(({ id }) => id))
      const kept = before.filter(({ number }) => !gone.has(number))
      const missing = kept.filter((each) => !stored.has(dialect.copied(each).id ?? each.id))
      // A removal from a search of several pages can hide another lead for one scan, unless the total shows it.
      const hasCome = [...vendor.records.keys()].some((number) => number >= 10_000)
      const isHidden = gone.size > 0 && (name !== 'HubSpot' || hasCome)
      if (!isHidden) expect(missing, `seed ${seed}, ${name}`).toEqual([])
    }
    // Changes made meanwhile are there after the next sync.
    copy.clock.now = new Date('2026-11-25T07:00:00Z')
    for (let time = 0; time < 2; time++) await copy.sync({ ...options, full: true })
    await expectAll(copy, vendor, dialect, `seed ${seed}, ${name}`)
  }
  expect(Object.entries(results).filter(([name]) => name.endsWith('complete')).length).toBeGreaterThan(0)
})
