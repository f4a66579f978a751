/** The output of a contender for the bench: one line of JSON for each step. */
import { readFileSync } from 'node:fs'

export interface Time {
  readonly ms: number
  /** The CPU time, with that of the processes that were started and have ended. */
  readonly cpuMs: number
}

export interface Step extends Time {
  readonly step: string
  /** The highest memory use of the process so far. */
  readonly peakMb: number
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

/** Runs a step and prints its time. */
export async function timeStep(step: string, work: () => Promise<unknown>): Promise<void> {
  const time = await timeOf(work)
  const told: Step = { step, ...time, peakMb: process.resourceUsage().maxRSS / 1024 }
  console.log(JSON.stringify(told))
}

export async function timeOf(work: () => Promise<unknown>): Promise<Time> {
  const [began, before, children] = [performance.now(), process.cpuUsage(), readChildrenCpuMs()]
  await work()
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  return { ms, cpuMs: (user + system) / 1000 + readChildrenCpuMs() - children }
}

/**
 * Returns the CPU time of the ended children of this process. The kernel counts in hundredths of a second (proc(5));
 * elsewhere than on Linux, children are left out.
 */
function readChildrenCpuMs(): number {
  if (process.platform !== 'linux') return 0
  const [, , user = 0, system = 0] = readProcess(process.pid).ticks
  return 10 * (user + system)
}

/** Returns the parent of a process and, in hundredths of a second, its user and system time and those of its children. */
export function readProcess(pid: number | string): {
  readonly parent: number
  readonly ticks: readonly number[]
} {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), ticks: fields.slice(11, 15).map(Number) }
}
