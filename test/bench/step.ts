/** What a contender tells the bench: one line of JSON a step on its standard output. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface Step {
  readonly step: string
  readonly ms: number
  /** The most memory that the process has had so far. */
  readonly peakMb: number
  /** The longest that the event loop stood still during the step. */
  readonly blockedMs?: number
  readonly blockedP99Ms?: number
  readonly requests?: number
}

/** Where the leads are, where the database goes, and how many leads there are: the arguments of each contender. */
export const [url = '', file = '', leads = 0] = [
  process.argv[2],
  process.argv[3],
  Number(process.argv[4]),
] as const

/** Runs a step and tells how long it took; the work gives the number of its requests, where it knows. */
export async function timeStep(step: string, work: () => Promise<number | null>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const started = performance.now()
  const requests = await work()
  const ms = performance.now() - started
  delay.disable()
  const told: Step = {
    step,
    ms,
    peakMb: process.resourceUsage().maxRSS / 1024,
    blockedMs: delay.max / 1e6,
    blockedP99Ms: delay.percentile(99) / 1e6,
    ...(requests === null ? {} : { requests }),
  }
  console.log(JSON.stringify(told))
}
