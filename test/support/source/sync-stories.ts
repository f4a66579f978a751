/** Stories of an upstream: what each sync of a new copy finds, and what is in the copy then, in lines for a golden. */
import { expect } from 'vitest'
import type { ScanResult } from '../../../src/domain/sync.ts'
import type { SyncOptions } from '../../../src/jobs/sync/sync-context.ts'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { readFieldTable } from '../../../src/store/leads/declared-fields.ts'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { type Answer, type Listing, openListing } from './listing.ts'

/** A sync: what it is asked for, how much later it is, and how the upstream and the profile are from then on. */
interface Step extends Partial<SyncOptions>, Partial<Pick<Listing, 'answer' | 'address' | 'clockAheadMs'>> {
  readonly profile?: Partial<ProfileInput>
  readonly hoursLater?: number
  /** How often it is run, once by default. */
  readonly times?: number
}

/** A name, a profile, and the syncs. An answer alone is a full sync. */
export type Story = readonly [name: string, profile: Partial<ProfileInput>, ...syncs: (Answer | Step)[]]

/** Syncs of changes. */
export const changes = (answer: Answer, times = 1): Step => ({ full: false, answer, times })

/**
 * Tells what each sync found, and then what of the copy is not as it was before. The rules of the store hold before each
 * page and after each sync.
 */
export async function tellSyncs(stories: readonly Story[]): Promise<string> {
  const lines: string[] = []
  for (const [name, profile, ...syncs] of stories) {
    await using listing = await openListing(profile, () => ({}))
    const { store, clock } = listing
    const expectSound = async () =>
      expect(await findViolations(store.db, clock.now.toISOString(), 'all'), name).toEqual([])
    listing.beforePage = expectSound
    lines.push(name)
    let before = new Set<string>()
    for (const sync of syncs) {
      const step = typeof sync === 'function' ? { answer: sync } : sync
      for (let time = 0; time < (step.times ?? 1); time++) {
        const told = await tellSync(listing, step)
        const { leads, marks } = await tellCopy(listing)
        const changed = leads.filter((lead) => !before.has(lead))
        const [first, last] = [changed[0], changed.at(-1)].map((lead) => lead?.split(' ')[0])
        const some = changed.length > 5 ? [`${changed.length} leads from ${first} to ${last}`] : changed
        const found = told.map((line) => (before.has(line) ? `${line.split(':')[0]}: the same` : line))
        const now = [...found, ...some, ...marks.filter((mark) => !before.has(mark))]
        lines.push(...now.map((line) => `  ${line}`))
        before = new Set([...told.slice(2), ...leads, ...marks])
        await expectSound()
      }
    }
  }
  return `${lines.join('\n')}\n`
}

async function tellSync(listing: Listing, step: Step): Promise<string[]> {
  const { answer, address, clockAheadMs, profile, hoursLater = 0, times, ...options } = step
  listing.clock.now = new Date(listing.clock.now.getTime() + hoursLater * 3_600_000)
  listing.answer = answer ?? listing.answer
  listing.address = address ?? listing.address
  listing.clockAheadMs = clockAheadMs ?? listing.clockAheadMs
  listing.profile = { ...listing.profile, ...profile }
  listing.asked.length = 0
  const { outcome, scan, leads, problems, pages } = await listing.sync(options)
  // Pages that fail, are asked for ahead or are looked at again are few.
  expect(listing.asked.length).toBeLessThanOrEqual(pages + 10 * (scan?.passes ?? 1))
  const counts = Object.entries(leads).filter(([what, count]) => what !== 'seen' && count > 0)
  const [first, second, ...more] = listing.asked.map((position) => position ?? 'the first page')
  // How many pages are asked for ahead depends on how fast they are stored.
  const asked = more.length > 0 ? `${first} and others` : [first, second].filter(Boolean).join(' and ')
  return [
    `${outcome}${counts.map(([what, count]) => `, ${what} ${count}`).join('')}; asked for ${asked || 'nothing'}`,
    ...(scan === null ? [] : tellScan(scan)),
    ...problems.map(({ code, message, hint }) => `  ${code}: ${message}. ${hint}`),
  ]
}

function tellScan(scan: ScanResult): string[] {
  const { mode, result, stop, distinct, reportedTotal, pages, passes, warnings, drift } = scan
  const { cleaned, cut, heldBack } = scan
  const rare = Object.entries({ cleaned, cut, 'held back': heldBack }).filter(([, count]) => count > 0)
  return [
    `  ${mode} ${result} by ${stop}: leads ${distinct} of ${reportedTotal}, pages ${pages}, passes ${passes}`,
    ...rare.map(([what, count]) => `  ${what}: ${count}`),
    ...warnings.map((warning) => `  warning: ${warning}`),
    ...drift.map(({ change, path, types }) => `  field ${path} is ${change}: ${types}`),
  ]
}

/** Tells the leads with their states in order, and what is known of them all. */
async function tellCopy({ store: { db } }: Listing): Promise<Record<'leads' | 'marks', string[]>> {
  const leads = await db.selectFrom('lead').selectAll().orderBy('id').execute()
  const versions = await db.selectFrom('lead_version').selectAll().orderBy('valid_from').execute()
  const runs = db.selectFrom('sync_run').select(({ fn }) => fn.max('leads_as_of').as('asOf'))
  const watermark = await db.selectFrom('sync_watermark').select('updated_at').executeTakeFirst()
  const deletions = await db.selectFrom('lead_deletion').selectAll().execute()
  const held = await db.selectFrom('quarantined_record').selectAll().orderBy('reason').execute()
  const { columns, rows } = await readFieldTable(
    db,
    leads.map(({ id }) => id),
  )
  const cellsOf = new Map(rows)
  const changes = db.selectFrom('field_change').selectAll().orderBy('changed_at').orderBy('lead_id')
  const places = await db.selectFrom('declared_field').select('place').execute()
  return {
    leads: leads.map(({ id, status, company_name, updated_at, deleted_at }) => {
      const fields = columns.map(({ name }, index) => `, ${name} ${cellsOf.get(id)?.[index]}`).join('')
      const states = versions.filter(({ lead_id }) => lead_id === id)
      const history = states.map((version) => `${version.status} from ${version.valid_from}`).join(', ')
      const name = company_name === null ? '' : ` ${company_name}`
      const deleted = deleted_at === null ? '' : `, deleted ${deleted_at}`
      return `${id} ${status}${name}, updated ${updated_at}${deleted}${fields} (${history})`
    }),
    marks: [
      ...(await changes.execute()).map(
        ({ lead_id, field, value_before, value, changed_at }) =>
          `${field} of ${lead_id} was ${value_before}, is ${value} from ${changed_at}`,
      ),
      ...held.map(({ record_id, raw, reason }) => `quarantined: ${record_id} ${raw}: ${reason}`),
      ...(columns.length > 0 ? [`fields ${columns.length}, in places ${places.length}`] : []),
      `leads ${leads.length}, versions ${versions.length}, deletions ${deletions.length}, quarantined ${held.length}`,
      `as of ${(await runs.executeTakeFirst())?.asOf}, watermark ${watermark?.updated_at || null}`,
    ],
  }
}
