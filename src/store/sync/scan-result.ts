/** The result of each run's scan of the leads. */
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import type { ScanReport } from '../../domain/sync.ts'
import type { Db, Trx } from '../db/store.ts'

export async function saveScanResult(
  trx: Trx,
  runId: string,
  report: ScanReport,
  endedAt: Instant,
): Promise<void> {
  await trx
    .insertInto('sync_scan_result')
    .values({
      run_id: runId,
      mode: report.mode,
      started_at: report.startedAt,
      ended_at: endedAt,
      scan_result: report.scan_result,
      stop: report.stop,
      reported_total: report.reportedTotal,
      distinct_leads: report.distinct,
      pages: report.pages,
      passes: report.passes,
      moved: report.moved,
      cleaned: report.cleaned,
      cut: report.cut,
      held_back: report.heldBack,
      warnings: JSON.stringify(report.warnings),
      drift: JSON.stringify(report.drift),
    })
    .execute()
}

/** The result of a scan of the whole list. */
export interface WholeScan {
  readonly leads: number
  /**
   * The number of leads that the scan missed but that were not deleted, because so many were missing at once.
   */
  readonly heldBack: number
}

/** Lists the last complete scans of the whole list, newest first. */
export async function listWholeScans(db: Db, limit: number): Promise<WholeScan[]> {
  return (
    db
      // A cross join makes SQLite begin with the last runs instead of reading the results of all runs.
      .selectFrom('sync_run')
      .crossJoin('sync_scan_result as scan_result')
      .whereRef('scan_result.run_id', '=', 'sync_run.id')
      .where('scan_result.mode', '=', 'full')
      .where('scan_result.scan_result', '=', 'complete')
      .select(['distinct_leads as leads', 'held_back as heldBack'])
      .orderBy(sql`sync_run.rowid`, 'desc')
      .limit(limit)
      .execute()
  )
}

/** Finds the result of a run's scan; null for a run that read no leads. */
export async function findScanResult(db: Db, runId: string): Promise<ScanReport | null> {
  const row = await db
    .selectFrom('sync_scan_result')
    .where('run_id', '=', runId)
    .selectAll()
    .executeTakeFirst()
  if (row === undefined) return null
  return {
    mode: row.mode,
    startedAt: row.started_at,
    scan_result: row.scan_result,
    stop: row.stop,
    reportedTotal: row.reported_total,
    distinct: row.distinct_leads,
    pages: row.pages,
    passes: row.passes,
    moved: row.moved,
    cleaned: row.cleaned,
    cut: row.cut,
    heldBack: row.held_back,
    warnings: JSON.parse(row.warnings),
    drift: JSON.parse(row.drift),
  }
}
