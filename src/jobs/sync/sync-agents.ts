/** The agents part of a sync: one reading of what each agent does. */
import type { Agent, QuarantinedRecord, SyncProblem } from '../../model.ts'
import type { Observation, Trx } from '../../store/db/store.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import { saveAgents } from '../../store/sync/agent-samples.ts'
import { isHeld } from '../../upstream/mapping/lead-mapping.ts'
import type { Source } from '../../upstream/source.ts'
import { type SyncRun, unreadable, writeHolding } from './sync-context.ts'

/** Returns how many agents were read; one that cannot be read is a problem of its own. */
export async function syncAgents(run: SyncRun, onProblem: (problem: SyncProblem) => void): Promise<number> {
  if (!run.source.has('agents')) return 0
  const read = await fetchAgents(run.source, run.options.signal)
  const { agents, held } = read
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  await writeHolding(run, (trx) => keepAgents(trx, read, seen))
  for (const { id, reason } of held) {
    const problem = unreadable(reason)
    onProblem({
      ...problem,
      part: 'agents',
      message: `agent ${id ?? 'without an id'}: ${problem.message}`,
    })
  }
  run.options.onProgress?.({
    part: 'agents',
    pages: 0,
    done: agents.length,
    total: agents.length + held.length,
  })
  return agents.length
}

export interface ReadAgents {
  readonly agents: readonly Agent[]
  readonly held: readonly QuarantinedRecord[]
}

export async function fetchAgents(source: Source, signal: AbortSignal): Promise<ReadAgents> {
  const mapped = (await source.fetchAgents(signal)).map(source.mapAgent)
  return { agents: mapped.filter((row): row is Agent => !isHeld(row)), held: mapped.filter(isHeld) }
}

export async function keepAgents(trx: Trx, { agents, held }: ReadAgents, seen: Observation): Promise<void> {
  await saveAgents(trx, agents, seen, { isWhole: held.length === 0 })
  const ids = agents.map((agent) => agent.id)
  await releaseQuarantinedRecords(trx, 'agent', ids)
  await saveQuarantinedRecords(trx, held, seen.at)
}
