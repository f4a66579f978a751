/**
 * Writes pages of leads, each with the cursor behind it: after a crash, either a page and its cursor are stored
 * or neither is.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant, Lead } from '../../domain/model.ts'
import type { LeadCounts } from '../../domain/sync.ts'
import { checkNoCrash } from '../../store/db/postgres.ts'
import type { Observation, Trx } from '../../store/db/store.ts'
import { outdateDetails } from '../../store/leads/detail.ts'
import type { Fingerprint } from '../../store/leads/fingerprints.ts'
import { forgetFingerprints, saveFingerprints } from '../../store/leads/fingerprints.ts'
import type { SavedLead } from '../../store/leads/lead.ts'
import { countCreated, findLeadNos, insertLeads, saveLeads } from '../../store/leads/lead.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import type { Scan, ScanStep, SeenKey } from '../../store/sync/scan.ts'
import { advanceScan, saveScan } from '../../store/sync/scan.ts'
import { findTombstoned, forgetMissing, markDeleted } from '../../store/sync/soft-delete.ts'
import { addCounts } from '../../store/sync/sync-run.ts'
import { isReadAnew } from '../../upstream/mapping/lead-mapping.ts'
import type { RawRecord } from '../../upstream/mapping/raw-record.ts'
import { namesNext } from '../../upstream/paging/paging.ts'
import {
  leadIdsOf,
  type MappedPage,
  mapPage,
  quarantinedIdsOf,
  remapRepeated,
  sharedIdsOn,
} from './map-page.ts'
import { noteOlderRecords, type OlderRecords } from './older-records.ts'
import type { ScanState } from './scan-state.ts'
import type { SyncRun } from './sync-context.ts'
import { writePageUnderLease } from './sync-context.ts'

export const CLOCK_SKEW_MS = 2 * 60_000

/** The partial sign of a page with leads behind a page that seemed to be the last of a numbered list. */
export const BEHIND_END = 'leads behind what seemed to be the last page'

export interface ReadPage
  extends Pick<
    ScanStep,
    'cursor' | 'tail' | 'total' | 'repeats' | 'hasMoved' | 'isBroken' | 'isAgain' | 'partialSign'
  > {
  readonly records: readonly RawRecord[]
  readonly isBehindEnd: boolean
}

/**
 * Writes a page, and with it the place behind it in the list.
 * @param memory must not be used any more after a write has failed, because it then has what is not stored
 * @returns the scan after the page
 * @throws LeadsheetError api_unexpected if none of its records has an id; the page is then left out
 */
export async function writePage(
  run: SyncRun,
  before: Scan,
  read: ReadPage,
  memory: ScanState,
): Promise<Scan> {
  const mapped = mapPage(run.source, read.records, memory.known.find)
  observe(memory, mapped)
  // Lets other tasks run, because the mapping and writing of a page does not pause for them.
  await nextTurn()
  const isAllNew = isForFirstLoad(mapped, memory)
  if (!isAllNew) await memory.firstLoad?.end(run.options.signal)
  const done = await writePageUnderLease(run, async (trx) => {
    await checkNoCrash(trx, memory.crashMarker)
    const seen: Observation = { runId: run.runId, at: run.now().toISOString() }
    const page = isAllNew ? mapped : await remapRepeated(trx, run, mapped, memory)
    const written = await writeRecords(trx, before, page, isAllNew, memory, seen)
    const { scan, counts } = await noteProgress(trx, run, before, read, page, written, memory)
    await saveScan(trx, scan, seen.at)
    const { pages } = await addCounts(trx, run.runId, { ...counts, pages: 1 })
    return { scan, pages }
  })
  run.options.onProgress?.({ part: 'leads', pages: done.pages, done: done.scan.seen, total: read.total })
  // The first turn of the event loop ends before the network is polled, and the second turn ends after that.
  // Otherwise pages that have already arrived would be stored without a pause.
  await nextTurn()
  await nextTurn()
  return done.scan
}

function observe(memory: ScanState, { records, recordOf, leads }: MappedPage): void {
  // Quarantined records are left out. Because they never count as unchanged, they would fill the sample
  // of changed records in each scan, and their fields would look new.
  const isMapped = new Set(recordOf.values())
  memory.unsure.note(leads)
  memory.watch.observe(records.filter((record) => record.known !== null || isMapped.has(record)))
}

function isForFirstLoad(page: MappedPage, { firstLoad }: ScanState): boolean {
  const others = [...quarantinedIdsOf(page), ...page.deleted.keys()]
  return firstLoad?.takes(leadIdsOf(page), others) === true
}

