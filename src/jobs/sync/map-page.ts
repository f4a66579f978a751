/**
 * Maps the records of a page to leads. A record whose fingerprint (a hash of its bytes) is stored is
 * unchanged and is skipped.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Instant, Lead, QuarantinedRecord } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import type { Trx } from '../../store/db/store.ts'
import { findLeadNos } from '../../store/leads/lead.ts'
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
    // The fingerprint is looked up again, because another page was written since this page was fetched.
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

/** Maps leads that are on the page twice, once unchanged and once changed, from both records. */
export async function remapRepeated(
  trx: Trx,
  { source }: SyncRun,
  page: MappedPage,
  { known }: ScanState,
): Promise<MappedPage> {
  if (page.known.length === 0) return page
  const nos = await findLeadNos(trx, [...leadIdsOf(page), ...quarantinedIdsOf(page)])
  const repeated = new Set(nos.values())
  if (!page.known.some((no) => repeated.has(no))) return page
  return mapPage(source, page.records, (high, low) => {
    const no = known.find(high, low)
    return no !== null && repeated.has(no) ? null : no
  })
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
