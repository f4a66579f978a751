// @both-stores
/** The settings name another account or host than the one from which the stored leads were read. */
import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import type { Answer, Listing } from '../../support/source/listing.ts'
import { CURSOR, openListing, records, SINCE } from '../../support/source/listing.ts'

const CHANGES = { ...CURSOR, ...SINCE }
const OTHER = 'sandbox.example.com/leads'

const twoPages: Answer = (position) =>
  position === null ? { records: records(10), next: 'b' } : { records: records(10, 10), next: null }

async function openElsewhere(first: Answer = twoPages): Promise<Listing> {
  const listing = await openListing(CHANGES, first)
  await listing.sync()
  listing.address = OTHER
  listing.answer = () => ({ records: records(15, 100) })
  listing.asked.length = 0
  return listing
}

async function countThere({ store }: Listing): Promise<number> {
  const rows = await store.db.selectFrom('lead').where('deleted_at', 'is', null).select('id').execute()
  return rows.length
}

describe('a source at another address', () => {
  it.each([{ full: true }, { full: false }, { parts: ['agents'] as const }])(
    'is asked for nothing by a sync with %o, which names both addresses',
    async (options) => {
      await using listing = await openElsewhere()
      const result = await listing.sync(options)
      expect(result).toMatchObject({ outcome: 'failed', problems: [{ code: 'store_other_source' }] })
      expect(result.problems[0]?.message).toContain('crm.example.com/leads')
      expect(result.problems[0]?.message).toContain(OTHER)
      expect(result.problems[0]?.hint).toMatch(/data_dir.*sync --new/)
      expect(listing.asked).toEqual([])
      expect(await countThere(listing)).toBe(20)
    },
  )

  it('is refused after an interrupted first scan too, and never asked for its cursor', async () => {
    const failing: Answer = (position) => {
      if (position !== null) throw new LeadsheetError('api_unreachable', 'away')
      return { records: records(10), next: 'b' }
    }
    await using listing = await openElsewhere(failing)
    expect(await listing.sync()).toMatchObject({ problems: [{ code: 'store_other_source' }] })
    expect(await listing.sync({ acceptsAddress: true })).toMatchObject({ leads: { inserted: 15 } })
    expect(listing.asked).toEqual([null])
  })

  it('is taken without a word while nothing was read from the first one', async () => {
    await using listing = await openElsewhere(() => {
      throw new LeadsheetError('api_unreachable', 'away')
    })
    expect(await listing.sync()).toMatchObject({ outcome: 'ok', leads: { inserted: 15 } })
  })

  it('is read in full once an operator accepts it, even if that sync fails at first', async () => {
    await using listing = await openElsewhere()
    const { answer } = listing
    listing.answer = () => {
      throw new LeadsheetError('api_unreachable', 'away')
    }
    await listing.sync({ full: false, acceptsAddress: true })
    listing.answer = answer
    const result = await listing.sync({ full: false })
    expect(result).toMatchObject({ scan: { mode: 'full' }, leads: { inserted: 15, deleted: 0 } })
    // The leads of the first source are more than a fifth.
    expect(result.scan?.heldBack).toBe(20)
    expect(await findViolations(listing.store.db, listing.clock.now.toISOString(), 'all')).toEqual([])
  })

  it('counts as the first scan that misses a lead, whatever the other source missed', async () => {
    await using listing = await openListing(CHANGES, () => ({ records: records(40) }))
    await listing.sync()
    listing.answer = () => ({ records: records(39) })
    await listing.sync()
    listing.address = OTHER
    expect(await listing.sync({ acceptsAddress: true })).toMatchObject({ leads: { deleted: 0 } })
    expect(await listing.sync()).toMatchObject({ leads: { deleted: 1 } })
  })
})
