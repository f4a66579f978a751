/**
 * Whether there are fewer leads than a service loses in good faith, so that a report on them should not pass for an
 * ordinary one. Few leads may halve from one day to the next, and mean nothing.
 */
import type { ReportFigures, UnusualWarning } from '../../domain/figures.ts'
import type { Db } from '../../store/db/store.ts'
import { listWholeScans, type WholeScan } from '../../store/sync/scan-result.ts'

/** Fewer than these before are no measure of what is usual. */
const LEADS_LEAST = 50
/** Of the leads before, what is left at most where that is unusual. */
const SHARE_LEFT = 0.5

type Counted = Pick<ReportFigures, 'leads' | 'filter'>

export interface LeadCounts {
  /** What the report is about now. */
  readonly now: Counted
  /** What it was about when it was last sent to the same readers; null before the first time. */
  readonly last: Counted | null
  /** The last readings of the whole list, the newest first. */
  readonly scans: readonly WholeScan[]
}

/** Pure. Of the list as it was read one warning at most: that absences are not believed says more than that there are fewer. */
export function judgeCounts({ now, last, scans }: LeadCounts): UnusualWarning[] {
  const [scan, before] = scans
  const warnings: UnusualWarning[] = []
  // Of other leads than before there may be as few as there are.
  const isSameScope = last !== null && JSON.stringify(last.filter) === JSON.stringify(now.filter)
  if (isSameScope && isFall(last.leads, now.leads)) {
    warnings.push({ kind: 'unusual', what: 'scope', was: last.leads, is: now.leads })
  }
  if (scan !== undefined && scan.heldBack > 0) {
    const was = scan.leads + scan.heldBack
    warnings.push({ kind: 'unusual', what: 'removal', was, is: scan.leads })
  } else if (scan !== undefined && before !== undefined && isFall(before.leads, scan.leads)) {
    warnings.push({ kind: 'unusual', what: 'scan', was: before.leads, is: scan.leads })
  }
  return warnings
}

export async function findUnusual(db: Db, now: Counted, last: Counted | null): Promise<UnusualWarning[]> {
  return judgeCounts({ now, last, scans: await listWholeScans(db, 2) })
}

function isFall(was: number, is: number): boolean {
  return was >= LEADS_LEAST && is <= was * SHARE_LEFT
}
