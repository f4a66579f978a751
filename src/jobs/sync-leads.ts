/**
 * The leads part of a sync: pages through the list, each page's rows and the cursor that covers them in one
 * transaction. The next page is on its way while the one before is written.
 */
import { LeadsheetError } from '../errors.ts'
import type { Instant, Lead, SyncProblem } from '../model.ts'
import { isHeld } from '../source/mapping.ts'
import type { RawPage } from '../source/open.ts'
import { releaseHeldRows, saveHeldRows } from '../store/held-row.ts'
import { saveLeads } from '../store/lead.ts'
import { forgetAbsence, recordAbsence } from '../store/removal.ts'
import {
  advanceScan,
  clearScan,
  findScan,
  readWatermark,
  type Scan,
  saveWatermark,
  startScan,
} from '../store/scan.ts'
import { addPage, markLeadsWhole } from '../store/sync-run.ts'
import type { SyncOptions, SyncRun } from './sync-run.ts'

/** A scan that began longer ago is not resumed: its cursor may be gone and its absences mean little. */
const SCAN_AGE_MAX_MS = 24 * 60 * 60_000
/** How far apart our clock and the upstream's may be. */
const CLOCK_SKEW_MS = 2 * 60_000

/** Which kind of scan comes next: one under way goes on, and the first of all reads everything. */
export async function planScan(
  { store, source }: Pick<SyncRun, 'store' | 'source'>,
  options: SyncOptions,
  now: Date,
): Promise<Scan['mode']> {
  const { updatedAt } = await readWatermark(store.db)
  if (options.full || updatedAt === null || !source.hasUpdatedSince) return 'full'
  const scan = await findScan(store.db)
  return scan && isResumable(scan, now) ? scan.mode : 'incremental'
}

/** Returns what is odd though the leads were read to their end; throws LeadsheetError when they were not. */
export async function syncLeads(run: SyncRun): Promise<SyncProblem[]> {
  const scan = await beginScan(run)
  try {
    await readPages(run, scan)
  } catch (thrown) {
    const isStaleCursor =
      scan.cursor !== null && thrown instanceof LeadsheetError && thrown.code === 'api_rejected'
    if (!isStaleCursor) throw thrown
    run.log.warn(
      { cursor: scan.cursor },
      'the upstream no longer takes the cursor of the interrupted scan; starting over',
    )
    await readPages(run, await startOver(run, scan))
  }
  return finishScan(run)
}

async function beginScan(run: SyncRun): Promise<Scan> {
  const { store, options, mode } = run
  const underWay = await findScan(store.db)
  if (underWay && underWay.mode === mode && isResumable(underWay, run.now())) return underWay
  const { updatedAt } = await readWatermark(store.db)
  const since =
    mode === 'full' || updatedAt === null ? null : instantOf(Date.parse(updatedAt) - options.overlapMs)
  return startOver(run, { mode, updated_since: since, started_at: run.now().toISOString() })
}

function startOver(run: SyncRun, scan: Pick<Scan, 'mode' | 'updated_since' | 'started_at'>): Promise<Scan> {
  return run.store.write(async (trx) => {
    await run.lease.renew(trx, run.now())
    return startScan(trx, scan)
  })
}

function isResumable(scan: Scan, now: Date): boolean {
  return now.getTime() - Date.parse(scan.started_at) < SCAN_AGE_MAX_MS
}

async function readPages(run: SyncRun, scan: Scan): Promise<void> {
  const stop = new AbortController()
  const signal = AbortSignal.any([run.options.signal, stop.signal])
  const fetchPage = (cursor: string | null): Promise<RawPage> =>
    run.source.listLeads(
      { updatedSince: scan.updated_since ?? undefined },
      cursor,
      run.options.pageSize,
      signal,
    )
  const cursors = new Set<string | null>([scan.cursor])
  try {
    let ahead = fetchPage(scan.cursor)
    for (;;) {
      const page = await ahead
      const next = page.records.length === 0 ? null : page.next
      if (next !== null) {
        if (cursors.has(next)) throw looping(next)
        cursors.add(next)
        ahead = fetchPage(next)
        // A failure is met when the page is awaited; until then it must not count as unhandled.
        ahead.catch(() => undefined)
      }
      const done = await savePage(run, page, next)
      run.options.onProgress?.({
        part: 'leads',
        pages: done.pages,
        done: scan.seen + done.seen,
        total: page.total,
      })
      if (next === null) break
    }
  } finally {
    stop.abort()
  }
}

/** A page in one transaction: its rows, the cursor after it, and the run's counts. */
async function savePage(
  run: SyncRun,
  page: RawPage,
  cursor: string | null,
): Promise<{ pages: number; seen: number }> {
  const mapped = page.records.map(run.source.mapLead)
  const leads = mapped.filter((row): row is Lead => !isHeld(row))
  const held = mapped.filter(isHeld)
  const ids = [...new Set(leads.map((lead) => lead.id))]
  const heldIds = held.flatMap((row) => (row.id === null ? [] : [row.id]))
  const met = [...new Set([...ids, ...heldIds])]
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  const maxUpdatedAt = leads.reduce<Instant | null>(
    (max, { updatedAt }) => (updatedAt !== null && (max === null || updatedAt > max) ? updatedAt : max),
    null,
  )
  return run.store.write(async (trx) => {
    await run.lease.renew(trx, at)
    const saved = await saveLeads(trx, leads, seen)
    await releaseHeldRows(trx, 'lead', ids)
    await saveHeldRows(trx, held, seen.at)
    await forgetAbsence(trx, met)
    const fresh = await advanceScan(trx, { ids: met, cursor, maxUpdatedAt })
    const countFresh = (some: readonly string[]): number => some.filter((id) => fresh.has(id)).length
    return addPage(trx, run.runId, {
      seen: countFresh(ids),
      inserted: countFresh(saved.inserted),
      updated: countFresh(saved.updated),
      unchanged: countFresh(saved.unchanged),
      removed: 0,
      held: held.length,
    })
  })
}

/** The end was reached: absences are judged, the watermark moves on, and the copy is whole as of the start. */
async function finishScan(run: SyncRun): Promise<SyncProblem[]> {
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  return run.store.write(async (trx) => {
    await run.lease.renew(trx, at)
    const scan = await findScan(trx)
    if (!scan) throw new Error('the scan is gone though its lease is held')
    const absence =
      scan.mode === 'full'
        ? await recordAbsence(trx, { ...seen, startedAt: scan.started_at })
        : { removed: 0, refused: null }
    const newest = Math.min(
      Date.parse(scan.max_updated_at ?? ''),
      Date.parse(scan.started_at) - CLOCK_SKEW_MS,
    )
    if (Number.isFinite(newest)) await saveWatermark(trx, instantOf(newest))
    await markLeadsWhole(trx, run.runId, scan.started_at, absence.removed)
    await clearScan(trx)
    if (absence.refused === null) return []
    const { absent, of } = absence.refused
    const message = `${absent} of ${of} leads were missing from a whole scan: taken for a fault, none is marked removed`
    return [
      {
        part: 'leads',
        code: 'api_unexpected',
        message,
        hint: 'Look at the upstream; the leads stay as they are.',
      },
    ]
  })
}

function looping(cursor: string): LeadsheetError {
  return new LeadsheetError(
    'api_unexpected',
    `The list of leads repeats the cursor ${JSON.stringify(cursor)}, so it would never end`,
    {
      hint: 'What was read is kept. This is a fault of the upstream: tell its operator.',
    },
  )
}

function instantOf(ms: number): Instant {
  return new Date(ms).toISOString()
}
