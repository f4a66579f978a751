/**
 * Stores mapped pages of leads, together with the cursor after them, in one transaction. Pages with little to
 * write are stored together, because a transaction costs more than writing a lead.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant, Lead } from '../../domain/model.ts'
import { checkNoCrash } from '../../store/db/postgres.ts'
import type { Observation, Trx } from '../../store/db/store.ts'
import { outdateDetails } from '../../store/leads/detail.ts'
import type { Fingerprint } from '../../store/leads/fingerprints.ts'
import { forgetFingerprints, saveFingerprints } from '../../store/leads/fingerprints.ts'
import type { SavedLead } from '../../store/leads/lead.ts'
import { countCreated, findLeadNos, insertLeads, saveLeads } from '../../store/leads/lead.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import type { Scan, ScanStep, SeenKey } from '../../store/sync/scan.ts'
import { advanceScan } from '../../store/sync/scan.ts'
import { findTombstoned, forgetMissing, markDeleted } from '../../store/sync/soft-delete.ts'
import { addCounts } from '../../store/sync/sync-run.ts'
import { isReadAnew } from '../../upstream/mapping/lead-mapping.ts'
import { namesNext } from '../../upstream/paging/paging.ts'
import {
  joinPages,
  leadIdsOf,
  type MappedPage,
  mapPage,
  quarantinedIdsOf,
  remapChanged,
  sharedIdsOn,
} from './map-page.ts'
import { noteOlderRecords, type OlderRecords } from './older-records.ts'
import type { ScanState } from './scan-state.ts'
import { noteEvents } from './scan-state.ts'
import type { SyncRun } from './sync-context.ts'
import { writePageUnderLease } from './sync-context.ts'

/** The assumed maximum difference between the clock of this machine and the clock of the upstream. */
export const CLOCK_SKEW_MS = 2 * 60_000

/** The partial sign of a page with leads behind a page that seemed to be the last of a numbered list. */
export const BEHIND_END = 'leads behind what seemed to be the last page'

/** A page to store, and (in `step`) the progress of the scan that the page brings. */
export interface ReadPage {
  readonly mapped: MappedPage
  readonly step: Pick<
    ScanStep,
    'cursor' | 'tail' | 'total' | 'repeats' | 'hasMoved' | 'isBroken' | 'isAgain' | 'partialSign'
  > & {
    /** Tells whether the page before seemed to be the last of the list, and did not say so. */
    readonly isBehindEnd: boolean
  }
}

interface SavedPages {
  /** The state of the scan after the last of the pages. */
  readonly scan: Scan
  /** The number of pages that the run has read so far. */
  readonly pages: number
  /** The number of leads that the run has read so far. */
  readonly seen: number
}

/**
 * Stores all pages in one transaction if no lead is on two of them; otherwise stores each page in its own
 * transaction.
 * @param pages any number of pages for which {@link canWait} is true, followed by one page of any kind
 */
export async function savePages(
  run: SyncRun,
  before: Scan,
  pages: readonly [ReadPage, ...ReadPage[]],
  memory: ScanState,
): Promise<SavedPages> {
  const [first, ...others] = pages
  if (others.length > 0) {
    const done = await saveTogether(run, before, pages, memory)
    if (done !== null) return done
  }
  let done = await savePage(run, before, first, memory)
  for (const { mapped, step } of others) {
    // Maps the page again, because a page before it may have changed what is stored.
    const anew = mapPage(run.source, mapped.records, memory.known.find)
    done = await savePage(run, done.scan, { mapped: anew, step }, memory)
  }
  return done
}

/**
 * Returns whether a page may wait and be stored with later pages. This requires the first pass of a scan, a
 * further page, at least as many unchanged as other leads, and no quarantined record. The first unchanged
 * lead must be new to the scan, so that pages of a list that repeats itself do not wait.
 * @param waiting the pages that wait already
 */
export function canWait(
  { mapped, step }: ReadPage,
  scan: Scan,
  waiting: readonly ReadPage[],
  memory: ScanState,
): boolean {
  const isOrdinary = step.cursor !== null && step.tail.length === 0 && !step.hasMoved && !step.isBroken
  if (!isOrdinary || scan.pass > 1 || mapped.quarantined.length + mapped.deleted.size > 0) return false
  const [no] = mapped.known
  if (no === undefined || mapped.known.length < mapped.leads.length) return false
  return memory.seenLeads.passOf(no) === 0 && !waiting.some((other) => other.mapped.known.includes(no))
}

