/**
 * Runs commands in one process that stays, because a start takes longer than most commands. Tests of the
 * start, of the end, or of two programs at once use `leadsheet.ts` instead.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Finished, RunOptions } from '../leadsheet.ts'
import { COMPILED } from './programs.ts'
import type { WarmCommand } from './warm-process.ts'

const SCRIPT = join(import.meta.dirname, 'warm-process.ts')

interface Program {
  readonly child: ChildProcess
  /** Aborted when the process has ended. */
  readonly gone: AbortSignal
}

interface Unref {
  unref(): void
}

let program: Program | null = null
let before: Promise<unknown> = Promise.resolve()

/** Runs a command like `runLeadsheet`, after all commands that were asked for before. */
export function runWarm(args: readonly string[], options: RunOptions): Promise<Finished> {
  const finished = before.then(() => runNext(args, options))
  before = finished.catch(() => {})
  return finished
}

async function runNext(args: readonly string[], { cwd, env = {} }: RunOptions): Promise<Finished> {
  // The settings of Node that a running process cannot take over. The clock is the exception.
  const late = Object.keys(env).find((name) => name.startsWith('NODE_') && !('CLOCK_AHEAD_MS' in env))
  if (late !== undefined) throw new Error(`${late} is read when a program starts: take runLeadsheet`)
  const { PATH = '', HOME = '' } = process.env
  // The compile cache is also for the processes that a command starts.
  const bare = { PATH, HOME, TZ: 'UTC', NODE_COMPILE_CACHE: COMPILED }
  if (program === null || program.gone.aborted) program = start(bare)
  const { child, gone } = program
  const answered = once(child, 'message', { signal: gone })
  child.send({ args, cwd, env: { ...bare, ...env } } satisfies WarmCommand)
  const [finished] = await answered
  return finished
}

function start(env: Readonly<Record<string, string>>): Program {
  const child = fork(SCRIPT, { env, execArgv: [], silent: true })
  // The child must not keep this process alive; it ends with it.
  for (const each of [child, child.channel, child.stdout, child.stderr] as (Unref | null)[]) each?.unref()
  const gone = new AbortController()
  child.once('exit', (status) => gone.abort(new Error(`the program ended with ${status}`)))
  return { child, gone: gone.signal }
}
