/**
 * Whether a scan that reached its end may be believed, or the list has to be read again. Pure: from the counts
 * of the scan alone.
 */
import type { ScanReport } from '../../model.ts'
import type { Scan } from '../../store/sync/scan.ts'
import { canShift, overlapRows } from '../../upstream/paging/read-ahead.ts'
import type { PagingProfile } from '../../upstream/profile/profile.ts'
import { CLOCK_SKEW_MS } from './sync-page.ts'

/** Readings of one list, the first included. */
const PASSES_MAX = 6

/**
 * What follows a pass: the end with a scan_result, or another pass over what changed since the scan began, or over
 * the whole list once more.
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
  // With an overlap nothing was passed by but rows that jumped ahead of the reading, which changes them.
  if (scan.mode === 'incremental') return COMPLETE
  return { next: hasUpdatedSince ? 'changes' : 'again' }
}

/** Proves the passes before: nothing turned up that they could have met, or nothing moved. */
function judgeFurther(scan: Scan, paging: PagingProfile): Judgement {
  const isOfChanges = scan.pass_since !== scan.updated_since
  if (!canShift(paging) || isOneMoment(scan) || !hasMoved(scan, paging)) return COMPLETE
  // Without an overlap, two readings may pass by the same lead; that three do is past belief.
  if (scan.pass_new === 0 && (hasOverlap(scan, paging) || scan.quiet_passes > 0)) return COMPLETE
  // Rows that the first pass missed had jumped to the front of the list, where the second one began.
  if (!isOfChanges && scan.is_broken === 0 && hasOverlap(scan, paging)) return COMPLETE
  return { next: isOfChanges ? 'changes' : 'again' }
}

/** Whether all rows of the pass were on its first page; that it was not full shows only beside a fuller one. */
function isOneMoment(scan: Scan): boolean {
  return scan.pass_pages <= 1 || (scan.pass > 1 && scan.first_rows < scan.largest_page)
}

/**
 * Whether rows were seen to move. By page number, one that came and one that went may hide each other in the
 * total: then a lead that changed after the scan began tells of them.
 */
function hasMoved(scan: Scan, paging: PagingProfile): boolean {
  if (scan.pass_moved > 0 || scan.total_low !== scan.total_high) return true
  return paging.kind === 'page' && hasChanged(scan)
}

/** Whether a lead was met that changed after the scan began. */
function hasChanged(scan: Scan): boolean {
  const from = new Date(Date.parse(scan.started_at) - CLOCK_SKEW_MS).toISOString()
  return scan.max_updated_at !== null && scan.max_updated_at >= from
}

function hasOverlap(scan: Scan, paging: PagingProfile): boolean {
  return overlapRows(paging, scan.largest_page) > 0
}

/** Whether fewer were met than even the least total that the pass told. */
function isShort(scan: Scan): boolean {
  return scan.total_low !== null && scan.total_low > scan.seen + scan.pass_held
}

/** Not while the upstream counts leads that its list does not give: absence from the list then proves nothing. */
export function provesAbsence(scan: Scan): boolean {
  return !isShort(scan)
}

/** Warns of a total that does not fit a list read to its end; null where it fits. */
export function warnOfTotal(scan: Scan): string | null {
  const total = scan.reported_total
  // The counts of a list that changed while it was read may differ in good faith.
  if (scan.mode === 'incremental' || total === null || scan.moved > 0 || scan.total_low !== scan.total_high) {
    return null
  }
  if (!provesAbsence(scan)) {
    return `the upstream counts ${total} leads, but gave ${scan.seen} to the end of its list, and no more when asked again; so no absent lead is taken to be gone`
  }
  return total < scan.seen ? `the upstream counts ${total} leads, but gave ${scan.seen}` : null
}
