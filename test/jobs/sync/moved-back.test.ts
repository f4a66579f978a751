// @both-stores
import { describe, expect, it } from 'vitest'
import type { WireLead } from '../../../src/contract/lead.ts'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { generateLead } from '../../bench/generate.ts'
import { openListing, PAGE, paged, records } from '../../support/source/listing.ts'
import { openWorld, type Syncing } from '../../support/syncing.ts'
import { body, status } from '../../support/upstream.ts'

const LEADS = 30
const CREATED = '2026-11-01T00:00:00.000Z'
/** The scans read at 06:00, 07:00 and so on of this day. */
const DAY = '2026-11-21'
const HOUR_MS = 3_600_000

type Change = Partial<WireLead>
const at = (time: string): Change => ({ updated_at: time, status_changed_at: time })

const company = (name: string): WireLead['company'] => ({ ...generateLead(3).company, name })

/** A lead as the upstream gave it first, and as it gives it later, with an earlier time. */
interface Kind {
  readonly kind: string
  readonly first: Change
  readonly later: Change
  /** The statuses of the lead by its history, in order. */
  readonly history: readonly string[]
}

const KINDS: readonly Kind[] = [
  {
    kind: 'an upstream restored from a backup',
    first: { status: 'won', ...at(`${DAY}T05:00:00.000Z`) },
    later: { status: 'discovered', ...at('2026-11-20T09:00:00.000Z') },
    history: [`won ${DAY}T05:00:00.000Z`, `discovered ${DAY}T07:00:00.000Z`],
  },
  {
    kind: 'a date of 2099 that was corrected',
    first: { status: 'won', ...at('2099-01-01T00:00:00.000Z') },
    later: { status: 'won', ...at(`${DAY}T05:00:00.000Z`) },
    history: [`won ${DAY}T05:00:00.000Z`],
  },
  {
    kind: 'a date of 2099 that was corrected by a change',
    first: { status: 'won', ...at('2099-01-01T00:00:00.000Z') },
    later: { status: 'lost', ...at(`${DAY}T06:30:00.000Z`) },
    history: [`won ${DAY}T06:00:00.000Z`, `lost ${DAY}T06:30:00.000Z`],
  },
  {
    kind: 'a field without a history that was undone',
    first: {
      status: 'discovered',
      company: { name: 'Wrong' } as WireLead['company'],
      ...at(`${DAY}T05:00:00.000Z`),
    },
    later: { status: 'discovered', company: company('Right'), ...at(`${DAY}T04:00:00.000Z`) },
    history: [`discovered ${DAY}T04:00:00.000Z`],
  },
]

/** Opens a copy of 30 leads, of which number 3 is as in `first`. */
async function openMoved(first: Change) {
  const { upstream, syncing } = await openWorld(LEADS)
  const { id } = upstream.put(3, { created_at: CREATED, ...first })
  await syncing.sync({ full: true, parts: ['leads'] })
  /** Reads the list an hour after the last scan. */
  const scan = (full: boolean) => {
    syncing.clock.now = new Date(syncing.clock.now.getTime() + HOUR_MS)
    return syncing.sync({ full, parts: ['leads'] })
  }
  return { upstream, syncing, id, scan }
}

async function readCopy({ store }: Syncing, id: string) {
  const row = await store.db.selectFrom('lead').where('id', '=', id).selectAll().executeTakeFirstOrThrow()
  const versions = await store.db
    .selectFrom('lead_version')
    .where('lead_id', '=', id)
    .orderBy('valid_from')
    .selectAll()
    .execute()
  return { row, versions }
}

/** Checks that the row of the lead and its history say the same. */
async function expectAgreement(syncing: Syncing, id: string): Promise<void> {
  const now = syncing.clock.now.toISOString()
  expect(await findViolations(syncing.store.db, now, 'all')).toEqual([])
  const { row, versions } = await readCopy(syncing, id)
  const present = versions.find(({ valid_from, valid_to }) => valid_from <= now && (valid_to ?? '9') > now)
  expect(present).toMatchObject({ status: row.status, valid_to: null })
}

const OLDER = expect.stringMatching(/^1 lead is older in the list than in the copy/)

