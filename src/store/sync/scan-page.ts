/**
 * Saves pages of leads, each with the cursor behind it: after a crash, either a page and its cursor are stored
 * or neither is.
 */
import type { Instant, Lead, QuarantinedRecord } from '../../domain/model.ts'
import { checkNoCrash } from '../db/postgres.ts'
import type { Observation, Trx } from '../db/store.ts'
import { outdateDetails } from '../leads/detail.ts'
import { type Fingerprint, forgetFingerprints, isReadAnew, saveFingerprints } from '../leads/fingerprints.ts'
import { countCreated, findLeadNos, insertLeads, type SavedLead, saveLeads } from '../leads/lead.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../leads/quarantined-record.ts'
import {
  advanceScan,
  CLOCK_SKEW_MS,
  forgetOlder,
  noteOlder,
  type Scan,
  type ScanStep,
  type SeenKey,
} from './scan.ts'
import type { ScanMemory } from './scan-memory.ts'
import { findTombstoned, forgetMissing, markDeleted, type Tombstones } from './soft-delete.ts'
import { addCounts, type Counts } from './sync-run.ts'

/** A page of the list of leads as it was read. */
export interface PageRead
  extends Pick<
    ScanStep,
    'cursor' | 'tail' | 'total' | 'repeats' | 'hasMoved' | 'isBroken' | 'isAgain' | 'partialSign'
  > {
  /** Tells whether the page lies behind a page that seemed to be the last of a numbered list. */
  readonly isBehindEnd: boolean
  /** Tells whether the pages of the list name the next one. */
  readonly namesNext: boolean
  /** Tells whether the page is part of a chain of searches, each of which begins with leads of the one before. */
  readonly isOfChain: boolean
}

type Hash = Pick<Fingerprint, 'high' | 'low'>

/** The records of a page, mapped to leads. */
export interface MappedPage {
  /** The leads whose records are unchanged. They are not written. */
  readonly unchanged: readonly number[]
  readonly leads: readonly Lead[]
  readonly quarantined: readonly QuarantinedRecord[]
  readonly deleted: Tombstones
  /** The ids that stand for more than one record of the page, which cannot be states of one lead. */
  readonly sharedIds: readonly string[]
  readonly records: readonly Hash[]
  readonly recordOf: ReadonlyMap<Lead, Hash>
  /** Tells whether the page is part of a first load, which has seen none of its leads before. */
  readonly isAllNew: boolean
}

interface PageObservation extends Observation {
  /** The present time by the clock of the upstream. */
  readonly upstreamNow: Instant
}

/**
 * Saves a page, and with it the place behind it in the list.
 * @returns the scan after the page, and the pages that the run has read
 */
export async function savePage(
  trx: Trx,
  before: Scan,
  read: PageRead,
  page: MappedPage,
  memory: ScanMemory,
  observed: PageObservation,
): Promise<{ readonly scan: Scan; readonly pages: number }> {
  await checkNoCrash(trx, memory.crashMarker)
  const written = await writeRecords(trx, before, page, memory, observed)
  const { scan, counts } = await noteProgress(trx, before, read, page, written, memory, observed)
  const pages = await addCounts(trx, observed.runId, { ...counts, pages: 1 })
  return { scan, pages }
}

