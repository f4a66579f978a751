/**
 * Decides whether the number of leads fell so far that a report should carry a warning. Small lists are not
 * judged, because they may halve from one day to the next without a fault.
 */
import type { ReportFigures, UnusualWarning } from '../../domain/figures.ts'
import type { Db } from '../../store/db/store.ts'
import { listWholeScans, type WholeScan } from '../../store/sync/scan-result.ts'

/** A fall is judged only if there were at least this many leads before. */
const LEADS_LEAST = 50
/** A fall is unusual if at most this share of the leads is left. */
const SHARE_LEFT = 0.5

type Counted = Pick<ReportFigures, 'leads' | 'filter'>

export interface LeadCounts {
  /** The leads that the report covers now. */
  readonly now: Counted
  /**
   * The leads that the report covered when it was last sent to the same recipients; null if it was not sent
   * yet.
   */
  readonly last: Counted | null
  /** The last complete scans, the newest first. */
  readonly scans: readonly WholeScan[]
}

/**
 * Compares the counts that it is given. At most one warning concerns the scans: if missing leads were not
 * deleted because so many were missing, only this is reported and not the smaller count.
 */
export function judgeCounts({ now, last, scans }: LeadCounts): UnusualWarning[] {
  const [scan, before] = scans
  const warnings: UnusualWarning[] = []
  // A changed filter may cover any number of leads, so only equal filters are compared.
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