describe('a lead whose time of update moved back', () => {
  it.each(KINDS)('is as a complete full scan says, and its history with it: $kind', async (one) => {
    const world = await openMoved(one.first)
    const { upstream, syncing, id } = world
    const sent = upstream.put(3, { created_at: CREATED, ...one.later })
    const { scan, leads, outcome } = await world.scan(true)
    expect(scan).toMatchObject({ result: 'complete', warnings: [OLDER] })
    expect({ leads, outcome }).toMatchObject({
      leads: { seen: 30, updated: 1, unchanged: 29 },
      outcome: 'ok',
    })
    const { row, versions } = await readCopy(syncing, id)
    const { status, updated_at, company_name } = row
    expect({ status, updated_at, company_name }).toEqual({
      status: sent.status,
      updated_at: sent.updated_at,
      company_name: sent.company.name,
    })
    expect(versions.map((version) => `${version.status} ${version.valid_from}`)).toEqual(one.history)
    await expectAgreement(syncing, id)

    expect(await world.scan(true)).toMatchObject({ outcome: 'ok_no_change', scan: { warnings: [] } })
    upstream.put(3, { created_at: CREATED, status: 'disqualified', ...at(`${DAY}T08:30:00.000Z`) })
    expect(await world.scan(false)).toMatchObject({ leads: { updated: 1 } })
    expect((await readCopy(syncing, id)).row.status).toBe('disqualified')
    await expectAgreement(syncing, id)
  })

  const WON: Change = { status: 'won', ...at(`${DAY}T05:00:00.000Z`) }
  const OLD: Change = { status: 'contacted', ...at('2026-01-02T00:00:00.000Z') }

  it('stays as it is after a scan of changes', async () => {
    const world = await openMoved(WON)
    world.upstream.put(3, { created_at: CREATED, status: 'contacted', ...at(`${DAY}T04:55:00.000Z`) })
    const { scan, outcome } = await world.scan(false)
    expect({ scan, outcome }).toMatchObject({ scan: { distinct: 1, warnings: [] }, outcome: 'ok_no_change' })
    expect((await readCopy(world.syncing, world.id)).row).toMatchObject(WON)
    await expectAgreement(world.syncing, world.id)
  })

  it('stays as it is after a full scan that broke off, until it is resumed and complete', async () => {
    const world = await openMoved(WON)
    const { upstream, syncing, id } = world
    upstream.put(3, { created_at: CREATED, ...OLD })
    upstream.faults.push(pass, pass, ...Array.from({ length: 5 }, () => status(503)))
    const broken = await world.scan(true)
    expect(broken).toMatchObject({ scan: { result: 'incomplete' }, leads: { updated: 0 } })
    expect((await readCopy(syncing, id)).row).toMatchObject(WON)
    await expectAgreement(syncing, id)

    const resumed = await world.scan(true)
    expect(resumed).toMatchObject({ scan: { warnings: [OLDER] }, leads: { updated: 1 } })
    expect((await readCopy(syncing, id)).row).toMatchObject({
      status: OLD.status,
      updated_at: OLD.updated_at,
    })
    await expectAgreement(syncing, id)
  })

  it.each([
    { when: 'before', order: ['older', 'stored'] },
    { when: 'after', order: ['stored', 'older'] },
  ])('stays as it is where the list has the stored record too, on a page $when', async ({ order }) => {
    const world = await openMoved(WON)
    const { upstream, syncing, id } = world
    const stored = upstream.leads.get(id)
    const older = { ...stored, ...OLD }
    const others = [...upstream.leads.values()].filter((each) => each.id !== id)
    for (const [page, which] of order.entries()) {
      const data = [which === 'older' ? older : stored, ...others.slice(page * 15, page * 15 + 15)]
      const paging = { next_cursor: page === 0 ? 'next' : null, has_more: page === 0, total: LEADS }
      upstream.faults.push(body(JSON.stringify({ data, page: paging })))
    }
    const { scan } = await world.scan(true)
    expect(scan).toMatchObject({ result: 'complete', warnings: [] })
    expect((await readCopy(syncing, id)).row).toMatchObject(WON)
    await expectAgreement(syncing, id)
  })

  it('is as the list says where it was deleted and returned', async () => {
    const world = await openMoved(WON)
    const { upstream, syncing, id } = world
    upstream.leads.delete(id)
    await world.scan(true)
    expect((await world.scan(true)).leads).toMatchObject({ deleted: 1 })
    upstream.put(3, { created_at: CREATED, ...OLD })
    expect((await world.scan(true)).scan?.warnings).toEqual([OLDER])
    const { row, versions } = await readCopy(syncing, id)
    expect(row).toMatchObject({ status: OLD.status, updated_at: OLD.updated_at, deleted_at: null })
    expect(versions.map((version) => version.status)).toEqual(['won', 'contacted'])
    expect(versions.at(-1)?.valid_from).toBe(`${DAY}T09:00:00.000Z`)
    await expectAgreement(syncing, id)
  })

  it('stays as it is after a scan that is unproven', async () => {
    const dated = (updated: string) => records(20).map(({ id }) => ({ id, updated }))
    await using listing = await openListing(PAGE, paged('page', dated('2026-11-20T00:00:00.000Z')))
    await listing.sync()
    listing.answer = paged('page', dated('2020-01-01T00:00:00.000Z'), 30)
    const { scan } = await listing.sync()
    expect(scan?.result).toBe('unproven')
    expect(scan?.warnings).toContain(
      '20 leads are older in the list than in the copy; the copy stays until a full scan is complete',
    )
    const rows = await listing.store.db.selectFrom('lead').select('updated_at').distinct().execute()
    expect(rows).toEqual([{ updated_at: '2026-11-20T00:00:00.000Z' }])
  })
})

/** A fault that answers as usual. */
function pass(): undefined {}
