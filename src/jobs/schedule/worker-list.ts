/** The workers that run, and what each has in hand. */

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
  /** Such as `sync`, `report:daily`. */
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

/** A lease names beside the work what it is of, such as a machine. */
function tellWork({ name }: { readonly name: string }): string {
  return name.startsWith('snapshot:') ? 'snapshot' : name
}
