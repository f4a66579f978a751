/**
 * Maps the records of a page to leads. A record whose fingerprint (a hash of its bytes) is stored is
 * unchanged and is skipped.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Instant, Lead, QuarantinedRecord } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import { findLeadNos } from '../../store/leads/lead.ts'
import type { ScanMemory } from '../../store/sync/scan-memory.ts'
import type { MappedPage } from '../../store/sync/scan-page.ts'
import { isQuarantined, isTombstone } from '../../upstream/mapping/lead-mapping.ts'
import type { FindUnchanged, RawRecord } from '../../upstream/mapping/raw-record.ts'
import type { Source } from '../../upstream/source.ts'
import { parseJson, pathText } from '../../upstream/values/json.ts'
import type { SyncRun } from './sync-context.ts'

/** The records of a page, mapped to leads. */
export interface MappedRecords extends MappedPage {
  readonly records: readonly RawRecord[]
  readonly recordOf: ReadonlyMap<Lead, RawRecord>
}

/**
 * Maps the records of a page. Leads that are on it twice, once unchanged and once changed, are mapped from both
 * records.
 * @throws LeadsheetError api_unexpected if none of the records has an id
 */
export async function mapPage(
  { source, store }: SyncRun,
  records: readonly RawRecord[],
  { fingerprints, firstLoad }: ScanMemory,
): Promise<MappedRecords> {
  const page = mapRecords(source, records, fingerprints.find)
  const otherIds = [...idsIn(page.quarantined), ...page.deleted.keys()]
  const isAllNew = firstLoad?.isAllNew(idsIn(page.leads), otherIds) === true
  if (isAllNew || page.unchanged.length === 0) return { ...page, isAllNew }
  // The number of a lead never changes, so it may be read before the transaction that writes the page.
  const nos = await findLeadNos(store.db, [...idsIn(page.leads), ...idsIn(page.quarantined)])
  const repeated = new Set(nos.values())
  if (!page.unchanged.some((no) => repeated.has(no))) return { ...page, isAllNew }
  const findOthers: FindUnchanged = (high, low) => {
    const no = fingerprints.find(high, low)
    return no !== null && repeated.has(no) ? null : no
  }
  return { ...mapRecords(source, records, findOthers), isAllNew }
}

function mapRecords(
  source: Source,
  records: readonly RawRecord[],
  findUnchanged: FindUnchanged,
): Omit<MappedRecords, 'isAllNew'> {
  const unchanged = new Set<number>()
  const leads = new Map<Lead, RawRecord>()
  const quarantined: QuarantinedRecord[] = []
  const deleted = new Map<string, Instant | null>()
  for (const record of records) {
    // The fingerprint is looked up again, because another page was written since this page was fetched.
    const no = findUnchanged(record.high, record.low)
    if (no !== null) {
      unchanged.add(no)
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
  return {
    unchanged: [...unchanged],
    leads: [...leads.keys()],
    quarantined,
    deleted,
    sharedIds: sharedIdsIn([...leads.keys()]),
    records,
    recordOf: leads,
  }
}

function idsIn(records: readonly { readonly id: string | null }[]): string[] {
  return records.flatMap(({ id }) => id ?? [])
}

/** Slow, because each record must be mapped. A record without an id is left out. */
export function idsOf(source: Source, records: readonly RawRecord[]): string[] {
  return records.flatMap((record) => source.mapLead(record.value, record.text).id ?? [])
}

/** Lists the ids that several of the leads have, if these cannot be states of one lead. */
function sharedIdsIn(leads: readonly Lead[]): string[] {
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
