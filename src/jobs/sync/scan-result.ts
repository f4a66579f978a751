/**
 * Decides whether a scan that reached its end can be trusted or the list must be read again. Uses only the
 * counts of the scan.
 */
import type { ScanReport } from '../../domain/sync.ts'
import type { Scan } from '../../store/sync/scan.ts'
import { canShift, overlapRows } from '../../upstream/paging/read-ahead.ts'
import type { PagingProfile } from '../../upstream/profile/profile.ts'
import { CLOCK_SKEW_MS } from './sync-page.ts'

/** The maximum number of passes over the list in one scan, the first included. */
const PASSES_MAX = 6

/**
 * The next step after a pass: the end of the scan, a pass over what changed since the scan began
 * (`changes`), or another pass over the whole list (`again`).
 */
export type Judgement =
  | {
      readonly next: 'end'
      readonly scan_result: Extract<ScanReport['scan_result'], 'complete' | 'unproven'>
    }
  | { readonly next: 'changes' | 'again' }

const COMPLETE: Judgement = { next: 'end', scan_result: 'complete' }
const UNPROVEN: Judgement = { next: 'end', scan_result: 'unproven' }

export function judgePass(scan: Scan, paging: PagingProfile, hasUpdatedSince: boolean): Judgement {
  const wanted = scan.pass === 1 ? judgeFirst(scan, paging, hasUpdatedSince) : judgeFurther(scan, paging)
  if (wanted.next === 'end' || scan.pass < PASSES_MAX) return wanted
  return UNPROVEN
}

function judgeFirst(scan: Scan, paging: PagingProfile, hasUpdatedSince: boolean): Judgement {
  if (scan.mode === 'full' && isShort(scan)) return { next: 'again' }
  if (!canShift(paging) || isOneMoment(scan) || !hasMoved(scan, paging)) return COMPLETE
  if (scan.is_broken === 1 || !hasOverlap(scan, paging)) return { next: 'again' }
  // If pages overlap, only rows that moved to the front of the list can be missed. Such a row was changed, so
  // a scan of the changes since then reads it.
  if (scan.mode === 'incremental') return COMPLETE
  return { next: hasUpdatedSince ? 'changes' : 'again' }
}

/**
 * Judges a later pass. The scan is complete if this pass found no lead that the earlier passes should have
 * found, or if no row moved.
 */
function judgeFurther(scan: Scan, paging: PagingProfile): Judgement {
  const isOfChanges = scan.pass_since !== scan.updated_since
  if (!canShift(paging) || isOneMoment(scan) || !hasMoved(scan, paging)) return COMPLETE
  // If pages do not overlap, two passes may miss the same lead; that three passes miss it is not plausible.
  if (scan.pass_new === 0 && (hasOverlap(scan, paging) || scan.quiet_passes > 0)) return COMPLETE
  // The rows that the first pass missed had jumped to the front of the list, where the second pass began.
  if (!isOfChanges && scan.is_broken === 0 && hasOverlap(scan, paging)) return COMPLETE
  return { next: isOfChanges ? 'changes' : 'again' }
}

/**
 * Returns whether one page held all rows of the pass, so that no row could move between pages. A full first
 * page cannot be told from a partly filled one until a fuller page was seen.
 */
function isOneMoment(scan: Scan): boolean {
  return scan.pass_pages <= 1 || (scan.pass > 1 && scan.first_rows < scan.largest_page)
}

/**
 * Returns whether rows moved during the pass. In a list paged by number, an added and a deleted row may leave
 * the total unchanged; there, a lead that changed after the scan began counts as a sign of movement.
 */
function hasMoved(scan: Scan, paging: PagingProfile): boolean {
  if (scan.pass_moved > 0 || scan.total_low !== scan.total_high) return true
  return paging.kind === 'page' && hasChanged(scan)
}

/** Returns whether the scan found a lead that changed after the scan began. */
function hasChanged(scan: Scan): boolean {
  const from = new Date(Date.parse(scan.started_at) - CLOCK_SKEW_MS).toISOString()
  return scan.max_updated_at !== null && scan.max_updated_at >= from
}

function hasOverlap(scan: Scan, paging: PagingProfile): boolean {
  return overlapRows(paging, scan.largest_page) > 0
}

/** Returns whether the scan found fewer leads than the lowest total that the pass reported. */
function isShort(scan: Scan): boolean {
  return scan.total_low !== null && scan.total_low > scan.seen + scan.pass_held
}

/**
 * Returns whether a missing lead counts as absent. If the upstream counts leads that its list does not
 * contain, absence proves nothing.
 */
export function provesAbsence(scan: Scan): boolean {
  return !isShort(scan)
}

/**
 * Describes the difference if the list, read to its end, does not have as many leads as its total says; null
 * if they agree.
 */
export function warnOfTotal(scan: Scan): string | null {
  const total = scan.reported_total
  // The total and the count of a list that changed during the scan may differ without a fault.
  if (scan.mode === 'incremental' || total === null || scan.moved > 0 || scan.total_low !== scan.total_high) {
    return null
  }
  if (!provesAbsence(scan)) {
    return `the upstream counts ${total} leads, but gave ${scan.seen} to the end of its list, and no more when asked again; so no absent lead is taken to be gone`
  }
  return total < scan.seen ? `the upstream counts ${total} leads, but gave ${scan.seen}` : null
}
