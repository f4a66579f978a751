/** The agents part of a sync: one reading of what each agent does. */
import type { Agent } from '../model.ts'
import { isHeld } from '../source/mapping.ts'
import { saveAgents } from '../store/agent.ts'
import { releaseHeldRows, saveHeldRows } from '../store/held-row.ts'
import type { SyncRun } from './sync-run.ts'

/** Returns how many agents were read. */
export async function syncAgents(run: SyncRun): Promise<number> {
  if (!run.source.has('agents')) return 0
  const mapped = (await run.source.fetchAgents(run.options.signal)).map(run.source.mapAgent)
  const agents = mapped.filter((row): row is Agent => !isHeld(row))
  const at = run.now()
  const seen = { runId: run.runId, at: at.toISOString() }
  await run.store.write(async (trx) => {
    await run.lease.renew(trx, at)
    await saveAgents(trx, agents, seen)
    await saveHeldRows(trx, mapped.filter(isHeld), seen.at)
    await releaseHeldRows(
      trx,
      'agent',
      agents.map((agent) => agent.id),
    )
  })
  run.options.onProgress?.({ part: 'agents', pages: 0, done: agents.length, total: agents.length })
  return agents.length
}
