/**
 * A list of leads that several processes read beside each other: parted, offered to the helpers, read here too meanwhile,
 * and put together when all parts are read, as if one had read it all. What follows is as ever.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { LeadsheetError } from '../errors.ts'
import { loadMetLeads } from '../store/met-leads.ts'
import type { Db, Trx } from '../store/open.ts'
import type { Scan } from '../store/scan.ts'
import { checkLife } from '../store/server-life.ts'
import {
  collectCounts,
  freeParts,
  insertParts,
  listParts,
  type Part,
  type PartFailure,
  uniteParts,
} from '../store/sync-part.ts'
import { addCounts, readCounts } from '../store/sync-run.ts'
import { planParts } from './plan-parts.ts'
import type { ScanMemory } from './scan-memory.ts'
import { NO_USAGE, readPart } from './sync-part.ts'
import { type PartHelpers, type SyncRun, writeHolding } from './sync-run.ts'
import type { PassEnd } from './sync-scan.ts'

/** How often it is looked how far the parts are. */
const LOOK_MS = 250
/** Counted together after so many looks: for that all pages wait a moment. */
const LOOKS_A_COUNT = 8
/** Offered again after so many, should an offer have been lost. */
const LOOKS_AN_OFFER = 120

/**
 * Parts the scan, if it is worth it and others can help; one of which parts are left goes on with them.
 * @returns the scan that is to be read in parts; null where its list is to be read as a whole
 */
export async function partScan(run: SyncRun, scan: Scan): Promise<Scan | null> {
  if ((await listParts(run.store.db)).length > 0) {
    await writeHolding(run, (trx) => freeParts(trx, run.runId))
    return scan
  }
  const mayPart = run.helpers !== undefined && run.store.place.kind === 'postgres'
  if (!mayPart || scan.mode !== 'full' || scan.pages > 0) return null
  const plan = await planParts(run)
  if (plan === null) return null
  const parted = await writeHolding(run, (trx) => insertParts(trx, run.runId, scan, plan))
  run.log.info({ parts: plan.parts.length, leads: plan.total }, 'the list of leads is read in parts')
  return parted
}

/** @throws LeadsheetError api_*, run_interrupted, job_busy; what was read before is kept */
export async function readParts(run: SyncRun, begun: Scan, memory: ScanMemory): Promise<PassEnd> {
  const over = new AbortController()
  const signal = AbortSignal.any([run.options.signal, over.signal])
  const helpers = run.helpers ?? aloneWith(run)
  const [helped, watched] = await Promise.allSettled([
    helpUntil(run, memory, helpers, signal, over.signal).catch((thrown: unknown) => {
      over.abort(thrown)
      throw thrown
    }),
    watchParts(run, begun, memory, helpers, signal).finally(() => over.abort()),
  ])
  const failed = watched.status === 'fulfilled' ? watched.value : null
  if (failed !== null || watched.status === 'rejected' || helped.status === 'rejected') {
    // Else the helpers would read on for a run that is over.
    await writeHolding(run, async (trx) => {
      await collect(trx, run, begun)
      await freeParts(trx, null)
    })
  }
  if (helped.status === 'rejected') throw helped.reason
  if (watched.status === 'rejected') throw watched.reason
  if (failed !== null) return failedPass(begun, failed)
  return { scan: await putTogether(run, begun, memory), stop: 'end' }
}

function failedPass(begun: Scan, { code, message, hint, notBefore, stop }: PartFailure): PassEnd {
  const error = new LeadsheetError(code, message, {
    ...(hint !== null && { hint }),
    ...(notBefore !== null && { notBefore }),
  })
  if (stop === 'failed') throw error
  return { scan: begun, stop, error }
}

