/**
 * Maps the records of a page to leads. A record whose fingerprint (a hash of its bytes) is stored is
 * unchanged and is skipped, unless an event has changed the stored lead since the page was requested.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Instant, Lead, QuarantinedRecord } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import type { Trx } from '../../store/db/store.ts'
import { queueLeads } from '../../store/events/event.ts'
import { findLeadNos } from '../../store/leads/lead.ts'
import { isCutToSecond } from '../../store/leads/lead-row.ts'
import { findReadByEvents } from '../../store/sync/scan.ts'
import type { Tombstones } from '../../store/sync/soft-delete.ts'
import { isQuarantined, isTombstone } from '../../upstream/mapping/lead-mapping.ts'
import type { FindKnown, RawRecord } from '../../upstream/mapping/raw-record.ts'
import type { Source } from '../../upstream/source.ts'
import { parseJson, pathText } from '../../upstream/values/json.ts'
import type { ScanState } from './scan-state.ts'
import type { SyncRun } from './sync-context.ts'

export interface MappedPage {
  /** Leads that are not written: their records are unchanged or must be ignored. */
  readonly known: readonly number[]
  readonly leads: readonly Lead[]
  readonly quarantined: readonly QuarantinedRecord[]
  readonly deleted: Tombstones
  readonly records: readonly RawRecord[]
  readonly recordOf: ReadonlyMap<Lead, RawRecord>
}

/**
 * Maps the records of a page. A record whose fingerprint is stored is skipped, because it is unchanged.
 * @throws LeadsheetError api_unexpected if none of the records has an id
 */
export function mapPage(source: Source, records: readonly RawRecord[], findKnown: FindKnown): MappedPage {
  const known = new Set<number>()
  const leads = new Map<Lead, RawRecord>()
  const quarantined: QuarantinedRecord[] = []
  const deleted = new Map<string, Instant | null>()
  for (const record of records) {
    // The fingerprint is looked up again, because other pages were written since this page was fetched.
    const no = findKnown(record.high, record.low)
    if (no !== null) {
      known.add(no)
      continue
    }
    const mapped = source.mapLead(record.value, record.text)
    if (mapped.id !== null && isTombstone(record.value, source.profile)) {
      const at = isQuarantined(mapped) ? null : mapped.updatedAt
      if ((at ?? '') >= (deleted.get(mapped.id) ?? '')) deleted.set(mapped.id, at)
    } else if (isQuarantined(mapped)) quarantined.push(mapped)
    else leads.set(mapped, record)
  }
  const isWithoutIds = quarantined.length === records.length && quarantined.every((row) => row.id === null)
  if (isWithoutIds && records.length > 1) throw withoutIds(source, records)
  const rest = { leads: [...leads.keys()], quarantined, deleted, records, recordOf: leads }
  return { known: [...known], ...rest }
}

/** Slow, because each record must be mapped. A record without an id is left out. */
export function idsOf(source: Source, records: readonly RawRecord[]): string[] {
  return records.flatMap((record) => source.mapLead(record.value, record.text).id ?? [])
}

/**
 * Maps leads that were skipped as unchanged, if the store may now contain another state. There are two kinds
 * of such leads: leads that are on the page twice (once unchanged and once changed), and leads that were read
 * because of an event after the page was requested.
 */
export async function remapChanged(
  trx: Trx,
  run: SyncRun,
  page: MappedPage,
  memory: ScanState,
): Promise<MappedPage> {
  const nos =
    page.known.length === 0 ? [] : await findLeadNos(trx, [...leadIdsOf(page), ...quarantinedIdsOf(page)])
  const repeated = new Set(nos.values())
  const again = new Set(page.known.filter((no) => repeated.has(no) || memory.readByEvents.has(no)))
  const mapped =
    again.size === 0
      ? page
      : mapPage(run.source, page.records, (high, low) => {
          const no = memory.known.find(high, low)
          return no !== null && again.has(no) ? null : no
        })
  return memory.readByEvents.size === 0 ? mapped : askInstead(trx, run, mapped)
}

/**
 * Queues a separate read for leads that were also read because of an event, if it is unclear whether the
 * page's record is newer than the stored lead. It is unclear if the record has no time of change, or has the
 * stored one in whole seconds, or if the stored lead is deleted. The page's records of these leads are
 * ignored.
 */
async function askInstead(trx: Trx, run: SyncRun, page: MappedPage): Promise<MappedPage> {
  if (!run.source.has('lead')) return page
  const read = await findReadByEvents(trx, leadIdsOf(page))
  const unclear = page.leads.filter(({ id, updatedAt }) => {
    const other = read.get(id)
    if (other === undefined) return false
    return updatedAt === null || other.isDeleted || isCutToSecond(updatedAt, other.updatedAt)
  })
  if (unclear.length === 0) return page
  const ids = new Set(unclear.map(({ id }) => id))
  await queueLeads(trx, [...ids], run.now().toISOString())
  const nos = [...ids].flatMap((id) => read.get(id)?.no ?? [])
  return {
    ...page,
    known: [...new Set([...page.known, ...nos])],
    leads: page.leads.filter(({ id }) => !ids.has(id)),
  }
}

/** Lists the ids that more than one record of the page has, if the records cannot be states of one lead. */
export function sharedIdsOn({ leads }: MappedPage): string[] {
  const before = new Map<string, Lead>()
  const shared = leads.filter((lead) => {
    const other = before.get(lead.id)
    before.set(lead.id, lead)
    return other !== undefined && !canBeStates(other, lead)
  })
  return shared.map(({ id }) => id)
}

/** Returns whether two records with one id are the same, or can be states of one lead at different times. */
function canBeStates(one: Lead, other: Lead): boolean {
  if (one.createdAt !== null && other.createdAt !== null && one.createdAt !== other.createdAt) return false
  const isDated = one.updatedAt !== null && other.updatedAt !== null
  if (isDated && one.updatedAt !== other.updatedAt) return true
  return isDeepStrictEqual(parseJson(one.raw), parseJson(other.raw))
}

export function leadIdsOf(page: MappedPage): string[] {
  return page.leads.map((lead) => lead.id)
}

export function quarantinedIdsOf(page: MappedPage): string[] {
  return page.quarantined.flatMap(({ id }) => (id === null ? [] : [id]))
}

function withoutIds(source: Source, records: readonly RawRecord[]): LeadsheetError {
  const places = (source.profile.mapping.lead.id?.from ?? []).map(pathText).join(' or ')
  const first = records[0]?.value
  const names = typeof first === 'object' && first !== null ? Object.keys(first).slice(0, 20).join(', ') : ''
  return new LeadsheetError(
    'api_unexpected',
    `None of ${records.length} leads on a page has an id at ${places}; the first one has ${names || 'no fields'}`,
    {
      hint: 'Nothing of the page was stored. Correct mapping.lead.id in the profile, or look at the upstream.',
    },
  )
}
