/** Keeps the state of a scan in memory, so that an unchanged lead needs almost no work. */

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
