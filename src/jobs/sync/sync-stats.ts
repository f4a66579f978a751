/** The statistics part of a sync: one reading of every pipeline that leads or settings name. */
import { LeadsheetError } from '../../errors.ts'
import type { PipelineStat, QuarantinedRecord, SyncProblem } from '../../model.ts'
import type { Observation, Trx } from '../../store/db/store.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import { listPipelineIdsInUse, savePipelineStat } from '../../store/sync/pipeline-samples.ts'
import { isHeld } from '../../upstream/mapping/lead-mapping.ts'
import { type SyncRun, unreadable, writeHolding } from './sync-context.ts'

/**
 * Returns how many pipelines were read. One that the upstream does not know, or whose statistics cannot be read,
 * is a problem of its own and does not keep the others from being read.
 */
export async function syncStats(run: SyncRun, onProblem: (problem: SyncProblem) => void): Promise<number> {
  if (!run.source.has('stats')) return 0
  const ids = [...new Set([...(await listPipelineIdsInUse(run.store.db)), ...run.options.pipelineIds])]
  let read = 0
  for (const [index, id] of ids.entries()) {
    const problem = await readOne(run, id)
    if (problem) onProblem({ ...problem, part: 'stats', message: `pipeline ${id}: ${problem.message}` })
    else read++
    run.options.onProgress?.({ part: 'stats', pages: 0, done: index + 1, total: ids.length })
  }
  return read
}

/** Null when it was read. */
async function readOne(run: SyncRun, id: string): Promise<Omit<SyncProblem, 'part'> | null> {
  let answer: unknown
  try {
    answer = await run.source.fetchPipelineStats(id, {}, run.options.signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') throw thrown
    return { code: thrown.code, message: thrown.message, hint: thrown.hint ?? null }
  }
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  const stat = run.source.mapPipelineStat(answer, id, seen.at)
  await writeHolding(run, (trx) => keepStat(trx, stat, seen))
  return isHeld(stat) ? unreadable(stat.reason) : null
}

/** Holds one that could not be mapped. */
export async function keepStat(
  trx: Trx,
  stat: PipelineStat | QuarantinedRecord,
  seen: Observation,
): Promise<void> {
  if (isHeld(stat)) return saveQuarantinedRecords(trx, [stat], seen.at)
  await releaseQuarantinedRecords(trx, 'pipeline_stat', [stat.pipelineId])
  await savePipelineStat(trx, stat, seen)
}
