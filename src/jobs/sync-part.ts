/**
 * One part of a list of leads, read by whoever has taken it: page by page, beside those who read the others. How far it
 * has got stands in `sync_part`, so that another goes on from there when this process is gone.
 */
import { randomUUID } from 'node:crypto'
import { LeadsheetError } from '../errors.ts'
import type { ScanStop } from '../model.ts'
import type { Source } from '../source/open.ts'
import { openPart } from '../source/part.ts'
import { hasHeldLeads } from '../store/held-row.ts'
import { loadKnownLeads } from '../store/known-leads.ts'
import { loadMetOfPart } from '../store/met-leads.ts'
import { createNumberIndex, type NumberIndex } from '../store/number-index.ts'
import type { Store } from '../store/open.ts'
import { listAbsentLeads } from '../store/removal.ts'
import type { Scan } from '../store/scan.ts'
import { checkLife, readLife } from '../store/server-life.ts'
import {
  addPartCounts,
  advancePart,
  checkHolder,
  endPart,
  findPart,
  listParts,
  type PartFailure,
  takePart,
} from '../store/sync-part.ts'
import type { RunUsage } from '../store/sync-run.ts'
import { createFieldWatch } from './field-watch.ts'
import { hashProfile } from './profile-change.ts'
import type { ScanMemory } from './scan-memory.ts'
import type { ListReader } from './sync-run.ts'
import { readPass } from './sync-scan.ts'

type Known = Pick<ScanMemory, 'known' | 'life'>

/** What the run counts by itself. */
export const NO_USAGE: RunUsage = { requests: 0, retries: 0 }

export interface PartDeps {
  readonly source: Source
  readonly store: Store
  readonly now: () => Date
  readonly pageSize: number
}

/**
 * Reads a part from where its reading stands to its end. What the upstream does wrong is told in the ledger. Nothing is
 * done with a part that is read already, or that has gone with its scan.
 * @throws the reason of the signal; LeadsheetError store_*, and config_refused where the upstream is read by another
 * profile here than by the sync
 */
export type ReadPart = (part: number, signal: AbortSignal) => Promise<void>

/**
 * For a process that reads parts of other processes' syncs. What it knows of the leads it keeps from part to part.
 * @param isOwn whether a run is one of this process, which counts the requests itself
 */
export function createPartReader(deps: PartDeps, isOwn: (runId: string | null) => boolean): ReadPart {
  let kept: (Known & { readonly scan: string }) | null = null
  return async (no, signal) => {
    const part = await findPart(deps.store.db, no)
    if (part === undefined) return
    const { started_at: scan, is_remap } = part.reading
    const life = await readLife(deps.store.db)
    if (kept?.scan !== scan || kept.life !== life) {
      kept = { scan, life, known: await loadKnown(deps.store, is_remap === 1) }
    }
    const before = { ...deps.source.usage }
    const spent = (): RunUsage => ({
      requests: deps.source.usage.requests - before.requests,
      retries: deps.source.usage.retries - before.retries,
    })
    await readPart(deps, no, kept, signal, isOwn(part.runId) ? () => NO_USAGE : spent)
    const parts = await listParts(deps.store.db)
    if (parts.every(({ isEnded, isHeld }) => isEnded || isHeld)) kept = null
  }
}

async function loadKnown(store: Store, isRemap: boolean): Promise<NumberIndex> {
  return isRemap ? createNumberIndex() : loadKnownLeads(store.db)
}

/**
 * See {@link ReadPart}.
 * @param remembered as in the memory of a scan
 * @param spent what is to be counted with the part
 */
export async function readPart(
  deps: PartDeps,
  no: number,
  { known, life }: Known,
  signal: AbortSignal,
  spent: () => RunUsage,
): Promise<void> {
  const { source, store, now } = deps
  const holder = randomUUID()
  const profile = hashProfile(source.profile)
  const part = await store.write((trx) => takePart(trx, no, holder, profile))
  if (part === undefined) return
  const { db } = store
  const memory: ScanMemory = {
    life,
    known,
    met: await loadMetOfPart(db, no),
    absent: new Set(await listAbsentLeads(db)),
    hasHeld: await hasHeldLeads(db),
    eventSeq: 0,
    readByEvents: new Set(),
    watch: createFieldWatch(),
    drift: [],
    firstLoad: null,
  }
  const reader: ListReader = {
    source: openPart(source, part.bounds),
    now,
    runId: part.runId,
    options: { pageSize: deps.pageSize, signal },
    write: (work) =>
      store.writeBeside(async (trx) => {
        await checkHolder(trx, no, holder)
        return work(trx)
      }),
    advance: (trx, before, page) => advancePart(trx, no, before, page),
    count: async (trx, counts) => {
      await addPartCounts(trx, no, counts)
      return counts
    },
  }
  try {
    const failure = await readToEnd(reader, part.reading, memory)
    await store.write(async (trx) => {
      await checkHolder(trx, no, holder)
      await checkLife(trx, life)
      const at = now().toISOString()
      const drift = await memory.watch.save(trx, at)
      await endPart(trx, no, { at, failure, usage: spent(), drift })
    })
  } catch (thrown) {
    // Another reads it now, or nobody is to read it any more: the ledger knows.
    const isLost = thrown instanceof LeadsheetError && thrown.code === 'run_interrupted' && !signal.aborted
    if (!isLost) throw thrown
  }
}

/** Null once it was read to its end. */
async function readToEnd(reader: ListReader, from: Scan, memory: ScanMemory): Promise<PartFailure | null> {
  // Killed between the last page and the end.
  if (from.cursor === null && from.pages > 0) return null
  try {
    const { error, stop } = await readPass(reader, from, memory)
    return error === undefined ? null : failureOf(error, stop)
  } catch (thrown) {
    const isUpstreams = thrown instanceof LeadsheetError && thrown.code.startsWith('api_')
    if (!isUpstreams) throw thrown
    return failureOf(thrown, 'failed')
  }
}

function failureOf(error: LeadsheetError, stop: ScanStop): PartFailure {
  const { code, message, hint = null, notBefore = null } = error
  return { code, message, hint, notBefore, stop }
}
