// @both-stores
/** So many leads are missing that the sync does not believe it. An operator can confirm some such losses. */
import { describe, expect, it } from 'vitest'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { type Listing, openListing } from '../../support/source/listing.ts'

const AT = '2026-11-20T00:00:00Z'

function leads(from: number, to: number) {
  return Array.from({ length: to - from }, (_, n) => ({
    id: `l${from + n}`,
    name: 'Acme',
    status: 'new',
    created: AT,
    updated: AT,
  }))
}

/** Opens a hundred leads, of which the upstream then lists only some. */
async function openShrunk(records: readonly unknown[]): Promise<Listing> {
  const listing = await openListing({}, () => ({ records: leads(0, 100) }))
  await listing.sync()
  await shrink(listing, records)
  return listing
}

async function shrink(listing: Listing, records: readonly unknown[], acceptsDeletions = false) {
  listing.answer = () => ({ records })
  listing.clock.now = new Date(listing.clock.now.getTime() + 3_600_000)
  return listing.sync({ acceptsDeletions })
}

async function removedIn({ store }: Listing): Promise<number> {
  const rows = await store.db.selectFrom('lead').where('deleted_at', 'is not', null).select('id').execute()
  return rows.length
}

describe('more than a fifth of the leads missing', () => {
  it('are never marked as deleted, however often, without an operator (row 34)', async () => {
    await using listing = await openShrunk(leads(0, 60))
    for (let again = 0; again < 3; again++) {
      const result = await shrink(listing, leads(0, 60))
      expect(result).toMatchObject({ outcome: 'partial', leads: { deleted: 0 }, scan: { heldBack: 40 } })
      expect(result.problems[0]?.hint).toContain('leadsheet sync --full --accept-deletions')
    }
    expect(await removedIn(listing)).toBe(0)
    expect(await findViolations(listing.store.db, listing.clock.now.toISOString(), 'all')).toEqual([])
  })

  it('are marked as deleted when an operator says so, and the next scan holds nothing back', async () => {
    await using listing = await openShrunk(leads(0, 60))
    expect(await shrink(listing, leads(0, 60), true)).toMatchObject({
      outcome: 'ok',
      leads: { deleted: 40 },
      scan: { heldBack: 0 },
    })
    expect(await removedIn(listing)).toBe(40)
    expect(await findViolations(listing.store.db, listing.clock.now.toISOString(), 'all')).toEqual([])
    expect(await shrink(listing, leads(0, 60))).toMatchObject({ outcome: 'ok_no_change', problems: [] })
  })

  it('are deleted only where two whole scans have missed them: what came back stays, what has just gone waits', async () => {
    await using listing = await openShrunk(leads(0, 60))
    // Ten leads have come back, and ten others are missing for the first time.
    await shrink(listing, [...leads(0, 50), ...leads(90, 100)], true)
    expect(await removedIn(listing)).toBe(30)
    const rows = await listing.store.db.selectFrom('missing_lead').select('lead_id').execute()
    expect(rows.map(({ lead_id }) => lead_id).sort()).toEqual(leads(50, 60).map(({ id }) => id))
  })

  it('are not deleted by a scan that did not come to its end', async () => {
    await using listing = await openShrunk(leads(0, 60))
    listing.answer = (position) => {
      if (position !== null) throw new TypeError('broken')
      return { records: leads(0, 60), next: '2' }
    }
    await expect(listing.sync({ acceptsDeletions: true })).rejects.toThrow()
    expect(await removedIn(listing)).toBe(0)
  })
})
