/** Searches that end after some records, read as a chain of searches by time. */
import { describe, expect, it } from 'vitest'
import { type Profile, parseProfile } from '../../../src/upstream/profile/profile.ts'
import { countCases, random, SEED_OF_TODAY } from '../../support/random.ts'
import {
  COPPER,
  type Dialect,
  HUBSPOT,
  NOTION,
  startVendor,
  VENDOR_KEY,
  type Vendor,
  type VendorLead,
  vendorLead,
} from '../../support/source/post-dialects.ts'
import { openSyncing, type Syncing } from '../../support/syncing.ts'

const CAP = 60
const PAGE = 20
const options = { parts: ['leads'], pageSize: PAGE } as const
const SEARCHES = { HubSpot: HUBSPOT, Copper: COPPER, Notion: NOTION }

function profileOf({ profile }: Dialect, searchRecords: number | null = CAP): Profile {
  const limits = searchRecords === null ? {} : { search_records: searchRecords }
  return parseProfile({ ...profile, limits }, 'test')
}

function openCopy(vendor: Vendor, profile: Profile, folder?: string): Promise<Syncing> {
  return openSyncing(vendor.url, VENDOR_KEY, {
    source: { profile },
    ...(folder === undefined ? {} : { folder }),
  })
}

async function copied({ store }: Syncing): Promise<Map<string, string>> {
  const rows = await store.db
    .selectFrom('lead')
    .where('deleted_at', 'is', null)
    .select(['id', 'status'])
    .execute()
  return new Map(rows.map(({ id, status }) => [id.replace(/^l/, ''), status]))
}

function offered({ leads }: Vendor): Map<string, string> {
  return new Map([...leads.values()].map(({ id, status }) => [id.slice(1), status]))
}

/** Sets the time of change of some leads to one instant. */
function changeAtOnce({ leads }: Vendor, count: number, instant: string): void {
  for (const lead of [...leads.values()].slice(0, count)) leads.set(lead.id, { ...lead, updated: instant })
}

describe.each(Object.entries(SEARCHES))('a search of %s that ends', (name, dialect) => {
  it('is followed by others, up to the end of the list', async () => {
    await using vendor = await startVendor(dialect, 500, CAP)
    await using copy = await openCopy(vendor, profileOf(dialect))
    expect((await copy.sync(options)).scan).toMatchObject({ mode: 'full', result: 'complete', distinct: 500 })
    expect(await copied(copy)).toEqual(offered(vendor))
    expect(vendor.bodies.length).toBeLessThan(40)
  })

  it('is not the end of the list where nobody says where it ends', async () => {
    await using vendor = await startVendor(dialect, 500, CAP)
    await using copy = await openCopy(vendor, profileOf(dialect, null))
    const { scan } = await copy.sync(options)
    // Copper leaves the rest out without a word.
    expect(scan?.result).toBe(name === 'Copper' ? 'complete' : 'incomplete')
  })

  it('goes on with the same search through leads of one time, and tells of too many', async () => {
    await using vendor = await startVendor(dialect, 300, CAP)
    const instant = '2026-11-05T12:00:00.000Z'
    changeAtOnce(vendor, 50, instant)
    await using copy = await openCopy(vendor, profileOf(dialect))
    expect((await copy.sync(options)).scan).toMatchObject({ result: 'complete', distinct: 300 })
    expect(await copied(copy)).toEqual(offered(vendor))
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
    vendor.before = (_, request) => {
      if (request === 14) stop.abort(new Error('killed'))
      return null
    }
    const first = await openCopy(vendor, profileOf(dialect))
    await first.sync({ ...options, signal: stop.signal })
    const begun = (await copied(first)).size
    await first[Symbol.asyncDispose]()
    vendor.bodies.length = 0
    vendor.before = () => null
    await using copy = await openCopy(vendor, profileOf(dialect), first.folder)
    expect((await copy.sync(options)).scan).toMatchObject({ result: 'complete', distinct: 500 })
    expect(await copied(copy)).toEqual(offered(vendor))
    expect(begun).toBeGreaterThan(100)
    expect(vendor.bodies.length).toBeLessThan(30)
  })
})

