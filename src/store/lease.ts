/** Leases: a thing that only one process may do at a time, taken over when its holder is gone. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { LeadsheetError } from '../errors.ts'
import type { Store, Trx } from './open.ts'
import type { Tables } from './tables.ts'

/** Without a sign of life for so long (3 min), a holder on another machine counts as gone. */
const LEASE_MS = 180_000

export interface Lease {
  /**
   * Says that the holder still works; to be called in each transaction of the work, at least twice a minute.
   * @throws LeadsheetError job_busy where another process has taken over, so that nothing more is written
   */
  renew(trx: Trx, now: Date): Promise<void>
  release(): Promise<void>
}

/** The holders of this process: one that names its pid and is not among them is from an earlier life. */
const ownHolders = new Set<string>()

/**
 * A holder on this machine whose process has ended is taken over at once.
 * @param name also what the message calls it, such as `sync`
 * @throws LeadsheetError job_busy, naming who holds it
 */
export async function claimLease(store: Store, name: string, now: Date): Promise<Lease> {
  const holder = randomUUID()
  await store.write(async (trx) => {
    const other = await trx.selectFrom('lease').where('name', '=', name).selectAll().executeTakeFirst()
    if (other && !isGone(other, now))
      throw busy(name, `process ${other.pid} on ${other.host} since ${other.acquired_at}`)
    await trx.deleteFrom('lease').where('name', '=', name).execute()
    const times = { acquired_at: now.toISOString(), expires_at: expiry(now) }
    await trx
      .insertInto('lease')
      .values({ name, holder, host: hostname(), pid: process.pid, ...times })
      .execute()
  })
  ownHolders.add(holder)
  return {
    async renew(trx, at) {
      const renewed = await trx
        .updateTable('lease')
        .where('holder', '=', holder)
        .set({ expires_at: expiry(at) })
        .executeTakeFirst()
      if (renewed.numUpdatedRows === 0n) throw busy(name, 'another process, which took over')
    },
    async release() {
      ownHolders.delete(holder)
      await store.write((trx) => trx.deleteFrom('lease').where('holder', '=', holder).execute())
    },
  }
}

function busy(name: string, by: string): LeadsheetError {
  return new LeadsheetError('job_busy', `A ${name} is already running: ${by}`, {
    hint: 'Wait for it to end; `leadsheet status` shows it.',
  })
}

function expiry(at: Date): string {
  return new Date(at.getTime() + LEASE_MS).toISOString()
}

function isGone(lease: Tables['lease'], now: Date): boolean {
  if (lease.expires_at <= now.toISOString()) return true
  if (lease.host !== hostname()) return false
  return lease.pid === process.pid ? !ownHolders.has(lease.holder) : !isRunning(lease.pid)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM'
  }
}
