/**
 * Maps a page of leads and stores it, together with the cursor after it, in one transaction. A lead is mapped again
 * if an event has changed its stored copy since the page was requested.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant, Lead, QuarantinedRecord } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import { checkLife } from '../../store/db/postgres.ts'
import type { Observation, Trx } from '../../store/db/store.ts'
import { queueLeads } from '../../store/events/event.ts'
import { outdateDetails } from '../../store/leads/detail.ts'
import type { Fingerprint } from '../../store/leads/fingerprints.ts'
import { forgetFingerprints, saveFingerprints } from '../../store/leads/fingerprints.ts'
import type { SavedLead } from '../../store/leads/lead.ts'
import { countCreated, findLeadNos, insertLeads, saveLeads } from '../../store/leads/lead.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import type { Met, Scan, ScanStep } from '../../store/sync/scan.ts'
import { advanceScan, findReadByEvents } from '../../store/sync/scan.ts'
import { forgetAbsence } from '../../store/sync/soft-delete.ts'
import { addCounts } from '../../store/sync/sync-run.ts'
import { isHeld } from '../../upstream/mapping/lead-mapping.ts'
import type { FindKnown, RawRecord } from '../../upstream/mapping/raw-record.ts'
import type { Source } from '../../upstream/source.ts'
import { pathText } from '../../upstream/values/json.ts'
import type { ScanState } from './scan-state.ts'
import { noteEvents } from './scan-state.ts'
import type { SyncRun } from './sync-context.ts'
import { writePageHolding } from './sync-context.ts'

/** The assumed maximum difference between the clock of this machine and the clock of the upstream. */
export const CLOCK_SKEW_MS = 2 * 60_000

/**
 * Stores a page.
 * @returns the scan after this page, and what the run has read so far
 */
export async function savePage(
  run: SyncRun,
  before: Scan,
  mapped: MappedPage,
  step: Pick<ScanStep, 'cursor' | 'tail' | 'total' | 'repeats' | 'hasMoved' | 'isBroken' | 'isAgain'>,
  memory: ScanState,
): Promise<{ scan: Scan; pages: number; seen: number }> {
  const seen = { runId: run.runId, at: run.now().toISOString() }
  const isAllNew = memory.firstLoad?.takes(leadIdsOf(mapped), quarantinedIdsOf(mapped)) === true
  if (!isAllNew) await memory.firstLoad?.end(run.options.signal)
  const done = await writePageHolding(run, async (trx) => {
    await checkLife(trx, memory.life)
    const page = isAllNew ? mapped : await remapChanged(trx, run, mapped, memory)
    const written = await writePage(trx, before, page, isAllNew, memory, seen)
    for (const { lead, no } of written.saved) memory.met.number(lead.id, no)
    const met = metOn(written)
    const fresh = new Set(met.filter((each) => memory.met.passOf(each) === 0))
    const absent = met.filter((each) => typeof each === 'number').filter((no) => memory.absent.has(no))
    await forgetAbsence(trx, absent)
    const born = bornSince(before.started_at)
    const knownFresh = written.known.filter((no) => fresh.has(no))
    // Only later passes need the number of leads that were created during the scan, because before the first
    // pass no lead had been found.
    const knownBorn = before.pass === 1 ? 0 : await countCreated(trx, knownFresh, born)
    const savedFresh = written.saved.filter(({ no }) => fresh.has(no))
    const scan = await advanceScan(trx, before, {
      ...step,
      met,
      fresh: fresh.size,
      freshInPass: met.filter((each) => memory.met.passOf(each) !== before.pass).length,
      born: knownBorn + savedFresh.filter(({ lead }) => createdAt(lead) >= born).length,
      withoutId: page.held.filter((row) => row.id === null).length,
      rows: page.records.length,
      cleaned: page.leads.filter((lead) => lead.cleaned.length > 0).length,
      cut: page.leads.reduce((sum, lead) => sum + lead.cut, 0),
      maxUpdatedAt: latestOf(page.leads.map((lead) => lead.updatedAt)),
    })
    // Each lead is counted on the page where the scan first finds it, so that the counts add up to the number
    // of leads seen.
    const count = (change: SavedLead['change']): number =>
      savedFresh.filter((lead) => lead.change === change).length
    const heldFresh = written.held.filter((each) => each === null || fresh.has(each))
    const counts = await addCounts(trx, run.runId, {
      pages: 1,
      seen: savedFresh.length + knownFresh.length,
      inserted: count('inserted'),
      updated: count('updated'),
      unchanged: count('unchanged') + knownFresh.length,
      removed: 0,
      held: before.pass === 1 ? heldFresh.length : 0,
    })
    return { scan, met, written, ...counts }
  })
  remember(memory, before.pass, done.met, done.written)
  await haveOthersServed()
  return done
}

/** Lets other tasks run. Otherwise pages that have already arrived would be stored without a pause. */
async function haveOthersServed(): Promise<void> {
  // The first turn of the event loop ends before the network is polled, and the second turn ends after that.
  await nextTurn()
  await nextTurn()
}

interface Written {
  readonly saved: readonly SavedLead[]
  /** The numbers in the store of the leads that were not written because they are unchanged. */
  readonly known: readonly number[]
  /**
   * One entry for each quarantined record of the page. The entry is the number of its lead if that lead is
   * stored, otherwise the id of the record, or null if the record has no id.
   */
  readonly held: readonly (Met | null)[]
  readonly fingerprints: readonly Fingerprint[]
  /**
   * The numbers in the store of the leads whose fingerprints were deleted, so that the next scan maps these
   * leads again.
   */
  readonly unknown: readonly number[]
}

