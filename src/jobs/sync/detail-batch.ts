/** A batch of leads whose details a worker reads for the sync of another, or its own: one by one, each kept by itself. */
import { errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Job, JobData } from '../../queue/queue.ts'
import type { Store, Trx } from '../../store/db/store.ts'
import { putOffDetail, saveDetails, type WaitingLead } from '../../store/leads/detail.ts'
import {
  findReading,
  listWanted,
  noteResult,
  type ReadingEnd,
  stopReading,
  takeOff,
} from '../../store/sync/detail-reading.ts'
import { addDetailCounts, type RunUsage } from '../../store/sync/sync-run.ts'
import type { Source } from '../../upstream/source.ts'
import { allFailing, FAILURES_MAX, OF_ONE_LEAD } from './sync-details.ts'

export interface DetailBatchDeps {
  readonly source: Pick<Source, 'fetchDetail'>
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
}

/** A lead whose result somebody else has brought meanwhile is passed over. */
export async function readBatch(
  deps: DetailBatchDeps,
  { data: { runId, batch }, signal }: Job<JobData['details']>,
  takeUsage: () => RunUsage,
): Promise<void> {
  const { db } = deps.store
  for (const lead of await listWanted(db, runId, batch)) {
    signal.throwIfAborted()
    const reading = await findReading(db, runId)
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
 * What meets all leads alike ends the reading for all workers, and is told by who runs the sync.
 * @throws what the upstream has no part in: a mistake of ours, which the lead is put off for, or the store
 */
async function readLead(deps: DetailBatchDeps, lead: WaitingLead, asking: Asking): Promise<void> {
  const { source, store, log, now } = deps
  const { runId, signal } = asking
  try {
    const detail = await source.fetchDetail(lead.id, signal)
    await keep(deps, lead, asking, { failure: null, isDeleted: false, held: detail.held.length }, (trx) =>
      saveDetails(trx, [{ lead, detail }], { runId, at: now().toISOString() }),
    )
  } catch (thrown) {
    if (signal.aborted) throw thrown
    const isKnown = thrown instanceof LeadsheetError
    if (isKnown && !thrown.code.startsWith('api_')) throw thrown
    if (isKnown && !OF_ONE_LEAD.has(thrown.code)) {
      return store.write((trx) => stopReading(trx, runId, endOf(thrown)))
    }
    const isDeleted = isKnown && thrown.code === 'api_not_found'
    if (isKnown) log.warn({ lead: lead.id, code: thrown.code }, thrown.message)
    await keep(deps, lead, asking, { failure: thrown, isDeleted, held: 0 }, (trx) =>
      putOffDetail(trx, lead, errorText(thrown), now()),
    )
    if (!isKnown) throw thrown
  }
}

interface Result {
  readonly failure: unknown
  readonly isDeleted: boolean
  readonly held: number
}

async function keep(
  { store }: DetailBatchDeps,
  { no }: WaitingLead,
  { runId, takeUsage }: Asking,
  { failure, isDeleted, held }: Result,
  save: (trx: Trx) => Promise<void>,
): Promise<void> {
  const failed = failure !== null
  const usage = takeUsage()
  await store.writeSoon(async (trx) => {
    if (!(await takeOff(trx, runId, no))) return
    await save(trx)
    const counts = { read: failed ? 0 : 1, gone: isDeleted ? 1 : 0, failed: failed && !isDeleted ? 1 : 0 }
    await addDetailCounts(trx, runId, counts)
    const { failuresInRow } = await noteResult(trx, runId, { failed, held, ...usage })
    if (failuresInRow >= FAILURES_MAX) await stopReading(trx, runId, endOf(allFailing(failure)))
  })
}

function endOf(thrown: unknown): ReadingEnd {
  if (!(thrown instanceof LeadsheetError)) return { code: null, message: errorText(thrown) }
  const { code, message, hint, notBefore } = thrown
  return { code, message, hint, notBefore }
}
