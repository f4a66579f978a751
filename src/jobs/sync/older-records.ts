/**
 * Records of a full scan that are older than the stored ones: the upstream was restored from a backup, or
 * corrected a date. Because one page may come from a server that lags behind, the records are only noted
 * while the list is read. Once the scan is known to be complete, they replace the stored ones.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ScanReport } from '../../domain/sync.ts'
import { checkNoCrash } from '../../store/db/postgres.ts'
import type { Trx } from '../../store/db/store.ts'
import { outdateDetails } from '../../store/leads/detail.ts'
import { forgetFingerprints } from '../../store/leads/fingerprints.ts'
import { type SavedLead, saveLeads } from '../../store/leads/lead.ts'
import { forgetOlder, listOlder, noteOlder, type Scan } from '../../store/sync/scan.ts'
import { addCounts, readCounts } from '../../store/sync/sync-run.ts'
import { isQuarantined } from '../../upstream/mapping/lead-mapping.ts'
import { parseJson } from '../../upstream/values/json.ts'
import type { ScanState } from './scan-state.ts'
import { type SyncRun, writePageUnderLease } from './sync-context.ts'

const LEADS_A_WRITE = 500

/** The leads that a page has older or newer records of, each given by its number in the store. */
export interface OlderRecords {
  readonly older: readonly number[]
  /** The leads of which an older record was noted, although the list has a newer one too. */
  readonly confirmed: readonly number[]
}

/** Notes the older records of a page of a full scan, and forgets those that the page contradicts. */
export async function noteOlderRecords(
  trx: Trx,
  scan: Scan,
  { saved, known }: { readonly saved: readonly SavedLead[]; readonly known: readonly number[] },
  memory: ScanState,
): Promise<OlderRecords> {
  const late = saved.filter(({ isLate }) => isLate && scan.mode === 'full')
  const older = late.filter(({ no }) => memory.seenLeads.passOf(no) === 0 || memory.older.has(no))
  await noteOlder(
    trx,
    older.map(({ no, lead }) => ({ lead_no: no, raw: lead.raw })),
  )
  const others = [...known, ...saved.filter(({ isLate }) => !isLate).map(({ no }) => no)]
  const confirmed = others.filter((no) => memory.older.has(no))
  await forgetOlder(trx, confirmed)
  return { older: older.map(({ no }) => no), confirmed }
}

/**
 * Sets leads back to the records that a complete full scan has noted, except leads of which an event has
 * brought the stored record, or a newer one, since the scan began. If this is interrupted, the next full scan finds the other leads again.
 * @returns the number of leads set back
 */
export async function setLeadsBack(run: SyncRun, memory: ScanState): Promise<number> {
  for (let done = 0; ; ) {
    run.options.signal.throwIfAborted()
    const count = await writePageUnderLease(run, async (trx) => {
      await checkNoCrash(trx, memory.crashMarker)
      const records = await listOlder(trx, LEADS_A_WRITE)
      const leads = records.flatMap(({ raw }) => {
        const lead = run.source.mapLead(parseJson(raw), raw)
        return isQuarantined(lead) ? [] : [lead]
      })
      const seen = { runId: run.runId, at: run.now().toISOString() }
      const nos = records.map((record) => record.lead_no)
      await saveLeads(trx, leads, seen, 'list')
      await outdateDetails(trx, nos, seen.at)
      // Otherwise, the newer record would count as unchanged if the upstream sent it again.
      await forgetFingerprints(trx, nos)
      await forgetOlder(trx, nos)
      await countAsUpdated(trx, run.runId, nos.length)
      return nos.length
    })
    if (count === 0) return done
    done += count
    await nextTurn()
  }
}

/** Counts leads as updated that the pages counted as unchanged, perhaps in an earlier run of the scan. */
async function countAsUpdated(trx: Trx, runId: string, updated: number): Promise<void> {
  const { unchanged } = await readCounts(trx, runId)
  const recounted = Math.min(unchanged, updated)
  await addCounts(trx, runId, {
    pages: 0,
    seen: updated - recounted,
    inserted: 0,
    updated,
    unchanged: -recounted,
    deleted: 0,
    quarantined: 0,
  })
}

/** Says how many leads of the list are older than the stored ones, and which of the two stands. */
export function warnOfOlder(count: number, scan_result: ScanReport['scan_result']): string[] {
  if (count === 0) return []
  const what = count === 1 ? '1 lead is' : `${count} leads are`
  const then = scan_result === 'complete' ? 'now follows the list' : 'stays until a full scan is complete'
  return [`${what} older in the list than in the copy; the copy ${then}`]
}