/** Notes what a page, whose records are written, means for the scan, and which leads the scan has found. */
async function noteProgress(
  trx: Trx,
  run: SyncRun,
  before: Scan,
  read: ReadPage,
  page: MappedPage,
  written: Written,
  memory: ScanState,
): Promise<{ readonly scan: Scan; readonly counts: LeadCounts }> {
  const { seenLeads } = memory
  for (const { lead, no } of written.saved) seenLeads.number(lead.id, no)
  for (const id of sharedIdsOn(page)) memory.sharedIds.add(id)
  noteChanges(run, before, written, memory)
  const seenKeys = seenKeysOn(written)
  const fresh = new Set(seenKeys.filter((each) => seenLeads.passOf(each) === 0))
  const freshInPass = seenKeys.filter((each) => seenLeads.passOf(each) !== before.pass).length
  const missing = seenKeys.filter((each) => typeof each === 'number').filter((no) => memory.missing.has(no))
  await forgetMissing(trx, missing)
  const knownFresh = written.known.filter((no) => fresh.has(no))
  const savedFresh = written.saved.filter(({ no }) => fresh.has(no))
  const born = bornSince(before.started_at)
  // Computes the number of leads that were created during the scan only in later passes. It is compared
  // with the number of leads that a later pass finds for the first time.
  const knownBorn = before.pass === 1 ? 0 : await countCreated(trx, knownFresh, born)
  const scan = await advanceScan(trx, before, {
    ...read,
    seenKeys,
    isUnordered:
      isUnordered(page, written, before, memory) || isRepeated(run, page, written, seenKeys, before, memory),
    fresh: fresh.size,
    freshInPass,
    partialSign: read.partialSign ?? (read.isBehindEnd && freshInPass > 0 ? BEHIND_END : null),
    born: knownBorn + savedFresh.filter(({ lead }) => createdAt(lead) >= born).length,
    // A deleted lead is in the total of the upstream, but not among the leads that were found.
    withoutId: page.quarantined.filter((row) => row.id === null).length + page.deleted.size,
    hasNewDeleted: [...page.deleted.keys()].some((id) => seenLeads.passOf(id) !== before.pass),
    rows: page.records.length,
    cleaned: page.leads.filter((lead) => lead.cleaned.length > 0).length,
    cut: page.leads.reduce((sum, lead) => sum + lead.cut, 0),
    maxUpdatedAt: latestOf(page.leads.map((lead) => lead.updatedAt)),
  })
  const deletedKeys = [...page.deleted.keys(), ...written.deleted]
  remember(memory, before.pass, [...seenKeys, ...deletedKeys], written)
  // Each lead is counted on the page where the scan first finds it, so that the counts add up to the number
  // of leads seen.
  const count = (change: SavedLead['change']): number =>
    savedFresh.filter((lead) => lead.change === change).length
  const freshQuarantined = written.quarantined.filter((each) => each === null || fresh.has(each))
  const counts = {
    seen: savedFresh.length + knownFresh.length,
    inserted: count('inserted'),
    updated: count('updated'),
    unchanged: count('unchanged') + knownFresh.length,
    deleted: written.deleted.length,
    quarantined: before.pass === 1 ? freshQuarantined.length : 0,
  }
  return { scan, counts }
}

/**
 * Notes whether a page has leads that changed since the scan began. A time in the future may come from a wrong clock,
 * so it does not tell when the lead changed. If several leads have such times, the clock of the upstream may be ahead.
 */
