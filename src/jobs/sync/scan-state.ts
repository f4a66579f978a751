/** Keeps the state of a scan in memory, so that an unchanged lead needs almost no work. */

import { createHash } from 'node:crypto'
import type { checkLife } from '../../store/db/postgres.ts'
import type { Db, Trx } from '../../store/db/store.ts'
import type { NumberIndex } from '../../store/leads/fingerprints.ts'
import { createNumberIndex, loadKnownLeads } from '../../store/leads/fingerprints.ts'
import type { FirstLoad } from '../../store/leads/first-load.ts'
import { saveLeads } from '../../store/leads/lead.ts'
import {
  deleteQuarantinedRecord,
  hasQuarantinedLeads,
  listQuarantinedRecords,
} from '../../store/leads/quarantined-record.ts'
import type { MetLeads, Scan } from '../../store/sync/scan.ts'
import { listReadByEvents, loadMetLeads } from '../../store/sync/scan.ts'
import { listAbsentLeads } from '../../store/sync/soft-delete.ts'
import { addCounts } from '../../store/sync/sync-run.ts'
import { isHeld } from '../../upstream/mapping/lead-mapping.ts'
import type { Profile } from '../../upstream/profile/profile.ts'
import { parseJson } from '../../upstream/values/json.ts'
import type { DriftWatch } from './schema-drift.ts'
import { createDriftWatch } from './schema-drift.ts'
import type { SyncRun } from './sync-context.ts'

export interface ScanState {
  /**
   * Identifies the run of the database server, from its start to its stop, in which this state is valid; see
   * {@link checkLife}.
   */
  readonly life: string
  /** The numbers of the stored leads by fingerprint. */
  readonly known: NumberIndex
  met: MetLeads
  /** The numbers of the leads that the last complete scan missed and that this scan has not found so far. */
  readonly absent: Set<number>
  /**
   * Tells whether there are quarantined leads. A lead's quarantine ends when a page has a record of it that
   * can be mapped.
   */
  hasHeld: boolean
  /**
   * The leads in `readByEvents` were read because of events during the scan (`store/sync/scan.ts`);
   * `eventSeq` is the place of the last of these notes in the store.
   */
  eventSeq: number
  readonly readByEvents: Set<number>
  readonly watch: DriftWatch
  /** The bulk load of the first leads; null if leads are stored already. */
  readonly firstLoad: FirstLoad | null
}

/**
 * Loads the leads that were read because of events since the last call. Such a lead is mapped again even if
 * its record is unchanged, because the page may hold an older state than the store.
 */
export async function noteEvents(trx: Trx, memory: ScanState): Promise<void> {
  for (const { seq, no } of await listReadByEvents(trx, memory.eventSeq)) {
    memory.known.forget(no)
    memory.readByEvents.add(no)
    memory.eventSeq = seq
    // One of these leads may have a quarantined record.
    memory.hasHeld = true
  }
}

/**
 * Loads the state of a scan. No fingerprints are loaded if the profile changed, because all leads must be
 * mapped again, nor in an incremental scan, because it reads only a few leads.
 * @param life the id of the database server's run, read before `scan` was read
 */
export async function loadScanState(
  db: Db,
  life: string,
  scan: Scan,
  firstLoad: FirstLoad | null,
): Promise<ScanState> {
  const isOfKnown = scan.mode === 'full' && scan.is_remap === 0
  return {
    life,
    known: isOfKnown ? await loadKnownLeads(db) : createNumberIndex(),
    met: await loadMetLeads(db),
    absent: new Set(await listAbsentLeads(db)),
    hasHeld: await hasQuarantinedLeads(db),
    eventSeq: 0,
    readByEvents: new Set(),
    watch: createDriftWatch(),
    firstLoad,
  }
}

/* Handles a changed profile, because the stored data was mapped by the earlier profile. */

const BATCH_ROWS = 500

/**
 * Hashes the parts of the profile that decide which data is read and how it is mapped. The location of the
 * API key and the rate limit do not matter.
 */
export function hashProfile(profile: Profile): string {
  const { endpoints, paging, envelope, filters, sort, mapping, stages } = profile
  const parts = { endpoints, paging, envelope, filters, sort, mapping, stages }
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** Maps the quarantined leads again, stores those that can now be mapped, and returns how many were. */
export async function retryQuarantinedLeads(run: SyncRun): Promise<number> {
  let done = 0
  let after = ''
  for (;;) {
    const rows = await listQuarantinedRecords(run.store.db, 'lead', after, BATCH_ROWS)
    const last = rows.at(-1)
    if (last === undefined) return done
    after = last.raw_sha256
    const at = run.now()
    const seen = { runId: run.runId, at: at.toISOString() }
    const mapped = rows.flatMap(({ raw, raw_sha256 }) => {
      const lead = run.source.mapLead(parseJson(raw), raw)
      return isHeld(lead) ? [] : [{ lead, raw_sha256 }]
    })
    done += mapped.length
    await run.store.write(async (trx) => {
      await run.lease.renew(trx, at)
      const saved = await saveLeads(
        trx,
        mapped.map(({ lead }) => lead),
        seen,
      )
      for (const { raw_sha256 } of mapped) await deleteQuarantinedRecord(trx, 'lead', raw_sha256)
      const counts = { pages: 0, seen: 0, unchanged: 0, removed: 0, held: 0 }
      await addCounts(trx, run.runId, {
        ...counts,
        inserted: saved.filter(({ change }) => change === 'inserted').length,
        updated: saved.filter(({ change }) => change === 'updated').length,
      })
    })
  }
}
