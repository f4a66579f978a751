/**
 * Decides whether the number of leads fell so far that a report should carry a warning. A small number of
 * leads is not judged, because it may halve from one day to the next without a fault.
 */
import type { ReportFigures, UnusualWarning } from '../../domain/figures.ts'
import type { Db } from '../../store/db/store.ts'
import { type CompleteFullScan, listCompleteFullScans } from '../../store/sync/watermark.ts'

const LEADS_LEAST = 50
const SHARE_LEFT = 0.5

type Counted = Pick<ReportFigures, 'leads' | 'filter'>

interface LeadCounts {
  readonly now: Counted
  /** Null if the report was never sent to the same recipients. */
  readonly last: Counted | null
  readonly scans: readonly CompleteFullScan[]
}

/**
 * Compares the numbers of leads. At most one warning is about the scans. If so many leads were missing that
 * they were not marked as deleted, the warning is about the missing leads. Otherwise it may be about a scan
 * that found far fewer leads than the scan before.
 */
export function judgeCounts({ now, last, scans }: LeadCounts): UnusualWarning[] {
  const [scan, before] = scans
  const warnings: UnusualWarning[] = []
  // Another filter may cover any number of leads, so the numbers are compared only if the filters are equal.
  const isSameScope = last !== null && JSON.stringify(last.filter) === JSON.stringify(now.filter)
  if (isSameScope && isFall(last.leads, now.leads)) {
    warnings.push({ kind: 'unusual', what: 'scope', was: last.leads, is: now.leads })
  }
  if (scan !== undefined && scan.heldBack > 0) {
    const was = scan.leads + scan.heldBack
    warnings.push({ kind: 'unusual', what: 'deletion', was, is: scan.leads })
  } else if (scan !== undefined && before !== undefined && isFall(before.leads, scan.leads)) {
    warnings.push({ kind: 'unusual', what: 'scan', was: before.leads, is: scan.leads })
  }
  return warnings
}

export async function findUnusual(db: Db, now: Counted, last: Counted | null): Promise<UnusualWarning[]> {
  return judgeCounts({ now, last, scans: await listCompleteFullScans(db, 2) })
}

function isFall(was: number, is: number): boolean {
  return was >= LEADS_LEAST && is <= was * SHARE_LEFT
}