function noteChanges(run: SyncRun, scan: Scan, { saved }: Written, memory: ScanState): void {
  const from = bornSince(scan.started_at)
  const now = run.now().getTime() - (run.source.clockAheadMs() ?? 0)
  const until = new Date(now + CLOCK_SKEW_MS).toISOString()
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
function isUnordered(page: MappedPage, { saved }: Written, scan: Scan, memory: ScanState): boolean {
  const isSeen = (no: number): boolean => memory.seenLeads.passOf(no) === scan.pass
  const savedOf = new Map(saved.map((one) => [page.recordOf.get(one.lead), one]))
  const stable = page.records.flatMap((record) => {
    const one = savedOf.get(record)
    if (one === undefined) return memory.known.find(record.high, record.low) ?? []
    return hasHeldStill(one, scan, isSeen(one.no)) ? one.no : []
  })
  return stable.slice(0, stable.findLastIndex(isSeen) + 1).some((no) => !isSeen(no))
}

/**
 * A list whose pages name the next one does not repeat a page, unless a server with another order answers. Leads
 * that have changed since the pass found them may fill a page at its end.
 */
function isRepeated(
  { source }: SyncRun,
  page: MappedPage,
  { known, saved }: Written,
  keys: readonly SeenKey[],
  { pass }: Scan,
  { seenLeads }: ScanState,
): boolean {
  const isSeen = keys.length > 0 && keys.every((key) => seenLeads.passOf(key) === pass)
  const haveChanged = known.length === 0 && saved.every(({ change }) => change === 'updated')
  return isSeen && !haveChanged && namesNext(source.profile.paging) && page.deleted.size === 0
}

/** Returns whether a lead has not changed since the scan began, as far as its times can tell. */
function hasHeldStill({ lead, change }: SavedLead, scan: Scan, isSeen: boolean): boolean {
  const at = lead.updatedAt ?? lead.createdAt
  if (at === null) return change !== 'updated'
  return at < bornSince(scan.started_at) && !(isSeen && change === 'updated')
}

interface Written extends OlderRecords {
  readonly saved: readonly SavedLead[]
  readonly known: readonly number[]
  /** The number of the lead if it is stored, otherwise the id of the record, or null without an id. */
  readonly quarantined: readonly (SeenKey | null)[]
  readonly deleted: readonly number[]
  /** The tombstones that count only if the scan finds no live record of the lead. */
  readonly unsure: readonly (readonly [id: string, at: Instant | null])[]
  readonly fingerprints: readonly Fingerprint[]
  /** The leads whose fingerprints were deleted, so that the next scan maps them again. */
  readonly unknown: readonly number[]
}

async function writeRecords(
  trx: Trx,
  scan: Scan,
  page: MappedPage,
  isAllNew: boolean,
  memory: ScanState,
  seen: Observation,
): Promise<Written> {
  const saved = isAllNew
    ? await insertLeads(trx, page.leads, seen)
    : await saveLeads(trx, page.leads, seen, scan.is_remap === 1 ? 'remap' : 'newer')
  const updated = saved.filter(({ change }) => change === 'updated').map(({ no }) => no)
  await outdateDetails(trx, updated, seen.at)
  await saveQuarantinedRecords(trx, page.quarantined, seen.at)
  if (page.quarantined.length > 0) memory.hasQuarantined = true
  if (memory.hasQuarantined) await releaseQuarantinedRecords(trx, 'lead', leadIdsOf(page))
  const quarantinedNos = isAllNew ? new Map<string, number>() : await findLeadNos(trx, quarantinedIdsOf(page))
  const fingerprints = fingerprintsOf(scan, saved, page)
  await saveFingerprints(trx, fingerprints, isAllNew)
  // The old fingerprints of quarantined leads, and of leads with cleaned or cut values, are deleted.
  // Otherwise, if the upstream sent an earlier record again, the record would count as unchanged.
  const unknown = [
    ...quarantinedNos.values(),
    ...saved.filter(({ lead }) => isReadAnew(lead)).map(({ no }) => no),
  ]
  await forgetFingerprints(trx, unknown)
  const tombstoned = isAllNew ? [] : await findTombstoned(trx, page.deleted)
  // A whole list may have a live record of the lead on any page, so an unsure tombstone waits for its end.
  const isSure = ({ isNewer }: { isNewer: boolean }): boolean => isNewer || scan.mode === 'incremental'
  const sure = tombstoned.filter(isSure)
  await markDeleted(trx, sure, seen)
  const deleted = sure.map(({ no }) => no)
  const savedNos = new Set(saved.map(({ no }) => no))
  const known = page.known.filter((no) => !savedNos.has(no))
  return {
    saved,
    known,
    quarantined: page.quarantined.map(({ id }) => (id === null ? null : (quarantinedNos.get(id) ?? id))),
    deleted,
    unsure: tombstoned.filter((lead) => !isSure(lead)).map(({ id }) => [id, page.deleted.get(id) ?? null]),
    fingerprints,
    unknown: [...unknown, ...deleted],
    ...(await noteOlderRecords(trx, scan, { saved, known }, memory)),
  }
}

/** Deletes the leads that have an unsure tombstone, and no live record on any page of the scan. */
export async function deleteTombstoned(trx: Trx, memory: ScanState, seen: Observation): Promise<void> {
  const tombstoned = await findTombstoned(trx, memory.unsureTombstones)
  const gone = tombstoned.filter(({ no }) => memory.seenLeads.passOf(no) === 0)
  await markDeleted(trx, gone, seen)
  const none = { pages: 0, seen: 0, inserted: 0, updated: 0, unchanged: 0, quarantined: 0 }
  await addCounts(trx, seen.runId, { ...none, deleted: gone.length })
}

function seenKeysOn({ saved, known, quarantined }: Written): SeenKey[] {
  const quarantinedKeys = quarantined.filter((each) => each !== null)
  return [...new Set<SeenKey>([...known, ...saved.map(({ no }) => no), ...quarantinedKeys])]
}

function remember(memory: ScanState, pass: number, seenKeys: readonly SeenKey[], written: Written): void {
  for (const each of seenKeys) {
    memory.seenLeads.note(each, pass)
    if (typeof each === 'number') memory.missing.delete(each)
  }
  for (const { no, high, low } of written.fingerprints) memory.known.set(no, high, low)
  for (const no of written.unknown) memory.known.forget(no)
  for (const [id, at] of written.unsure) memory.unsureTombstones.set(id, at)
  for (const no of written.older) memory.older.add(no)
  for (const no of written.confirmed) memory.older.delete(no)
}

function createdAt(lead: Lead): Instant {
  return lead.createdAt ?? lead.updatedAt ?? ''
}

/** An incremental scan maps unchanged leads too; their fingerprints are stored already. */
function fingerprintsOf(scan: Scan, saved: readonly SavedLead[], page: MappedPage): Fingerprint[] {
  return saved.flatMap(({ no, lead, isLate, change }) => {
    const record = page.recordOf.get(lead)
    if (record === undefined || isLate || isReadAnew(lead)) return []
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
