/**
 * Lets several workers read the details of leads for one sync. The worker that runs the sync divides the
 * leads into batches, and offers as many batches as may be read at the same time. Any worker takes a batch
 * and reads its leads one by one.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Job, JobData, Queue, Working } from '../../queue/queue.ts'
import type { Store, Trx } from '../../store/db/store.ts'
import type { WaitingLead } from '../../store/leads/detail.ts'
import { postponeDetail, saveDetails } from '../../store/leads/detail.ts'
import type { DetailsEnd } from '../../store/sync/detail-run.ts'
import {
  beginDetails,
  countWanted,
  dequeueDetail,
  endDetails,
  findDetailRun,
  listWanted,
  noteResult,
  stopDetails,
} from '../../store/sync/detail-run.ts'
import type { RunUsage } from '../../store/sync/sync-run.ts'
import { addDetailCounts } from '../../store/sync/sync-run.ts'
import type { Source } from '../../upstream/source.ts'
import type { SerialTask } from '../schedule/serial-task.ts'
import type { DetailOptions, DetailsDone, DetailWorkers, SyncRun } from './sync-context.ts'
import { writeUnderLease } from './sync-context.ts'
import { allFailing, FAILURES_MAX, hasUsedUpItsTime, OF_ONE_LEAD } from './sync-details.ts'

interface DetailWorkerDeps extends DetailBatchDeps {
  readonly source: Pick<Source, 'fetchDetail' | 'usage'>
  readonly queue: Pick<Queue, 'enqueue' | 'work'>
  /** The maximum number of batches that this worker reads at the same time. */
  readonly concurrency: number
}

/**
 * The worker that reads batches for syncs of other workers, and that lets other workers read batches for a
 * sync of its own.
 */
export interface DetailWorker extends DetailWorkers, SerialTask {}

/**
 * The maximum number of leads in a batch. Batches are smaller if some workers would otherwise get no batch.
 */
const BATCH_LEADS = 20
const LOOK_MS = 200
/** The time after which an unfinished batch is offered again, because its job failed for good or was lost. */
const OFFER_AGAIN_MS = 30_000

export function createDetailWorker(deps: DetailWorkerDeps): DetailWorker {
  const { queue } = deps
  /**
   * The ids of the syncs that this worker runs itself. These syncs already count their requests, so batches
   * do not count them again.
   */
  const ownRuns = new Set<string>()
  const usage = createUsageCounter(deps.source)
  let working: Working | null = null
  return {
    batchLeads: BATCH_LEADS,
    async read(run, leads, options) {
      ownRuns.add(run.runId)
      try {
        return await readShared(run, queue, leads, options)
      } finally {
        ownRuns.delete(run.runId)
      }
    },
    wake: () => undefined,
    open(signal) {
      working = queue.work('details', { concurrency: deps.concurrency, signal }, async (job) => {
        try {
          const takeUsage = usage.begin()
          const countUsage = (): RunUsage => (ownRuns.has(job.data.runId) ? NO_USAGE : takeUsage())
          await readBatch(deps, job, countUsage)
        } finally {
          usage.end()
        }
      })
    },
    isBusy: () => working?.isBusy() ?? false,
    idle: async () => working?.idle(),
  }
}

/** Offers batches until the details of all leads were read or the reading must end. */
async function readShared(
  run: SyncRun,
  queue: DetailWorkerDeps['queue'],
  leads: readonly WaitingLead[],
  { concurrency }: DetailOptions,
): Promise<DetailsDone> {
  const { runId, store, options } = run
  const batchLeads = Math.min(BATCH_LEADS, Math.ceil(leads.length / concurrency))
  await writeUnderLease(run, (trx) => beginDetails(trx, runId, leads, batchLeads))
  const offer = createOffer(queue, runId, concurrency)
  let end: unknown = null
  try {
    for (;;) {
      options.signal.throwIfAborted()
      run.lease.lost.throwIfAborted()
      const left = await countWanted(store.db, runId)
      const reading = await findDetailRun(store.db, runId)
      reportProgress(run, leads.length, left)
      if (reading === undefined) throw new Error(`the details of ${runId} are read by another sync`)
      if (reading.ended !== null) throw errorOf(reading.ended)
      if (left.size === 0 || (await options.isOtherDue?.())) break
      await offer([...left.keys()].toSorted((a, b) => a - b))
      await delay(LOOK_MS, undefined, { signal: options.signal })
    }
  } catch (thrown) {
    const { signal } = options
    if (signal.aborted) end = hasUsedUpItsTime(signal) ? null : signal.reason
    else end = thrown
  }
  const quarantined = await writeUnderLease(run, async (trx) => {
    const reading = await findDetailRun(trx, runId)
    await endDetails(trx, runId)
    if (reading !== undefined) addUsage(run.helped, reading)
    return reading?.quarantined ?? 0
  })
  return { quarantined, end }
}

/**
 * Creates the function that offers as many of the remaining batches as may be read at the same time. The
 * batches with the most urgent leads come first.
 */
