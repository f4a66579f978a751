/** Stores a page of leads, together with the cursor after it, in one transaction. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant, Lead } from '../../domain/model.ts'
import { checkLife } from '../../store/db/postgres.ts'
import type { Observation, Trx } from '../../store/db/store.ts'
import { outdateDetails } from '../../store/leads/detail.ts'
import { type Fingerprint, forgetFingerprints, saveFingerprints } from '../../store/leads/fingerprints.ts'
import { countCreated, findLeadNos, insertLeads, type SavedLead, saveLeads } from '../../store/leads/lead.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import type { Met } from '../../store/sync/scan.ts'
import { advanceScan, type Scan, type ScanStep } from '../../store/sync/scan.ts'
import { forgetAbsence } from '../../store/sync/soft-delete.ts'
import { addCounts } from '../../store/sync/sync-run.ts'
import { leadIdsOf, type MappedPage, quarantinedIdsOf, remapChanged } from './page-mapping.ts'
import type { ScanState } from './scan-state.ts'
import { type SyncRun, writePageHolding } from './sync-context.ts'

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