async function savePage(
  run: SyncRun,
  before: Scan,
  { mapped, step }: ReadPage,
  memory: ScanState,
): Promise<SavedPages> {
  const seen = observationOf(run)
  const deletedIds = [...mapped.deleted.keys()]
  const isAllNew =
    memory.firstLoad?.takes(leadIdsOf(mapped), [...quarantinedIdsOf(mapped), ...deletedIds]) === true
  if (!isAllNew) await memory.firstLoad?.end(run.options.signal)
  const done = await writePageUnderLease(run, async (trx) => {
    await checkNoCrash(trx, memory.crashMarker)
    const page = isAllNew ? mapped : await remapChanged(trx, run, mapped, memory)
    for (const id of sharedIdsOn(page)) memory.sharedIds.add(id)
    const written = await writePage(trx, before, page, isAllNew, memory, seen)
    return advance(trx, run, before, written, [{ page, step, written }], memory)
  })
  remember(memory, before.pass, [...done.seenKeys, ...deletedIds, ...done.written.deleted], done.written)
  await haveOthersServed()
  return done
}

/**
 * Stores pages in one transaction. Stores nothing and returns null if storing one page after the other could
 * have a different result.
 */
async function saveTogether(
  run: SyncRun,
  before: Scan,
  pages: readonly ReadPage[],
  memory: ScanState,
): Promise<SavedPages | null> {
  const all = joinPages(pages.map(({ mapped }) => mapped))
  const seen = observationOf(run)
  const together = await writePageUnderLease(run, async (trx) => {
    await checkNoCrash(trx, memory.crashMarker)
    await noteEvents(trx, memory)
    if (!(await areApart(trx, all, memory))) return null
    const written = await writePage(trx, before, all, false, memory, seen)
    const parts = pages.map(({ mapped: page, step }) => {
      const saved = written.saved.filter(({ lead }) => page.recordOf.has(lead))
      return { page, step, written: { ...written, saved, known: page.known } }
    })
    return advance(trx, run, before, written, parts, memory)
  })
  if (together === null) return null
  remember(memory, before.pass, together.seenKeys, together.written)
  await haveOthersServed()
  return together
}

/**
 * Returns whether pages can be stored together. Each lead must be on them only once, and must not have been
 * seen earlier in the scan or read because of an event. No record may be quarantined.
 */
async function areApart(
  trx: Trx,
  { known, leads, quarantined, deleted }: MappedPage,
  memory: ScanState,
): Promise<boolean> {
  if (quarantined.length + deleted.size > 0) return false
  const ids = new Set(leads.map(({ id }) => id))
  const nos = [...known, ...(await findLeadNos(trx, [...ids])).values()]
  const isSeen = (no: number): boolean => memory.seenLeads.passOf(no) > 0 || memory.readByEvents.has(no)
  return ids.size === leads.length && new Set(nos).size === nos.length && !nos.some(isSeen)
}

function observationOf({ runId, now }: SyncRun): Observation {
  return { runId, at: now().toISOString() }
}

/** A page, and (in `written`) what was written of it. */
interface WrittenPage {
  readonly page: MappedPage
  readonly step: ReadPage['step']
  readonly written: Written
}

