/** Lists the running workers and the work each is doing. */

import { HEARTBEAT_MAX_MS } from '../../checks/heartbeat.ts'
import type { Instant } from '../../model.ts'
import type { Db } from '../../store/db/store.ts'
import { isOfDaemon, listHeldLeases } from '../../store/schedule/lease.ts'
import { listLivingSpans } from '../../store/schedule/uptime.ts'

export interface RunningWorker {
  readonly host: string
  readonly pid: number
  readonly since: Instant
  readonly lastHeartbeat: Instant
  /** The work in progress, such as `sync` or `report:daily`. */
  readonly inHand: readonly string[]
}

export async function listWorkers(db: Db, now: Date): Promise<RunningWorker[]> {
  const spans = await listLivingSpans(db, new Date(now.getTime() - HEARTBEAT_MAX_MS).toISOString())
  const leases = await listHeldLeases(db, now)
  return spans.map(({ host, pid, began_at: since, last_tick_at: lastHeartbeat }) => {
    const own = leases.filter((lease) => lease.host === host && lease.pid === pid)
    const inHand = own.filter((lease) => !isOfDaemon(lease) && !lease.name.startsWith('delivery:'))
    return { host, pid, since, lastHeartbeat, inHand: inHand.map(tellWork) }
  })
}

/** Returns the name of the work; the lease of a snapshot also names its machine, which is left out. */
function tellWork({ name }: { readonly name: string }): string {
  return name.startsWith('snapshot:') ? 'snapshot' : name
}
