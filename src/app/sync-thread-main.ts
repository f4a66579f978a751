/** Runs one scheduled sync in a thread, which opens its own store and its own connection to the upstream. */
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../config/config.ts'
import { pasteSettings } from '../config/secrets.ts'
import { syncAndPrune } from '../jobs/sync/scheduled-sync.ts'
import { openLog } from '../log.ts'
import { openStore } from '../store/open.ts'
import { borrowLease } from '../store/schedule/lease.ts'
import type { RequestRate } from '../upstream/client/rate-limit.ts'
import { reportTimeZones } from './configured-schedules.ts'
import { openSourceOf, syncOptions } from './configured-upstream.ts'
import {
  packThrown,
  type ThreadJob,
  type ThreadMessage,
  type ThreadOrder,
  unpackThrown,
} from './sync-thread.ts'

const daemon = parentPort
if (daemon === null) throw new TypeError('sync-thread-main.ts is the program of a thread')
const tell = (message: ThreadMessage): void => daemon.postMessage(message)
const stop = new AbortController()
const calls = new Map<number, (value: unknown) => void>()
let callsMade = 0

daemon.on('message', (order: ThreadOrder) => {
  if ('stop' in order) stop.abort(unpackThrown(order.stop))
  else calls.get(order.answered)?.(order.value)
})

try {
  const result = await run(workerData)
  // The compile cache is written now, because the daemon ends the thread when it has the result.
  flushCompileCache()
  tell({ result })
} catch (failure) {
  tell({ failure: packThrown(failure), isReason: stop.signal.aborted && failure === stop.signal.reason })
}
daemon.close()

async function run({ settings, address, full, lease, logLevel }: ThreadJob) {
  const config = configOf(settings)
  const log = await openLog({
    ...{ level: logLevel, pretty: false, color: false, secrets: [] },
    write: (line) => tell({ line }),
  })
  await using store = await openStore(address, new Date(), 'refuse')
  const source = openSourceOf(config, log, { requestRate: remoteRequestRate() })
  try {
    const work = {
      ...{ source, store, log, now: () => new Date(), retention: config.retention },
      timeZones: reportTimeZones(config),
      syncOptions: (signal: AbortSignal) => syncOptions(config, signal),
    }
    return await syncAndPrune(work, full, borrowLease(store, lease, stop.signal), stop.signal)
  } finally {
    tell({ clockAheadMs: source.clockAheadMs() })
    await source.close()
  }
}

function configOf(settings: unknown): Config {
  const config = pasteSettings(settings) as Config
  const { profile } = config.api
  // A function cannot be passed to a thread, so `nameOf` is replaced. The new function names only the file of
  // a mistake, because the daemon has already reported mistakes with their lines.
  return {
    ...config,
    api: { ...config.api, profile: profile && { ...profile, nameOf: () => profile.origin } },
  }
}

/**
 * Returns a rate limit that forwards each call to the daemon. The sync and the daemon's own requests then
 * share one limit.
 */
function remoteRequestRate(): RequestRate {
  const call =
    (method: keyof RequestRate) =>
    (...values: unknown[]): Promise<never> =>
      new Promise((resolve) => {
        const number = callsMade++
        calls.set(number, (value) => {
          calls.delete(number)
          resolve(value as never)
        })
        tell({ call: number, method, values })
      })
  return {
    takeRequest: call('takeRequest'),
    blockedMs: call('blockedMs'),
    block: call('block'),
    endRequest: call('endRequest'),
    postpone: call('postpone'),
  }
}
