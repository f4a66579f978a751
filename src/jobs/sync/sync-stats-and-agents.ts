/** Takes one sample of each agent, and of each pipeline that leads belong to or the settings name. */

import type { Agent, PipelineStat, QuarantinedRecord } from '../../domain/model.ts'
import type { SyncProblem } from '../../domain/sync.ts'
import { LeadsheetError } from '../../errors.ts'
import type { Observation, Trx } from '../../store/db/store.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import { listPipelineIdsInUse, saveAgents, savePipelineStat } from '../../store/sync/samples.ts'
import { isQuarantined } from '../../upstream/mapping/lead-mapping.ts'
import type { Source } from '../../upstream/source.ts'
import { observedBy, type SyncRun, unreadable } from './sync-context.ts'

/**
 * A pipeline that cannot be read is reported as a problem, and the others are still read.
 * @returns the number of pipelines that were read
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

async function readOne(run: SyncRun, id: string): Promise<Omit<SyncProblem, 'part'> | null> {
  let answer: unknown
  try {
    answer = await run.source.fetchPipelineStats(id, {}, run.options.signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') throw thrown
    return { code: thrown.code, message: thrown.message, hint: thrown.hint ?? null }
  }
  const observed = observedBy(run)
  const stat = run.source.mapPipelineStat(answer, id, observed.at)
  await run.write((trx) => saveOrQuarantineStat(trx, stat, observed))
  return isQuarantined(stat) ? unreadable(stat.reason) : null
}

export async function saveOrQuarantineStat(
  trx: Trx,
  stat: PipelineStat | QuarantinedRecord,
  observed: Observation,
): Promise<void> {
  if (isQuarantined(stat)) return saveQuarantinedRecords(trx, [stat], observed.at)
  await releaseQuarantinedRecords(trx, 'pipeline_stat', [stat.pipelineId])
  await savePipelineStat(trx, stat, observed)
}

/** An agent that cannot be read is reported as a problem. Returns the number of agents that were read. */
export async function syncAgents(run: SyncRun, onProblem: (problem: SyncProblem) => void): Promise<number> {
  if (!run.source.has('agents')) return 0
  const read = await fetchAgents(run.source, run.options.signal)
  const { agents, quarantined } = read
  await run.write((trx) => saveOrQuarantineAgents(trx, read, observedBy(run)))
  for (const { id, reason } of quarantined) {
    const problem = unreadable(reason)
    onProblem({ ...problem, part: 'agents', message: `agent ${id ?? 'without an id'}: ${problem.message}` })
  }
  const total = agents.length + quarantined.length
  run.options.onProgress?.({ part: 'agents', pages: 0, done: agents.length, total })
  return agents.length
}

export async function fetchAgents(source: Source, signal: AbortSignal) {
  const mapped = (await source.fetchAgents(signal)).map(source.mapAgent)
  return {
    agents: mapped.filter((row): row is Agent => !isQuarantined(row)),
    quarantined: mapped.filter(isQuarantined),
  }
}

export async function saveOrQuarantineAgents(
  trx: Trx,
  { agents, quarantined }: Awaited<ReturnType<typeof fetchAgents>>,
  observed: Observation,
): Promise<void> {
  await saveAgents(trx, agents, observed, { isWhole: quarantined.length === 0 })
  const ids = agents.map((agent) => agent.id)
  await releaseQuarantinedRecords(trx, 'agent', ids)
  await saveQuarantinedRecords(trx, quarantined, observed.at)
}