function createOffer(
  queue: DetailWorkerDeps['queue'],
  runId: string,
  concurrency: number,
): (left: readonly number[]) => Promise<void> {
  const offered = new Map<number, number>()
  return async (left) => {
    const atMs = performance.now()
    const due = left
      .slice(0, concurrency)
      .filter((batch) => atMs - (offered.get(batch) ?? Number.NEGATIVE_INFINITY) >= OFFER_AGAIN_MS)
    for (const batch of due) offered.set(batch, atMs)
    await queue.enqueue(
      'details',
      due.map((batch) => ({ data: { runId, batch }, key: `${runId} ${batch}` })),
    )
  }
}

function reportProgress({ options }: SyncRun, total: number, left: ReadonlyMap<number, number>): void {
  const done = total - [...left.values()].reduce((sum, leads) => sum + leads, 0)
  options.onProgress?.({ part: 'details', pages: 0, done, total })
}

function errorOf({ code, message, hint, notBefore }: DetailsEnd): Error {
  if (code === null) return new Error(message)
  return new LeadsheetError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(notBefore !== undefined && { notBefore }),
  })
}

const NO_USAGE: RunUsage = { requests: 0, retries: 0 }

/**
 * Counts the requests that are sent while batches are read. `begin` returns a function that counts the
 * requests since the last call of any function that `begin` returned. Even if batches are read at the same
 * time, no request is therefore counted twice.
 */
function createUsageCounter({ usage }: Pick<Source, 'usage'>): {
  readonly begin: () => () => RunUsage
  readonly end: () => void
} {
  let batches = 0
  let counted: RunUsage = NO_USAGE
  const take = (): RunUsage => {
    const before = counted
    counted = { ...usage }
    return { requests: usage.requests - before.requests, retries: usage.retries - before.retries }
  }
  return {
    begin() {
      if (batches++ === 0) take()
      return take
    },
    end: () => void batches--,
  }
}

function addUsage(sum: { requests: number; retries: number }, { requests, retries }: RunUsage): void {
  sum.requests += requests
  sum.retries += retries
}

interface DetailBatchDeps {
  readonly source: Pick<Source, 'fetchDetail'>
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
}

/**
 * Reads the leads of a batch one by one. Leads that were already read when this function is called are
 * skipped.
 */
async function readBatch(
  deps: DetailBatchDeps,
  { data: { runId, batch }, signal }: Job<JobData['details']>,
  takeUsage: () => RunUsage,
): Promise<void> {
  const { db } = deps.store
  for (const lead of await listWanted(db, runId, batch)) {
    signal.throwIfAborted()
    const reading = await findDetailRun(db, runId)
    if (reading === undefined || reading.ended !== null) return
    await readLead(deps, lead, { runId, signal, takeUsage })
  }
}

interface Asking {
  readonly runId: string
  readonly signal: AbortSignal
  readonly takeUsage: () => RunUsage
}

/**
 * Reads one lead and stores the result. A failure that every lead would have ends the reading for all
 * workers.
 * @throws any error that is not from the upstream: an error of the store, or a bug; after a bug the lead is
 *   deferred
 */
async function readLead(deps: DetailBatchDeps, lead: WaitingLead, asking: Asking): Promise<void> {
  const { source, store, log, now } = deps
  const { runId, signal } = asking
  try {
    const detail = await source.fetchDetail(lead.id, signal)
    await keep(
      deps,
      lead,
      asking,
      { failure: null, isNotFound: false, quarantined: detail.quarantined.length },
      (trx) => saveDetails(trx, [{ lead, detail }], { runId, at: now().toISOString() }),
    )
  } catch (thrown) {
    if (signal.aborted) throw thrown
    const isKnown = thrown instanceof LeadsheetError
    if (isKnown && !thrown.code.startsWith('api_')) throw thrown
    if (isKnown && !OF_ONE_LEAD.has(thrown.code)) {
      return store.write((trx) => stopDetails(trx, runId, endOf(thrown)))
    }
    const isNotFound = isKnown && thrown.code === 'api_not_found'
    if (isKnown) log.warn({ lead: lead.id, code: thrown.code }, thrown.message)
    await keep(deps, lead, asking, { failure: thrown, isNotFound, quarantined: 0 }, (trx) =>
      postponeDetail(trx, lead, errorText(thrown), now()),
    )
    if (!isKnown) throw thrown
  }
}

interface Result {
  readonly failure: unknown
  readonly isNotFound: boolean
  readonly quarantined: number
}

async function keep(
  { store }: DetailBatchDeps,
  { no }: WaitingLead,
  { runId, takeUsage }: Asking,
  { failure, isNotFound, quarantined }: Result,
  save: (trx: Trx) => Promise<void>,
): Promise<void> {
  const failed = failure !== null
  const usage = takeUsage()
  await store.writeSoon(async (trx) => {
    if (!(await dequeueDetail(trx, runId, no))) return
    await save(trx)
    const counts = {
      read: failed ? 0 : 1,
      notFound: isNotFound ? 1 : 0,
      failed: failed && !isNotFound ? 1 : 0,
    }
    await addDetailCounts(trx, runId, counts)
    const { failuresInRow } = await noteResult(trx, runId, { failed, quarantined, ...usage })
    if (failuresInRow >= FAILURES_MAX) await stopDetails(trx, runId, endOf(allFailing(failure)))
  })
}

function endOf(thrown: unknown): DetailsEnd {
  if (!(thrown instanceof LeadsheetError)) return { code: null, message: errorText(thrown) }
  const { code, message, hint, notBefore } = thrown
  return { code, message, hint, notBefore }
}