/** Notes what a page, whose records are written, means for the scan, and which leads the scan has found. */
async function noteProgress(
  trx: Trx,
  before: Scan,
  read: PageRead,
  page: MappedPage,
  written: Written,
  memory: ScanMemory,
  { at, upstreamNow }: PageObservation,
): Promise<{ readonly scan: Scan; readonly counts: Counts }> {
  const { seenLeads, missedBefore } = memory
  for (const { lead, no } of written.saved) seenLeads.number(lead.id, no)
  for (const id of page.sharedIds) memory.sharedIds.add(id)
  noteChanges(before, written, memory, upstreamNow)
  const seenKeys = seenKeysOn(written)
  const newToScan = new Set(seenKeys.filter((each) => seenLeads.passOf(each) === 0))
  const newToPass = seenKeys.filter((each) => seenLeads.passOf(each) !== before.pass).length
  const foundAgain = seenKeys.filter((each) => typeof each === 'number').filter((no) => missedBefore.has(no))
  await forgetMissing(trx, foundAgain)
  const newUnchanged = written.unchanged.filter((no) => newToScan.has(no))
  const newSaved = written.saved.filter(({ no }) => newToScan.has(no))
  const born = bornSince(before.started_at)
  // Computes the number of leads that were created during the scan only in later passes. It is compared
  // with the number of leads that a later pass finds for the first time.
  const unchangedBorn = before.pass === 1 ? 0 : await countCreated(trx, newUnchanged, born)
  const step: ScanStep = {
    ...read,
    seenKeys,
    isUnordered:
      !read.isOfChain &&
      (isUnordered(page, written, before, memory) ||
        (read.namesNext && isRepeated(page, written, seenKeys, before, memory))),
    newToScan: newToScan.size,
    newToPass,
    showsHole: read.isBehindEnd && newToPass > 0,
    born: unchangedBorn + newSaved.filter(({ lead }) => createdAt(lead) >= born).length,
    // A deleted lead is in the total of the upstream, but not among the leads that were found.
    uncounted: page.quarantined.filter((row) => row.id === null).length + page.deleted.size,
    hasNewDeleted: [...page.deleted.keys()].some((id) => seenLeads.passOf(id) !== before.pass),
    rows: page.records.length,
    cleaned: page.leads.filter((lead) => lead.cleaned.length > 0).length,
    cut: page.leads.reduce((sum, lead) => sum + lead.cut, 0),
    updatedAt: page.leads.map((lead) => lead.updatedAt),
  }
  const scan = await advanceScan(trx, before, step, at)
  const deletedKeys = [...page.deleted.keys(), ...written.deleted]
  remember(memory, before.pass, [...seenKeys, ...deletedKeys], written)
  // Each lead is counted on the page where the scan first finds it, so that the counts add up to the number
  // of leads seen.
  const count = (change: SavedLead['change']): number =>
    newSaved.filter((lead) => lead.change === change).length
  const newQuarantined = written.quarantined.filter((each) => each === null || newToScan.has(each))
  const counts = {
    leads_seen: newSaved.length + newUnchanged.length,
    leads_inserted: count('inserted'),
    leads_updated: count('updated'),
    leads_unchanged: count('unchanged') + newUnchanged.length,
    leads_deleted: written.deleted.length,
    leads_quarantined: before.pass === 1 ? newQuarantined.length : 0,
  }
  return { scan, counts }
}

/**
 * Notes whether a page has leads that changed since the scan began. A time in the future may come from a wrong clock,
 * so it does not tell when the lead changed. If several leads have such times, the clock of the upstream may be ahead.
 */
function noteChanges(scan: Scan, { saved }: Written, memory: ScanMemory, upstreamNow: Instant): void {
  const from = bornSince(scan.started_at)
  const until = new Date(Date.parse(upstreamNow) + CLOCK_SKEW_MS).toISOString()
  for (const { no, lead, change } of saved) {
    if (change === 'unchanged' || lead.updatedAt === null || lead.updatedAt < from) continue
    if (lead.updatedAt > until) memory.changedAhead.add(no)
    if (lead.updatedAt <= until || memory.changedAhead.size > 1) memory.hasChanges = true
  }
}

/**
 * Returns whether the order of the list has changed since the pages before, so that leads may be missing between
 * them. In a list with an order, leads that the pass has seen already stand at the head of a page, because
 * pages overlap or rows were pushed down. An unchanged lead that is new to the pass cannot stand before them.
 */