async function writePage(
  trx: Trx,
  scan: Scan,
  page: MappedPage,
  isAllNew: boolean,
  memory: ScanState,
  seen: Observation,
): Promise<Written> {
  const saved = isAllNew
    ? await insertLeads(trx, page.leads, seen)
    : await saveLeads(trx, page.leads, seen, scan.is_remap === 1)
  const updated = saved.filter(({ change }) => change === 'updated').map(({ no }) => no)
  await outdateDetails(trx, updated, seen.at)
  await saveQuarantinedRecords(trx, page.held, seen.at)
  if (page.held.length > 0) memory.hasHeld = true
  if (memory.hasHeld) await releaseQuarantinedRecords(trx, 'lead', leadIdsOf(page))
  const heldNos = isAllNew ? new Map<string, number>() : await findLeadNos(trx, quarantinedIdsOf(page))
  const fingerprints = fingerprintsOf(scan, saved, page)
  await saveFingerprints(trx, fingerprints)
  // The old fingerprint is deleted. Otherwise the earlier record would count as unchanged if the upstream
  // sends that record again.
  const unknown = [...heldNos.values(), ...saved.filter(isUnknown).map(({ no }) => no)]
  await forgetFingerprints(trx, unknown)
  const savedNos = new Set(saved.map(({ no }) => no))
  return {
    saved,
    known: page.known.filter((no) => !savedNos.has(no)),
    held: page.held.map(({ id }) => (id === null ? null : (heldNos.get(id) ?? id))),
    fingerprints,
    unknown,
  }
}

/** Lists the leads and the quarantined records of the page, each of them once. */
function metOn({ saved, known, held }: Written): Met[] {
  const ofHeld = held.filter((each) => each !== null)
  return [...new Set<Met>([...known, ...saved.map(({ no }) => no), ...ofHeld])]
}

/** Updates the state in memory. It is called after the transaction, because the transaction may fail. */
function remember(memory: ScanState, pass: number, met: readonly Met[], written: Written): void {
  for (const each of met) {
    memory.met.note(each, pass)
    if (typeof each === 'number') memory.absent.delete(each)
  }
  for (const { no, high, low } of written.fingerprints) memory.known.set(no, high, low)
  for (const no of written.unknown) memory.known.forget(no)
}

function createdAt(lead: Lead): Instant {
  return lead.createdAt ?? lead.updatedAt ?? ''
}

/**
 * Returns whether no fingerprint is stored for the lead. A lead with cleaned or cut values gets none, so that
 * each scan maps the lead and reports these values.
 */
function isUnknown({ lead }: SavedLead): boolean {
  return lead.cleaned.length > 0 || lead.cut > 0
}

/**
 * Returns the fingerprints to store. An incremental scan also maps unchanged leads, because it does not load
 * the stored fingerprints; the fingerprints of these leads are stored already.
 */
function fingerprintsOf(scan: Scan, saved: readonly SavedLead[], page: MappedPage): Fingerprint[] {
  return saved.flatMap((one) => {
    const { no, lead, isLate, change } = one
    const record = page.recordOf.get(lead)
    if (record === undefined || isLate || isUnknown(one)) return []
    if (scan.mode === 'incremental' && change === 'unchanged') return []
    return [{ no, high: record.high, low: record.low }]
  })
}

function bornSince(startedAt: Instant): Instant {
  return new Date(Date.parse(startedAt) - CLOCK_SKEW_MS).toISOString()
}

function latestOf(times: readonly (Instant | null)[]): Instant | null {
  return times.reduce((latest, at) => (at !== null && (latest === null || at > latest) ? at : latest), null)
}

interface MappedPage {
  /**
   * The numbers in the store of the leads that are not written, because their records are unchanged or must
   * be ignored.
   */
  readonly known: readonly number[]
  readonly leads: readonly Lead[]
  readonly held: readonly QuarantinedRecord[]
  /** All records of the page. `recordOf` gives the record of each mapped lead. */
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
  const held: QuarantinedRecord[] = []
  for (const record of records) {
    // The fingerprint is looked up again, because other pages were written since this page was fetched.
    const no = findKnown(record.high, record.low)
    if (no !== null) {
      known.add(no)
      continue
    }
    const mapped = source.mapLead(record.value, record.text)
    if (isHeld(mapped)) held.push(mapped)
    else leads.set(mapped, record)
  }
  const isWithoutIds = held.length === records.length && held.every((row) => row.id === null)
  if (isWithoutIds && records.length > 1) throw withoutIds(source, records)
  return { known: [...known], leads: [...leads.keys()], held, records, recordOf: leads }
}

/**
 * Maps skipped leads after all if the store may contain another state of them. These are leads that are on
 * the page twice, once unchanged and once changed, and leads that an event had read since the page was
 * requested.
 */
async function remapChanged(
  trx: Trx,
  run: SyncRun,
  page: MappedPage,
  memory: ScanState,
): Promise<MappedPage> {
  await noteEvents(trx, memory)
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
 * Queues a separate read for leads that were also read because of an event, if nothing tells whether the
 * page's record is newer than the stored lead: the record has no time of change, or the event deleted the
 * lead. The page's records of these leads are ignored.
 */
async function askInstead(trx: Trx, run: SyncRun, page: MappedPage): Promise<MappedPage> {
  if (!run.source.has('lead')) return page
  const read = await findReadByEvents(trx, leadIdsOf(page))
  const unclear = page.leads.filter(({ id, updatedAt }) => {
    const other = read.get(id)
    return other !== undefined && (updatedAt === null || other.isRemoved)
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

function leadIdsOf(page: MappedPage): string[] {
  return page.leads.map((lead) => lead.id)
}

function quarantinedIdsOf(page: MappedPage): string[] {
  return page.held.flatMap(({ id }) => (id === null ? [] : [id]))
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
