/** The state of a scan in memory, by which an unchanged lead costs next to nothing. */

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
  /** In which the server has forgotten nothing of what is remembered here; see {@link checkLife}. */
  readonly life: string
  /** By the bytes of their record. */
  readonly known: NumberIndex
  met: MetLeads
  /** Numbers of the leads that the last whole scan did not meet, nor this one until now. */
  readonly absent: Set<number>
  /** Whether records of leads are held, which a page may release. */
  hasHeld: boolean
  /** Up to which of them it is known what events have read meanwhile (`store/sync/scan.ts`), and the leads' numbers. */
  eventSeq: number
  readonly readByEvents: Set<number>
  readonly watch: DriftWatch
  /** Null where leads are stored already. */
  readonly firstLoad: FirstLoad | null
}

/**
 * Takes in what events have read since: such a lead is mapped again when it comes, whatever its bytes. For it may be
 * again what it was when the scan began, and no longer be so in the store.
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
 * With a changed profile no lead counts as known, since it has to be mapped anew; nor in a scan of changes, which
 * would load them all to know a few again.
 * @param life read before the scan was
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
