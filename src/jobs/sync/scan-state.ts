/** Keeps the state of a scan in memory, so that an unchanged lead costs next to nothing. */

import type { checkLife } from '../../store/db/server-life.ts'
import type { Db, Trx } from '../../store/db/store.ts'
import { createNumberIndex, loadKnownLeads, type NumberIndex } from '../../store/leads/fingerprints.ts'
import type { FirstLoad } from '../../store/leads/first-load.ts'
import { hasQuarantinedLeads } from '../../store/leads/quarantined-record.ts'
import type { Scan } from '../../store/sync/scan.ts'
import { listReadByEvents, loadMetLeads, type MetLeads } from '../../store/sync/scan.ts'
import { listAbsentLeads } from '../../store/sync/soft-delete.ts'
import { createDriftWatch, type DriftWatch } from './schema-drift.ts'

export interface ScanState {
  /** Identifies the run of the database server in which this state is valid; see {@link checkLife}. */
  readonly life: string
  /** The numbers of the stored leads by fingerprint. */
  readonly known: NumberIndex
  met: MetLeads
  /** The numbers of the leads that neither the last complete scan nor this one has met so far. */
  readonly absent: Set<number>
  /** Tells whether there are quarantined leads, which a page may release. */
  hasHeld: boolean
  /** The leads that events have read during the scan (`store/sync/scan.ts`), known up to `eventSeq`. */
  eventSeq: number
  readonly readByEvents: Set<number>
  readonly watch: DriftWatch
  /** Is null if leads are stored already. */
  readonly firstLoad: FirstLoad | null
}

/**
 * Notes the leads that events have read since the last call. Such a lead is mapped again even if its record
 * is unchanged: it may be as it was when the scan began, while the store holds another state.
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
 * Loads the state of a scan. No lead counts as known if the profile changed, because all must be mapped
 * again, or in an incremental scan, which would load all fingerprints for a few leads.
 * @param life read before `scan` was read
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