/** Stores the progress of the scan after pages were written together. */
async function advance(
  trx: Trx,
  run: SyncRun,
  before: Scan,
  written: Written,
  pages: readonly WrittenPage[],
  memory: ScanState,
): Promise<SavedPages & { seenKeys: readonly SeenKey[]; written: Written }> {
  for (const { lead, no } of written.saved) memory.seenLeads.number(lead.id, no)
  noteChanges(run, before, written, memory)
  const seenKeys = seenKeysOn(written)
  const fresh = new Set(seenKeys.filter((each) => memory.seenLeads.passOf(each) === 0))
  const missing = seenKeys.filter((each) => typeof each === 'number').filter((no) => memory.missing.has(no))
  await forgetMissing(trx, missing)
  const born = bornSince(before.started_at)
  const steps: ScanStep[] = []
  for (const { page, step, written: part } of pages) {
    const keysHere = seenKeysOn(part)
    const knownFresh = part.known.filter((no) => fresh.has(no))
    // Computes the number of leads that were created during the scan only in later passes. It is compared
    // with the number of leads that a later pass finds for the first time.
    const knownBorn = before.pass === 1 ? 0 : await countCreated(trx, knownFresh, born)
    const freshInPass = keysHere.filter((each) => memory.seenLeads.passOf(each) !== before.pass).length
    const savedBorn = part.saved.filter(({ no, lead }) => fresh.has(no) && createdAt(lead) >= born)
    steps.push({
      ...step,
      seenKeys: keysHere,
      isUnordered: isUnordered(page, part, before, memory) || isRepeated(run, page, keysHere, before, memory),
      fresh: keysHere.filter((each) => fresh.has(each)).length,
      freshInPass,
      partialSign: step.partialSign ?? (step.isBehindEnd && freshInPass > 0 ? BEHIND_END : null),
      born: knownBorn + savedBorn.length,
      // A deleted lead is in the total of the upstream, but not among the leads that were found.
      withoutId: page.quarantined.filter((row) => row.id === null).length + page.deleted.size,
      hasNewDeleted: [...page.deleted.keys()].some((id) => memory.seenLeads.passOf(id) !== before.pass),
      rows: page.records.length,
      cleaned: page.leads.filter((lead) => lead.cleaned.length > 0).length,
      cut: page.leads.reduce((sum, lead) => sum + lead.cut, 0),
      maxUpdatedAt: latestOf(page.leads.map((lead) => lead.updatedAt)),
    })
  }
  const scan = await advanceScan(trx, before, steps, run.now().toISOString())
  // Each lead is counted on the page where the scan first finds it, so that the counts add up to the number
  // of leads seen.
  const savedFresh = written.saved.filter(({ no }) => fresh.has(no))
  const count = (change: SavedLead['change']): number =>
    savedFresh.filter((lead) => lead.change === change).length
  const knownFresh = written.known.filter((no) => fresh.has(no))
  const freshQuarantined = written.quarantined.filter((each) => each === null || fresh.has(each))
  const counts = await addCounts(trx, run.runId, {
    pages: pages.length,
    seen: savedFresh.length + knownFresh.length,
    inserted: count('inserted'),
    updated: count('updated'),
    unchanged: count('unchanged') + knownFresh.length,
    deleted: written.deleted.length,
    quarantined: before.pass === 1 ? freshQuarantined.length : 0,
  })
  return { scan, seenKeys, written, ...counts }
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
    const isChanged = change !== 'unchanged' || memory.readByEvents.has(no)
    if (!isChanged || lead.updatedAt === null || lead.updatedAt < from) continue
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
 * Returns whether all leads of a page have been on earlier pages of the pass, in a list whose pages name the next
 * one. Such a list does not repeat a page, unless another server answers, which sorts in another order.
 */
function isRepeated(
  { source }: SyncRun,
  page: MappedPage,
  keys: readonly SeenKey[],
  { pass }: Scan,
  { seenLeads }: ScanState,
): boolean {
  const isSeen = keys.length > 0 && keys.every((key) => seenLeads.passOf(key) === pass)
  return isSeen && namesNext(source.profile.paging) && page.deleted.size === 0
}

/** Returns whether a lead has not changed since the scan began, as far as its times can tell. */
function hasHeldStill({ lead, change }: SavedLead, scan: Scan, isSeen: boolean): boolean {
  const at = lead.updatedAt ?? lead.createdAt
  if (at === null) return change !== 'updated'
  return at < bornSince(scan.started_at) && !(isSeen && change === 'updated')
}

/** Lets other tasks run. Otherwise pages that have already arrived would be stored without a pause. */
async function haveOthersServed(): Promise<void> {
  // The first turn of the event loop ends before the network is polled, and the second turn ends after that.
  await nextTurn()
  await nextTurn()
}

interface Written extends OlderRecords {
  readonly saved: readonly SavedLead[]
  /** The unchanged leads, which were not written. Each is given by its number in the store. */
  readonly known: readonly number[]
  /**
   * One entry for each quarantined record of the page. The entry is the number of its lead if that lead is
   * stored, otherwise the id of the record, or null if the record has no id.
   */
  readonly quarantined: readonly (SeenKey | null)[]
  /** The numbers of the leads that were marked as deleted, because the upstream says so. */
  readonly deleted: readonly number[]
  /** The tombstones that count only if the scan finds no live record of the lead. */
  readonly unsure: readonly (readonly [id: string, at: Instant | null])[]
  readonly fingerprints: readonly Fingerprint[]
  /**
   * The leads whose fingerprints were deleted, so that the next scan maps these leads again. Each is given by
   * its number in the store.
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
  const tombstoned = isAllNew ? [] : await findTombstoned(trx, page.deleted, memory.readByEvents)
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
  await noteEvents(trx, memory)
  const tombstoned = await findTombstoned(trx, memory.unsureTombstones, memory.readByEvents)
  const gone = tombstoned.filter(({ no }) => memory.seenLeads.passOf(no) === 0)
  await markDeleted(trx, gone, seen)
  const none = { pages: 0, seen: 0, inserted: 0, updated: 0, unchanged: 0, quarantined: 0 }
  await addCounts(trx, seen.runId, { ...none, deleted: gone.length })
}

/** Lists the leads and the quarantined records of the page, each of them once. */
function seenKeysOn({ saved, known, quarantined }: Written): SeenKey[] {
  const quarantinedKeys = quarantined.filter((each) => each !== null)
  return [...new Set<SeenKey>([...known, ...saved.map(({ no }) => no), ...quarantinedKeys])]
}

/** Updates the state in memory. It is called after the transaction, because the transaction may fail. */
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

/**
 * Returns the fingerprints to store. An incremental scan does not load the stored fingerprints, so it maps
 * unchanged leads too. These are left out, because their fingerprints are stored already.
 */
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