/** Until all parts are read, or one has failed; returns why. */
async function watchParts(
  run: SyncRun,
  begun: Scan,
  { life }: ScanMemory,
  helpers: PartHelpers,
  signal: AbortSignal,
): Promise<Part['failure']> {
  for (let look = 0; ; look++) {
    await checkLife(run.store.db, life)
    const parts = await listParts(run.store.db)
    const open = parts.filter(({ isEnded }) => !isEnded)
    const failed = parts.find(({ failure }) => failure !== null)
    if (open.length === 0 || look % LOOKS_A_COUNT === 0) {
      await writeHolding(run, (trx) => collect(trx, run, begun))
    }
    if (failed !== undefined) return failed.failure
    if (open.length === 0) return null
    if (look % LOOKS_AN_OFFER === 0)
      await helpers.offer(
        run.runId,
        open.map(({ part }) => part),
      )
    await delay(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/** What parts have counted goes into the run, so that who looks at it sees how far it is. */
async function collect(trx: Trx, run: SyncRun, begun: Scan): Promise<void> {
  const { pages, seen, requests, retries } = await collectCounts(trx, run.runId)
  run.helped.requests += requests
  run.helped.retries += retries
  run.options.onProgress?.({ part: 'leads', pages, done: seen, total: begun.total_high })
}

async function helpUntil(
  run: SyncRun,
  memory: ScanMemory,
  helpers: PartHelpers,
  signal: AbortSignal,
  over: AbortSignal,
): Promise<void> {
  const { source, store, now, options } = run
  const deps = { source, store, now, pageSize: options.pageSize }
  while (!signal.aborted) {
    const hasRead = await helpers
      .takeOne(signal, (part) => readPart(deps, part, memory, signal, () => NO_USAGE))
      .catch((thrown: unknown) => {
        // All are read, or one has failed, and this one was put down.
        if (over.aborted) return false
        throw thrown
      })
    if (!hasRead) await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Where nobody helps any more with parts that were begun. */
function aloneWith(run: SyncRun): PartHelpers {
  return {
    offer: async () => undefined,
    async takeOne(_, read) {
      const next = (await listParts(run.store.db)).find(({ isEnded }) => !isEnded)
      if (next !== undefined) await read(next.part)
      return next !== undefined
    },
  }
}

async function putTogether(run: SyncRun, begun: Scan, memory: ScanMemory): Promise<Scan> {
  const { source, options } = run
  const after = await source.listLeads({}, null, 1, { signal: options.signal })
  memory.met = await loadMetLeads(run.store.db)
  const parts = await listParts(run.store.db)
  memory.drift.push(...parts.flatMap(({ drift }) => drift))
  const distinct = memory.met.count()
  const counts = await readCounts(run.store.db, run.runId)
  const scan = unitedScan(begun, parts, distinct, after.total)
  // A lead that two parts have met counts once, unless it was a run before this one that counted it.
  const repeated = parts.reduce((sum, { reading }) => sum + reading.seen, 0) - distinct
  const twice = Math.min(repeated, counts.unchanged + counts.updated)
  const unchanged = Math.min(twice, counts.unchanged)
  return writeHolding(run, async (trx) => {
    await addCounts(trx, run.runId, {
      ...{ pages: 0, inserted: 0, removed: 0, held: 0 },
      seen: -twice,
      unchanged: -unchanged,
      updated: unchanged - twice,
    })
    return uniteParts(trx, scan)
  })
}

/** How far all parts together are. */
export async function scanSoFar(db: Db, scan: Scan): Promise<Scan> {
  const parts = await listParts(db)
  const seen = parts.reduce((sum, { reading }) => sum + reading.seen, 0)
  return parts.length === 0 ? scan : unitedScan(scan, parts, seen, null)
}

/** As one reader of the whole list would have left it behind its first pass. */
function unitedScan(begun: Scan, parts: readonly Part[], distinct: number, totalAfter: number | null): Scan {
  const readings = parts.map(({ reading }) => reading)
  const sum = (column: 'pages' | 'moved' | 'mended' | 'cut' | 'pass_held'): number =>
    readings.reduce((all, reading) => all + reading[column], 0)
  const most = (column: 'is_broken' | 'largest_page'): number =>
    Math.max(...readings.map((reading) => reading[column]))
  const totals = [begun.total_low, totalAfter].filter((total) => total !== null)
  return {
    ...begun,
    seen: distinct,
    pass_seen: distinct,
    pages: sum('pages'),
    pass_pages: sum('pages'),
    pass_held: sum('pass_held'),
    moved: sum('moved'),
    pass_moved: sum('moved'),
    mended: sum('mended'),
    cut: sum('cut'),
    is_broken: most('is_broken'),
    largest_page: most('largest_page'),
    reported_total: totalAfter ?? begun.reported_total,
    total_low: Math.min(...totals),
    total_high: Math.max(...totals),
    max_updated_at: readings.reduce<string | null>(
      (latest, { max_updated_at: at }) => (at !== null && at > (latest ?? '') ? at : latest),
      null,
    ),
  }
}
