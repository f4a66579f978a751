/**
 * The program for tests of what its commands do: started once, and given one command after the other, since a start
 * costs more than most of them. Where a test is about how the program starts or ends, or about two at once, it takes
 * `leadsheet.ts`.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { holdToContract } from '../docs/contract.ts'
import { COMPILED, type Finished, type RunOptions } from '../leadsheet.ts'
import type { WarmCommand } from './warm-process.ts'

const SCRIPT = join(import.meta.dirname, 'warm-process.ts')

interface Program {
  readonly child: ChildProcess
  /** Aborted when it has ended. */
  readonly gone: AbortSignal
}

interface Unref {
  unref(): void
}

let program: Program | null = null
let before: Promise<unknown> = Promise.resolve()

/** As `runLeadsheet`, after those that were asked for before. */
export function runWarm(args: readonly string[], options: RunOptions): Promise<Finished> {
  const finished = before.then(() => runNext(args, options))
  before = finished.catch(() => {})
  return finished
}

async function runNext(args: readonly string[], { cwd, env = {} }: RunOptions): Promise<Finished> {
  // But for what `clockAt` says there.
  const late = Object.keys(env).find((name) => name.startsWith('NODE_') && !('CLOCK_AHEAD_MS' in env))
  if (late !== undefined) throw new Error(`${late} is read when a program starts: take runLeadsheet`)
  const bare = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', TZ: 'UTC' }
  if (program === null || program.gone.aborted) program = start({ ...bare, NODE_COMPILE_CACHE: COMPILED })
  const { child, gone } = program
  const answered = once(child, 'message', { signal: gone })
  child.send({ args, cwd, env: { ...bare, ...env } } satisfies WarmCommand)
  const [finished] = await answered
  return holdToContract(args, finished)
}

function start(env: Readonly<Record<string, string>>): Program {
  const child = fork(SCRIPT, { env, execArgv: [], silent: true })
  // It ends when this process does, and does not keep it.
  for (const each of [child, child.channel, child.stdout, child.stderr] as (Unref | null)[]) each?.unref()
  const gone = new AbortController()
  child.once('exit', (status) => gone.abort(new Error(`the program ended with ${status}`)))
  return { child, gone: gone.signal }
}
