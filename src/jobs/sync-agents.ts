/** The agents part of a sync: one reading of what each agent does. */
import type { Agent, SyncProblem } from '../model.ts'
import { isHeld } from '../source/mapping.ts'
import { saveAgents } from '../store/agent.ts'
import { releaseHeldRows, saveHeldRows } from '../store/held-row.ts'
import { type SyncRun, unreadable, writeHolding } from './sync-run.ts'

/** Returns how many agents were read; one that cannot be read is a problem of its own. */
export async function syncAgents(run: SyncRun, onProblem: (problem: SyncProblem) => void): Promise<number> {
  if (!run.source.has('agents')) return 0
  const mapped = (await run.source.fetchAgents(run.options.signal)).map(run.source.mapAgent)
  const agents = mapped.filter((row): row is Agent => !isHeld(row))
  const held = mapped.filter(isHeld)
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  await writeHolding(run, async (trx) => {
    await saveAgents(trx, agents, seen, { isWhole: held.length === 0 })
    const ids = agents.map((agent) => agent.id)
    await releaseHeldRows(trx, 'agent', ids)
    await saveHeldRows(trx, held, seen.at)
  })
  for (const { id, reason } of held) {
    const problem = unreadable(reason)
    onProblem({
      ...problem,
      part: 'agents',
      message: `agent ${id ?? 'without an id'}: ${problem.message}`,
    })
  }
  run.options.onProgress?.({ part: 'agents', pages: 0, done: agents.length, total: mapped.length })
  return agents.length
}
