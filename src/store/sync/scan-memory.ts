/** The memory of a scan, by which an unchanged lead causes almost no work. */
import type { Instant } from '../../domain/model.ts'
import type { Db } from '../db/store.ts'
import { createNumberIndex, loadFingerprints, type NumberIndex } from '../leads/fingerprints.ts'
import type { FirstLoad } from '../leads/first-load.ts'
import { hasQuarantinedLeads } from '../leads/quarantined-record.ts'
import { listOlderNos, type Scan, type SeenKey } from './scan.ts'

/** Must not be used any more after a write has failed, because it then has what is not stored. */
export interface ScanMemory {
  /** Read before this memory was loaded, which a crash of the database server makes invalid. */
  readonly crashMarker: string
  readonly fingerprints: NumberIndex
  readonly seenLeads: SeenLeads
  /** The leads that neither the last complete scan nor this scan so far has found. */
  readonly missedBefore: Set<number>
  readonly older: Set<number>
  /** The tombstones that count only if the scan finds no live record of the lead. */
  readonly unsureTombstones: Map<string, Instant | null>
  /** True if leads are quarantined, so that each page must be searched for records that end it. */
  hasQuarantined: boolean
  readonly sharedIds: Set<string>
  /** True if the scan found leads that changed since it began, or if pages of an earlier run may have had some. */
  hasChanges: boolean
  readonly changedAhead: Set<number>
  /** Null if the store already contains leads. */
  readonly firstLoad: FirstLoad | null
}

/**
 * Loads the memory of a scan. If the profile changed, no fingerprints are loaded, because all leads must be
 * mapped again. An incremental scan loads none either, because it reads only a few leads.
 * @param crashMarker the crash marker of the database server, read before `scan` was read
 */
export async function loadScanMemory(
  db: Db,
  crashMarker: string,
  scan: Scan,
  firstLoad: FirstLoad | null,
): Promise<ScanMemory> {
  const needsFingerprints = scan.mode === 'full' && scan.is_remap === 0
  return {
    crashMarker,
    fingerprints: needsFingerprints ? await loadFingerprints(db) : createNumberIndex(),
    seenLeads: await loadSeenLeads(db),
    missedBefore: new Set(await listMissedBefore(db)),
    older: new Set(await listOlderNos(db)),
    unsureTombstones: new Map(),
    hasQuarantined: await hasQuarantinedLeads(db),
    sharedIds: new Set(),
    hasChanges: scan.pages > 0,
    changedAhead: new Set(),
    firstLoad,
  }
}

export type SeenLeads = ReturnType<typeof createSeenLeads>

async function listMissedBefore(db: Db): Promise<number[]> {
  const rows = await db
    .selectFrom('lead')
    .innerJoin('missing_lead', 'missing_lead.lead_id', 'lead.id')
    .select('lead.no')
    .execute()
  return rows.map((row) => row.no)
}

/** Each lead takes one byte. The rows of `sync_scan_page` stay, so that a run can continue after a kill. */
async function loadSeenLeads(db: Db): Promise<SeenLeads> {
  const seenLeads = createSeenLeads()
  const pages = await db.selectFrom('sync_scan_page').orderBy('page').selectAll().execute()
  for (const page of pages) {
    const keys: SeenKey[] = JSON.parse(page.seen)
    for (const each of keys) seenLeads.note(each, page.pass)
  }
  return seenLeads
}

function createSeenLeads() {
  let passes = new Uint8Array(1024)
  const others = new Map<string, number>()
  const note = (key: SeenKey, pass: number): void => {
    if (typeof key === 'string') {
      others.set(key, pass)
      return
    }
    if (key >= passes.length) passes = grown(passes, key)
    passes[key] = pass
  }
  return {
    /** Returns the number of the last pass that found a lead or record; 0 if none has. */
    passOf: (key: SeenKey): number => (typeof key === 'string' ? others.get(key) : passes[key]) ?? 0,
    note,
    /** Notes the number of a lead that is now stored, if the scan found a record with its id before. */
    number(id: string, no: number): void {
      const pass = others.get(id)
      if (pass !== undefined) note(no, pass)
    },
    /** Lists the numbers of leads up to `last` that no pass has found. */
    missing(last: number): number[] {
      const nos: number[] = []
      for (let no = 1; no <= last; no++) if ((passes[no] ?? 0) === 0) nos.push(no)
      return nos
    },
  }
}

function grown(passes: Uint8Array<ArrayBuffer>, no: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(no * 2)
  larger.set(passes)
  return larger
}
