/** A store, a source and a clock, for tests that sync. */
import { join } from 'node:path'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { SyncResult } from '../../src/domain/sync.ts'
import { SYNC_PARTS, sync } from '../../src/jobs/sync/run-sync.ts'
import type { SyncOptions } from '../../src/jobs/sync/sync-context.ts'
import { openStore } from '../../src/store/open.ts'
import { openSource, type SourceOptions } from '../../src/upstream/source.ts'
import { folderWith } from './folder.ts'
import { openNewStore } from './store.ts'
import { startUpstream } from './upstream.ts'

export const SILENT = pino({ level: 'silent' })

/** Retries without waiting, for tests in which the times do not matter. */
const AT_ONCE = { attempts: 5, baseMs: 0, maxMs: 0 }

/** A sync of changes, all at once and without an overlap. */
export const SYNC_OPTIONS: SyncOptions = {
  full: false,
  parts: SYNC_PARTS,
  pageSize: 100,
  overlapMs: 0,
  pipelineIds: [],
  signal: new AbortController().signal,
}

export type Syncing = Awaited<ReturnType<typeof openSyncing>>

/**
 * @param options.folder the folder of an earlier syncing, to continue it as after a restart
 * @param options.store the place of the store; by default a new one
 */
export async function openSyncing(
  url: string,
  key = 'test-key',
  options: {
    readonly folder?: string
    readonly store?: string
    readonly source?: Partial<SourceOptions>
  } = {},
) {
  const folder = options.folder ?? folderWith()
  const clock = { now: new Date('2026-11-21T06:00:00Z') }
  const file = join(folder, 'leadsheet.db')
  const isNew = options.folder === undefined && options.store === undefined
  const store = await (isNew ? openNewStore(file, clock.now) : openStore(options.store ?? file, clock.now))
  const source = openSource({
    baseUrl: url,
    apiKey: key,
    maxWaitMs: 60_000,
    log: SILENT,
    now: () => clock.now,
    backoff: AT_ONCE,
    ...options.source,
  })
  return {
    store,
    source,
    folder,
    /** The clock of the job. A test moves it. */
    clock,
    sync: (options: Partial<SyncOptions> = {}): Promise<SyncResult> =>
      sync(
        { store, source, log: SILENT, now: () => clock.now },
        { ...SYNC_OPTIONS, pageSize: 10, overlapMs: 10 * 60_000, ...options },
      ),
    async [Symbol.asyncDispose]() {
      await source.close()
      await store.close()
    },
  }
}

/** Opens an upstream with some leads, and an empty copy of it, until the test ends. */
export async function openWorld(leads: number, source: Partial<SourceOptions> = {}) {
  const upstream = await startUpstream(leads)
  const syncing = await openSyncing(upstream.url, 'test-key', { source })
  onTestFinished(async () => {
    await syncing[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })
  return { upstream, syncing }
}
