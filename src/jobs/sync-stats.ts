/** The statistics part of a sync: one reading of every pipeline that leads or settings name. */
import { LeadsheetError } from '../errors.ts'
import type { SyncProblem } from '../model.ts'
import { isHeld } from '../source/mapping.ts'
import { releaseHeldRows, saveHeldRows } from '../store/held-row.ts'
import { listPipelineIds, savePipelineStat } from '../store/pipeline.ts'
import type { SyncRun } from './sync-run.ts'

/**
 * Returns how many pipelines were read. A pipeline that the upstream does not know is a problem of its own and
 * does not keep the others from being read.
 */
export async function syncStats(run: SyncRun, onProblem: (problem: SyncProblem) => void): Promise<number> {
  if (!run.source.has('stats')) return 0
  const ids = [...new Set([...(await listPipelineIds(run.store.db)), ...run.options.pipelineIds])]
  let read = 0
  for (const [index, id] of ids.entries()) {
    try {
      await readOne(run, id)
      read++
    } catch (thrown) {
      if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') throw thrown
      const { code, message, hint = null } = thrown
      onProblem({ part: 'stats', code, message: `pipeline ${id}: ${message}`, hint })
    }
    run.options.onProgress?.({ part: 'stats', pages: 0, done: index + 1, total: ids.length })
  }
  return read
}

async function readOne(run: SyncRun, id: string): Promise<void> {
  const raw = await run.source.fetchPipelineStats(id, {}, run.options.signal)
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  const stat = run.source.mapPipelineStat(raw, id, seen.at)
  await run.store.write(async (trx) => {
    await run.lease.renew(trx, at)
    if (isHeld(stat)) return saveHeldRows(trx, [stat], seen.at)
    await savePipelineStat(trx, stat, seen)
    await releaseHeldRows(trx, 'pipeline_stat', [id])
  })
}
