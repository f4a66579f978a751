/**
 * Decides whether a scan that reached the end of the list can be trusted, or whether the list must be read
 * again. The decision uses only the counts of the scan.
 */
import type { ScanReport } from '../../domain/sync.ts'
import type { Scan } from '../../store/sync/scan.ts'
import { canShift, overlapRows } from '../../upstream/paging/read-ahead.ts'
import type { PagingProfile } from '../../upstream/profile/profile.ts'
import { CLOCK_SKEW_MS } from './sync-page.ts'

/** The maximum number of passes over the list in one scan, including the first pass. */
const PASSES_MAX = 6

/**
 * The next step after a pass: the end of the scan (`end`), a pass over the leads that changed since the scan
 * began (`changes`), or another pass over the whole list (`again`).
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
  // If pages overlap, only rows that moved to the front of the list can be missed. A row moves there when its
  // lead changes. After an incremental scan, the next sync reads that lead anyway; a full scan reads it in
  // another pass.
  if (scan.mode === 'incremental') return COMPLETE
  return { next: hasUpdatedSince ? 'changes' : 'again' }
}

/**
 * Judges a pass after the first. The scan is complete if this pass found no lead that the earlier passes
 * should have found, or if no row moved.
 */
function judgeFurther(scan: Scan, paging: PagingProfile): Judgement {
  const isOfChanges = scan.pass_since !== scan.updated_since
  if (!canShift(paging) || isOneMoment(scan) || !hasMoved(scan, paging)) return COMPLETE
  // If pages do not overlap, two passes may miss the same lead, but it is not plausible that three passes
  // miss it.
  if (scan.pass_new === 0 && (hasOverlap(scan, paging) || scan.passes_without_new > 0)) return COMPLETE
  // The rows that the first pass missed had moved to the front of the list. This pass began there and read
  // them.
  if (!isOfChanges && scan.is_broken === 0 && hasOverlap(scan, paging)) return COMPLETE
  return { next: isOfChanges ? 'changes' : 'again' }
}

/**
 * Returns whether all rows of the pass were on one page, so that no row could move between pages. In the
 * first pass the size of a full page is not known, so a single page is required.
 */
function isOneMoment(scan: Scan): boolean {
  return scan.pass_pages <= 1 || (scan.pass > 1 && scan.first_rows < scan.largest_page)
}

/**
 * Returns whether rows moved during the pass. The total does not always show this: if one row is added and
 * another row is deleted, the total stays the same. If the list is paged by number, such a change shifts rows
 * between pages. In such a list, a lead that changed after the scan began therefore also counts as a sign
 * that rows moved.
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

/**
 * Returns whether the scan found fewer leads than the lowest total that the upstream reported during the
 * pass.
 */
function isShort(scan: Scan): boolean {
  return scan.total_low !== null && scan.total_low > scan.seen + scan.pass_without_id
}

/**
 * Returns whether a lead that the scan did not find counts as missing. If the upstream's total includes leads
 * that its list does not contain, a lead that the scan did not find proves nothing.
 */
export function provesMissing(scan: Scan): boolean {
  return !isShort(scan)
}

/**
 * Describes how the total that the upstream reported differs from the number of leads that the scan found.
 * Returns null if the two numbers agree or cannot be compared.
 */
export function warnOfTotal(scan: Scan): string | null {
  const total = scan.reported_total
  // If the list changed during the scan, its total and the number of its leads may differ without a fault.
  if (scan.mode === 'incremental' || total === null || scan.moved > 0 || scan.total_low !== scan.total_high) {
    return null
  }
  if (!provesMissing(scan)) {
    return `the upstream counts ${total} leads, but gave ${scan.seen} to the end of its list, and no more when asked again; so no missing lead counts as deleted`
  }
  return total < scan.seen ? `the upstream counts ${total} leads, but gave ${scan.seen}` : null
}