function isUnordered(page: MappedPage, { saved }: Written, scan: Scan, memory: ScanMemory): boolean {
  const isSeen = (no: number): boolean => memory.seenLeads.passOf(no) === scan.pass
  const savedOf = new Map(saved.map((one) => [page.recordOf.get(one.lead), one]))
  const born = bornSince(scan.started_at)
  const stable = page.records.flatMap((record) => {
    const one = savedOf.get(record)
    if (one === undefined) return memory.fingerprints.find(record.high, record.low) ?? []
    return hasHeldStill(one, born, isSeen(one.no)) ? one.no : []
  })
  return stable.slice(0, stable.findLastIndex(isSeen) + 1).some((no) => !isSeen(no))
}

/**
 * A list whose pages name the next one does not repeat a page, unless a server with another order answers. Leads
 * that have changed since the pass found them may fill a page at its end.
 */
function isRepeated(
  page: MappedPage,
  { unchanged, saved }: Written,
  keys: readonly SeenKey[],
  { pass }: Scan,
  { seenLeads }: ScanMemory,
): boolean {
  const isSeen = keys.length > 0 && keys.every((key) => seenLeads.passOf(key) === pass)
  const haveChanged = unchanged.length === 0 && saved.every(({ change }) => change === 'updated')
  return isSeen && !haveChanged && page.deleted.size === 0
}

/** Returns whether a lead has not changed since the scan began, as far as its times can tell. */
function hasHeldStill({ lead, change }: SavedLead, born: Instant, isSeen: boolean): boolean {
  const at = lead.updatedAt ?? lead.createdAt
  if (at === null) return change !== 'updated'
  return at < born && !(isSeen && change === 'updated')
}

interface Written extends OlderRecords {
  readonly saved: readonly SavedLead[]
  readonly unchanged: readonly number[]
  /** The number of the lead if it is stored, otherwise the id of the record, or null without an id. */
  readonly quarantined: readonly (SeenKey | null)[]
  readonly deleted: readonly number[]
  /** The tombstones that count only if the scan finds no live record of the lead. */
  readonly unsure: readonly (readonly [id: string, at: Instant | null])[]
  readonly fingerprints: readonly Fingerprint[]
  /** The leads whose fingerprints were deleted, so that the next scan maps them again. */
  readonly forgotten: readonly number[]
}

async function writeRecords(
  trx: Trx,
  scan: Scan,
  page: MappedPage,
  memory: ScanMemory,
  observed: Observation,
): Promise<Written> {
  const { isAllNew } = page
  const saved = isAllNew
    ? await insertLeads(trx, page.leads, observed)
    : await saveLeads(trx, page.leads, observed, scan.is_remap === 1 ? 'remap' : 'newer')
  const updated = saved.filter(({ change }) => change === 'updated').map(({ no }) => no)
  await outdateDetails(trx, updated, observed.at)
  await saveQuarantinedRecords(trx, page.quarantined, observed.at)
  if (page.quarantined.length > 0) memory.hasQuarantined = true
  if (memory.hasQuarantined) await releaseQuarantinedRecords(trx, 'lead', idsOf(page.leads))
  const quarantinedNos = isAllNew
    ? new Map<string, number>()
    : await findLeadNos(trx, idsOf(page.quarantined))
  const fingerprints = fingerprintsOf(scan, saved, page)
  await saveFingerprints(trx, fingerprints, isAllNew)
  // The old fingerprints of quarantined leads, and of leads with cleaned or cut values, are deleted.
  // Otherwise, if the upstream sent an earlier record again, the record would count as unchanged.
  const forgotten = [
    ...quarantinedNos.values(),
    ...saved.filter(({ lead }) => isReadAnew(lead)).map(({ no }) => no),
  ]
  await forgetFingerprints(trx, forgotten)
  const tombstoned = isAllNew ? [] : await findTombstoned(trx, page.deleted)
  // A whole list may have a live record of the lead on any page, so an unsure tombstone waits for its end.
  const isSure = ({ isNewer }: { isNewer: boolean }): boolean => isNewer || scan.mode === 'incremental'
  const sure = tombstoned.filter(isSure)
  await markDeleted(trx, sure, observed)
  const deleted = sure.map(({ no }) => no)
  const savedNos = new Set(saved.map(({ no }) => no))
  const unchanged = page.unchanged.filter((no) => !savedNos.has(no))
  return {
    saved,
    unchanged,
    quarantined: page.quarantined.map(({ id }) => (id === null ? null : (quarantinedNos.get(id) ?? id))),
    deleted,
    unsure: tombstoned.filter((lead) => !isSure(lead)).map(({ id }) => [id, page.deleted.get(id) ?? null]),
    fingerprints,
    forgotten: [...forgotten, ...deleted],
    ...(await noteOlderRecords(trx, scan, { saved, unchanged }, memory)),
  }
}

