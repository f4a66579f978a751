/** Whether the daemon goes by the settings that are on the disk. */
import { stat } from 'node:fs/promises'
import type { Instant } from '../../model.ts'
import type { Db } from '../../store/db/store.ts'
import { findConfigLoad } from '../../store/schedule/config-load.ts'
import { isOfDaemon, listHeldLeases } from '../../store/schedule/lease.ts'

export interface SettingsInForce {
  readonly since: Instant
  /** Those read last, where the daemon stayed with the ones before. */
  readonly refused: { readonly at: Instant; readonly why: string } | null
  /** When the settings file was written, where nobody has told the daemon to read it since. */
  readonly changedAt: Instant | null
}

/**
 * Null where no daemon runs: the next one reads them when it begins.
 * @param file the settings file; null where there is none
 */
export async function readSettingsInForce(
  db: Db,
  file: string | null,
  now: Date,
): Promise<SettingsInForce | null> {
  const leases = await listHeldLeases(db, now)
  const inForce = await findConfigLoad(db, 'in_force')
  const last = await findConfigLoad(db, 'last')
  if (!leases.some(isOfDaemon) || !inForce || !last) return null
  const written = file === null ? null : await stat(file).catch(() => null)
  const changedAt = written?.mtime.toISOString() ?? ''
  return {
    since: inForce.at,
    refused: last.refused === null ? null : { at: last.at, why: last.refused },
    changedAt: changedAt > last.at ? changedAt : null,
  }
}
