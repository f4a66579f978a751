/**
 * Node loads this file before the daemon. It measures for how long the event loop of the main thread stands
 * still, and tells the bench on request. Each answer begins the next measurement.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

export interface LoopDelay {
  readonly p99Ms: number
  readonly maxMs: number
}

/** A timer that is due each millisecond. Its delay is the time for which the loop stood still. */
const RESOLUTION_MS = 1

if (isMainThread && process.send !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  process.on('message', (message) => {
    if (message !== 'loop') return
    const found: LoopDelay = { p99Ms: delays.percentile(99) / 1e6, maxMs: delays.max / 1e6 }
    process.send?.(found)
    delays.reset()
  })
  process.channel?.unref()
}
