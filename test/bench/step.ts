/** The output of a contender for the bench: one line of JSON for each step. */
import { readFileSync } from 'node:fs'

export interface Step {
  readonly step: string
  readonly ms: number
  /** The CPU time, with that of the processes that the contender started. */
  readonly cpuMs: number
  /** The highest memory use of the process so far. */
  readonly peakMb: number
  readonly requests?: number
}

/**
 * The arguments of each contender: the address of the leads, the file of the database, and the number of
 * leads.
 */
export const [url = '', file = '', leads = 0] = [
  process.argv[2],
  process.argv[3],
  Number(process.argv[4]),
] as const

/** Runs a step and prints its time. The work returns the number of its requests if it knows it. */
export async function timeStep(step: string, work: () => Promise<number | null>): Promise<void> {
  const cpuBefore = readCpuMs()
  const started = performance.now()
  const requests = await work()
  const ms = performance.now() - started
  const told: Step = {
    step,
    ms,
    cpuMs: readCpuMs() - cpuBefore,
    peakMb: process.resourceUsage().maxRSS / 1024,
    ...(requests === null ? {} : { requests }),
  }
  console.log(JSON.stringify(told))
}

/** Returns the time that this process has spent, and its children that have ended, in milliseconds. */
export function readCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + readChildrenCpuMs()
}

/** The kernel counts in hundredths of a second (proc(5)); elsewhere than on Linux, children are left out. */
function readChildrenCpuMs(): number {
  if (process.platform !== 'linux') return 0
  const [user = 0, system = 0] = readCpuTicks(process.pid).slice(2)
  return 10 * (user + system)
}

/** Returns user, system, user of children and system of children, in hundredths of a second. */
export function readCpuTicks(pid: number): number[] {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\) )/s)
  return rest.split(' ').slice(11, 15).map(Number)
}