function seenKeysOn({ saved, unchanged, quarantined }: Written): SeenKey[] {
  const quarantinedKeys = quarantined.filter((each) => each !== null)
  return [...new Set<SeenKey>([...unchanged, ...saved.map(({ no }) => no), ...quarantinedKeys])]
}

function remember(memory: ScanMemory, pass: number, seenKeys: readonly SeenKey[], written: Written): void {
  for (const each of seenKeys) {
    memory.seenLeads.note(each, pass)
    if (typeof each === 'number') memory.missedBefore.delete(each)
  }
  for (const { no, high, low } of written.fingerprints) memory.fingerprints.set(no, high, low)
  for (const no of written.forgotten) memory.fingerprints.forget(no)
  for (const [id, at] of written.unsure) memory.unsureTombstones.set(id, at)
  for (const no of written.older) memory.older.add(no)
  for (const no of written.confirmed) memory.older.delete(no)
}

function createdAt(lead: Lead): Instant {
  return lead.createdAt ?? lead.updatedAt ?? ''
}

/** An incremental scan maps unchanged leads too; their fingerprints are stored already. */
function fingerprintsOf(scan: Scan, saved: readonly SavedLead[], page: MappedPage): Fingerprint[] {
  return saved.flatMap(({ no, lead, isOlderRecord, change }) => {
    const record = page.recordOf.get(lead)
    if (record === undefined || isOlderRecord || isReadAnew(lead)) return []
    if (scan.mode === 'incremental' && change === 'unchanged') return []
    return [{ no, high: record.high, low: record.low }]
  })
}

function bornSince(startedAt: Instant): Instant {
  return new Date(Date.parse(startedAt) - CLOCK_SKEW_MS).toISOString()
}

/** The leads that a page has older or newer records of, each given by its number in the store. */
interface OlderRecords {
  readonly older: readonly number[]
  /** The leads of which an older record was noted, although the list has a newer one too. */
  readonly confirmed: readonly number[]
}

/**
 * Notes the records of a full scan that are older than the stored ones, and forgets those that the page
 * contradicts. Because one page may come from a server that lags behind, they are only noted until the scan is
 * known to be complete.
 */
async function noteOlderRecords(
  trx: Trx,
  scan: Scan,
  { saved, unchanged }: { readonly saved: readonly SavedLead[]; readonly unchanged: readonly number[] },
  memory: ScanMemory,
): Promise<OlderRecords> {
  const onlyOld = (no: number): boolean => memory.seenLeads.passOf(no) === 0 || memory.older.has(no)
  const older = saved.filter(({ no, isOlderRecord }) => isOlderRecord && scan.mode === 'full' && onlyOld(no))
  await noteOlder(
    trx,
    older.map(({ no, lead }) => ({ lead_no: no, raw: lead.raw })),
  )
  const others = [...unchanged, ...saved.filter(({ isOlderRecord }) => !isOlderRecord).map(({ no }) => no)]
  const confirmed = others.filter((no) => memory.older.has(no))
  await forgetOlder(trx, confirmed)
  return { older: older.map(({ no }) => no), confirmed }
}

function idsOf(records: readonly { readonly id: string | null }[]): string[] {
  return records.flatMap(({ id }) => id ?? [])
}
