/**
 * Runs each scheduled sync of the daemon in a thread of its own, so that slow SQL of a sync does not block
 * the daemon. The program of the thread is `sync-thread-main.ts`.
 */
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import type { Config } from '../config/config.ts'
import { copySettings } from '../config/secrets.ts'
import type { SyncResult } from '../domain/sync.ts'
import { LeadsheetError } from '../errors.ts'
import { SYNC_LEASE } from '../jobs/schedule/schedule.ts'
import type { RunSync } from '../jobs/sync/scheduled-sync.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/db/store.ts'
import { programFile } from '../store/db/subprocess.ts'
import type { RequestRate } from '../upstream/client/rate-limit.ts'
import { storeAddressOf } from './installation.ts'

/** The data that the thread is started with. */
export interface ThreadJob {
  /** A copy of the settings that {@link copySettings} has made. */
  readonly settings: unknown
  readonly address: string
  readonly full: boolean
  /** The lease (a lock that expires) of the scheduled run. The daemon renews and releases the lease. */
  readonly lease: { readonly name: string; readonly holder: string }
  readonly logLevel: string
}

/** A message from the thread to the daemon. The last message is `result` or `failure`. */
export type ThreadMessage =
  /** A line of the log, as JSON. */
  | { readonly line: string }
  /** A call of a method of the shared rate limit. The daemon makes the call and returns the value. */
  | { readonly call: number; readonly method: keyof RequestRate; readonly values: readonly unknown[] }
  | { readonly clockAheadMs: number | null }
  | { readonly result: SyncResult }
  /** `isReason` is true if the sync failed only because the daemon stopped the thread. */
  | { readonly failure: Thrown; readonly isReason: boolean }

/** A message from the daemon to the thread. */
export type ThreadOrder = { readonly stop: Thrown } | { readonly answered: number; readonly value: unknown }

/**
 * An error that can be passed between threads. For a LeadsheetError, `ours` holds its fields. For any other
 * error, `ours` is null and `error` holds the error itself.
 */
interface Thrown {
  readonly error: unknown
  readonly ours: Pick<LeadsheetError, 'code' | 'message' | 'hint' | 'notBefore' | 'mistakes'> | null
}

export function packThrown(thrown: unknown): Thrown {
  if (!(thrown instanceof LeadsheetError)) return { error: thrown, ours: null }
  const { code, message, hint, notBefore, mistakes } = thrown
  return { error: null, ours: { code, message, hint, notBefore, mistakes } }
}

export function unpackThrown({ error, ours }: Thrown): unknown {
  if (ours === null) return error
  const { code, message, hint, notBefore, mistakes } = ours
  const options = { ...(hint && { hint }), ...(notBefore && { notBefore }), ...(mistakes && { mistakes }) }
  return new LeadsheetError(code, message, options)
}

interface ThreadDeps {
  readonly store: Store
  readonly log: Log
  /** The rate limit of the daemon's own requests to the upstream. */
  readonly requestRate: RequestRate
  /** Receives how many milliseconds our clock is ahead of the upstream's clock; null if this is unknown. */
  readonly onClock: (aheadMs: number | null) => void
}

/**
 * Sets the heap size of the next thread. The engine settings of `main.ts` keep the part of the heap for new
 * objects from growing. With its first size, 1 MB, a first sync took a sixth more processor time.
 */
function sizeHeap(): void {
  setFlagsFromString('--min-semi-space-size=4')
  // Lets the heap grow by 40 % between garbage collections. More is not needed, because loaded modules fill
  // most of the heap and stay in use.
  setFlagsFromString('--heap-growing-percent=40')
}

/** Returns the function that runs a sync in a new thread. The store must be in an SQLite file. */
export function syncInThread(config: Config, deps: ThreadDeps): RunSync {
  return async (full, lease, signal) => {
    signal.throwIfAborted()
    const job: ThreadJob = {
      ...{ settings: copySettings(config), address: storeAddressOf(config), full },
      lease: { name: SYNC_LEASE, holder: lease.holder },
      logLevel: deps.log.level,
    }
    sizeHeap()
    const thread = new Worker(programFile(import.meta.url, 'sync-thread-main'), { workerData: job })
    const order = (message: ThreadOrder): void => thread.postMessage(message)
    const stop = (): void => order({ stop: packThrown(signal.reason) })
    signal.addEventListener('abort', stop)
    try {
      return await followThread(thread, deps, order, signal)
    } finally {
      signal.removeEventListener('abort', stop)
      await thread.terminate()
    }
  }
}

async function followThread(
  thread: Worker,
  { log, requestRate, onClock }: ThreadDeps,
  order: (message: ThreadOrder) => void,
  signal: AbortSignal,
): Promise<SyncResult> {
  const lines: { write(line: string): void } = Reflect.get(log, pino.symbols.streamSym)
  const { promise, resolve, reject } = Promise.withResolvers<SyncResult>()
  thread.on('message', async (message: ThreadMessage) => {
    if ('line' in message) lines.write(message.line)
    else if ('clockAheadMs' in message) onClock(message.clockAheadMs)
    else if ('result' in message) resolve(message.result)
    else if ('failure' in message) reject(message.isReason ? signal.reason : unpackThrown(message.failure))
    else {
      const value = await Reflect.apply(requestRate[message.method], requestRate, message.values)
      order({ answered: message.call, value })
    }
  })
  thread.on('error', reject)
  const ended = once(thread, 'exit').then(() => {
    throw new Error('the thread of a sync ended without a result')
  })
  return Promise.race([promise, ended])
}
