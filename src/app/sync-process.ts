/**
 * Runs each scheduled sync in a process of its own, `sync-child.ts`, so that slow SQL does not block the
 * daemon.
 */
import { resolve } from 'node:path'
import { pino } from 'pino'
import type { Config } from '../config/config.ts'
import { environmentOfChild } from '../config/environment.ts'
import { copySettings } from '../config/secrets.ts'
import type { SyncResult } from '../domain/sync.ts'
import { SYNC_LEASE } from '../jobs/schedule/schedule.ts'
import type { RunSync } from '../jobs/sync/scheduled-sync.ts'
import type { Log } from '../log.ts'
import { askChild, programFile } from '../store/db/subprocess.ts'
import { storeAddressOf } from './installation.ts'

const CHILD = programFile(import.meta.url, 'sync-child')

export interface SyncJob {
  /** A copy of the settings that {@link copySettings} has made. */
  readonly settings: unknown
  readonly file: string
  readonly full: boolean
  /** The lease (a lock that expires) of the scheduled run. The daemon renews and releases the lease. */
  readonly lease: { readonly name: string; readonly holder: string }
  readonly logLevel: string
}

export interface SyncAnswer {
  readonly result: SyncResult
  /** How many milliseconds our clock is ahead of the upstream's clock; null if this is unknown. */
  readonly clockAheadMs: number | null
}

/**
 * Returns the function that runs a sync in a new process. The store must be in an SQLite file.
 * @param onClock receives how many milliseconds our clock is ahead of the upstream's clock
 */
export function syncInProcess(config: Config, log: Log, onClock: (aheadMs: number | null) => void): RunSync {
  const lines: { write(line: string): void } = Reflect.get(log, pino.symbols.streamSym)
  return async (full, lease, signal) => {
    const job: SyncJob = {
      settings: copySettings(config),
      file: resolve(storeAddressOf(config)),
      full,
      lease: { name: SYNC_LEASE, holder: lease.holder },
      logLevel: log.level,
    }
    const { result, clockAheadMs } = await askChild<SyncJob, SyncAnswer>(CHILD, job, {
      folder: process.cwd(),
      env: environmentOfChild(),
      signal,
      endsItself: true,
      onTold: (line) => lines.write(line),
    })
    onClock(clockAheadMs)
    return result
  }
}