describe('a chain of searches', () => {
  it('is read again if a lead changes in a search of several pages, which moves others past its pages', async () => {
    await using vendor = await startVendor(HUBSPOT, 300, CAP)
    changeAtOnce(vendor, 50, '2026-10-15T12:00:00.000Z')
    const [first] = vendor.leads.values()
    vendor.before = (body) => {
      if (first !== undefined && body.after === '40')
        vendor.leads.set(first.id, { ...first, updated: '2026-11-21T06:00:01.000Z' })
      return null
    }
    await using copy = await openCopy(vendor, profileOf(HUBSPOT))
    expect((await copy.sync(options)).scan).toMatchObject({ result: 'complete', passes: 2, distinct: 300 })
    expect(await copied(copy)).toEqual(offered(vendor))
  })

  it('gives the changes alone, also more than a search has', async () => {
    await using vendor = await startVendor(HUBSPOT, 300, CAP)
    await using copy = await openCopy(vendor, profileOf(HUBSPOT))
    await copy.sync(options)
    copy.clock.now = new Date('2026-11-21T08:00:00Z')
    for (const [index, lead] of [...vendor.leads.values()].slice(0, 150).entries()) {
      const updated = new Date(Date.parse('2026-11-21T07:00:00Z') + index * 700).toISOString()
      vendor.leads.set(lead.id, { ...lead, status: 'won', updated })
    }
    const { scan, leads } = await copy.sync(options)
    expect(scan).toMatchObject({ mode: 'incremental', result: 'complete' })
    expect(leads.updated).toBe(150)
    expect(await copied(copy)).toEqual(offered(vendor))
  })

  it.each<readonly [string, (all: VendorLead) => VendorLead, object, RegExp]>([
    [
      'is refused if the list has another order',
      (lead) => lead,
      { request: { method: 'POST', body: {} } },
      /not in the order of change/,
    ],
    [
      'is refused if the filter is ignored',
      (lead) => lead,
      { filters: { updated_since: { param: 'query', value: 'x' } } },
      /in a search for changes since/,
    ],
  ])('%s', async (_, change, parts, message) => {
    await using vendor = await startVendor(HUBSPOT, 200, CAP)
    for (const lead of vendor.leads.values()) vendor.leads.set(lead.id, change(lead))
    const profile = parseProfile({ ...HUBSPOT.profile, ...parts, limits: { search_records: CAP } }, 'test')
    await using copy = await openCopy(vendor, profile)
    const { problems, scan } = await copy.sync(options)
    expect(scan?.result).toBe('incomplete')
    expect(problems[0]?.message).toMatch(message)
  })

  it('that leaves out a time is not believed', async () => {
    await using vendor = await startVendor(HUBSPOT, 200, CAP)
    // The upstream reads the time of the filter in another zone.
    const value = [{ filters: [{ propertyName: 'lastmodifieddate', operator: 'GTE', value: '{value}' }] }]
    vendor.before = (body) => {
      const filter = Reflect.get(Object(body), 'filterGroups')?.[0]?.filters?.[0]
      if (filter !== undefined) filter.value += 8 * 3_600_000
      return null
    }
    const filters = { updated_since: { param: 'filterGroups', format: 'epoch_ms' as const, value } }
    const limits = { search_records: CAP }
    const profile = parseProfile(
      { ...HUBSPOT.profile, paging: { ...HUBSPOT.profile.paging, total: undefined }, filters, limits },
      'test',
    )
    await using copy = await openCopy(vendor, profile)
    const { scan, problems } = await copy.sync(options)
    expect(scan?.result).toBe('unproven')
    expect(problems[0]?.hint).toContain('the time zone in which it is read')
  })

  it('needs a filter by time and the time of each lead', () => {
    const parts = { ...HUBSPOT.profile, filters: {}, limits: { search_records: CAP } }
    expect(() => parseProfile(parts, 'test')).toThrow(
      /limits.search_records: found 60, expected a list that can be asked/,
    )
  })
})

const CASES = countCases(12, 200)

describe('leads that come, change and go while searches follow one another', () => {
  it(`are all there in the end: ${CASES} lists (SEED=${SEED_OF_TODAY})`, async () => {
    const results: Record<string, number> = {}
    for (let seed = SEED_OF_TODAY; seed < SEED_OF_TODAY + CASES; seed++) {
      const next = random(seed)
      const [name = '', dialect = HUBSPOT] = Object.entries(SEARCHES)[seed % 3] ?? []
      await using vendor = await startVendor(dialect, 100 + Math.floor(next() * 200), CAP)
      const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(next() * list.length)]
      // Some changes were made by a bulk update at one time, of more leads than a page has.
      if (next() < 0.5) changeAtOnce(vendor, 10 + Math.floor(next() * 40), '2026-11-05T12:00:00.000Z')
      await using copy = await openCopy(vendor, profileOf(dialect))
      copy.clock.now = new Date('2026-11-25T06:00:00Z')
      let ticks = 0
      const before = new Map(vendor.leads)
      const gone = new Set<string>()
      vendor.before = () => {
        if (next() > 0.5) return null
        ticks++
        const updatedMs = copy.clock.now.getTime() + 1000
        copy.clock.now = new Date(updatedMs)
        const lead = pick([...vendor.leads.values()])
        const dice = next()
        if (lead === undefined) return null
        if (dice < 0.6)
          vendor.leads.set(lead.id, {
            ...lead,
            status: `s${ticks}`,
            updated: new Date(updatedMs).toISOString(),
          })
        else if (dice < 0.8) {
          const fresh = vendorLead(10_000 + ticks, updatedMs)
          vendor.leads.set(fresh.id, fresh)
        } else {
          vendor.leads.delete(lead.id)
          gone.add(lead.id)
        }
        return null
      }
      const { scan, problems } = await copy.sync(options)
      const result = scan?.result ?? 'none'
      results[`${name} ${result}`] = (results[`${name} ${result}`] ?? 0) + 1
      expect(problems.length === 0, `seed ${seed}: ${problems[0]?.message}`).toBe(result === 'complete')
      vendor.before = () => null
      const stored = await copied(copy)
      if (result === 'complete') {
        const missing = [...before.keys()].filter((id) => !gone.has(id) && !stored.has(id.slice(1)))
        // Without a total, a removal from a search of several pages can hide another lead for one scan.
        const isHidden = name !== 'HubSpot' && gone.size > 0
        if (!isHidden) expect(missing, `seed ${seed}, ${name}`).toEqual([])
      }
      // What has changed meanwhile is there after the next sync.
      copy.clock.now = new Date('2026-11-25T07:00:00Z')
      for (let time = 0; time < 2; time++) await copy.sync({ ...options, full: true })
      expect(await copied(copy), `seed ${seed}, ${name}`).toEqual(offered(vendor))
    }
    expect(Object.entries(results).filter(([name]) => name.endsWith('complete')).length).toBeGreaterThan(0)
  })
})
