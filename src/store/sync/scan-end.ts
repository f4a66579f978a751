/**
 * Ends scans. Only a complete scan moves the watermark (the time up to which changes are read), and only a complete
 * full scan shows which leads are missing. Leads that the list itself marks as deleted are deleted by every scan.
 */
import type { Instant, Lead } from '../../domain/model.ts'
import type { ScanResult } from '../../domain/sync.ts'
import { checkNoCrash } from '../db/postgres.ts'
import type { Db, Observation, Trx } from '../db/store.ts'
import { finishLeadEvents } from '../events/event.ts'
import { outdateAllDetails, outdateDetails } from '../leads/detail.ts'
import { forgetFingerprints } from '../leads/fingerprints.ts'
import { saveLeads } from '../leads/lead.ts'
import { CLOCK_SKEW_MS, clearScan, forgetOlder, type Scan } from './scan.ts'
import type { ScanMemory } from './scan-memory.ts'
import { findTombstoned, type MissingResult, markDeleted, recordMissing } from './soft-delete.ts'
import { addCounts, noteLeadsAsOf, readCounts } from './sync-run.ts'
import { countUndated, findLastUpdate, saveProfileHash, saveScanResult, saveWatermark } from './watermark.ts'

/** The update times of the leads of a scan. */
interface UpdateTimes {
  readonly last: Instant | null
  /** The number of leads for which the upstream gave no update time. */
  readonly undated: number
}

/** Reads long, so it is called before the transaction that ends the scan. */
export async function readUpdateTimes(db: Db, scan: Scan, hasUpdatedSince: boolean): Promise<UpdateTimes> {
  if (scan.mode === 'incremental') return { last: scan.max_updated_at, undated: 0 }
  return { last: await findLastUpdate(db), undated: hasUpdatedSince ? await countUndated(db) : 0 }
}

/**
 * Sets leads back to the older records that a complete full scan has noted. An event that brought a newer record
 * meanwhile has removed the note.
 * @param leads the leads of these records, without those that cannot be mapped
 */
export async function setLeadsBack(
  trx: Trx,
  nos: readonly number[],
  leads: readonly Lead[],
  { crashMarker }: ScanMemory,
  observed: Observation,
): Promise<void> {
  await checkNoCrash(trx, crashMarker)
  await saveLeads(trx, leads, observed, 'list')
  await outdateDetails(trx, nos, observed.at)
  // Otherwise, the newer record would count as unchanged if the upstream sent it again.
  await forgetFingerprints(trx, nos)
  await forgetOlder(trx, nos)
  // The pages counted them as unchanged, perhaps in an earlier run of the scan.
  const updated = nos.length
  const recounted = Math.min((await readCounts(trx, observed.runId)).unchanged, updated)
  const counts = { leads_seen: updated - recounted, leads_updated: updated, leads_unchanged: -recounted }
  await addCounts(trx, observed.runId, counts)
}

/** Deletes the leads that have an unsure tombstone, and no live record on any page of the scan. */
export async function deleteTombstoned(trx: Trx, memory: ScanMemory, observed: Observation): Promise<void> {
  await checkNoCrash(trx, memory.crashMarker)
  const tombstoned = await findTombstoned(trx, memory.unsureTombstones)
  const gone = tombstoned.filter(({ no }) => memory.seenLeads.passOf(no) === 0)
  await markDeleted(trx, gone, observed)
  await addCounts(trx, observed.runId, { leads_deleted: gone.length })
}

interface Acceptance {
  /** An operator has confirmed deletions. */
  readonly isConfirmed: boolean
  /** Tells whether the upstream is asked for leads that an event reports as deleted. */
  readonly asksForDeleted: boolean
  readonly times: UpdateTimes
}

/**
 * Stores what a complete scan proves.
 * @returns the number of missing leads if they are too many to be believed; otherwise null
 */
export async function acceptScan(
  trx: Trx,
  scan: Scan,
  memory: ScanMemory,
  { isConfirmed, asksForDeleted, times }: Acceptance,
  observed: Observation,
): Promise<MissingResult['refused']> {
  const startedAt = scan.started_at
  const isFull = scan.mode === 'full'
  const { deleted, refused } = isFull
    ? await recordMissing(trx, memory.seenLeads, { ...observed, startedAt }, isConfirmed)
    : { deleted: 0, refused: null }
  const newest = Math.min(Date.parse(times.last ?? ''), Date.parse(startedAt) - CLOCK_SKEW_MS)
  if (Number.isFinite(newest)) await saveWatermark(trx, { updated_at: new Date(newest).toISOString() })
  if (isFull) await saveWatermark(trx, { has_undated: times.undated > 0 ? 1 : 0 })
  await noteLeadsAsOf(trx, observed.runId, startedAt)
  await addCounts(trx, observed.runId, { leads_deleted: deleted })
  await finishLeadEvents(trx, { startedAt, asksForDeleted }, observed.at)
  if (isFull) await saveProfileHash(trx, scan.profile_sha256, observed.at)
  if (scan.is_remap === 1) await outdateAllDetails(trx, observed.at)
  return refused
}

/** Saves the result of a scan, and deletes its progress, unless it failed or was interrupted: a later run may resume it. */
export async function endScan(trx: Trx, runId: string, result: ScanResult, at: Instant): Promise<void> {
  await saveScanResult(trx, runId, result, at)
  if (result.stop !== 'interrupted' && result.stop !== 'failed') await clearScan(trx)
}
