/** Runs the real program in its own process, as a user would. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { COMPILED } from './process/programs.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')

export interface RunOptions {
  readonly cwd: string
  /** Added to an environment that has none of the machine's LEADSHEET_* variables. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Finished {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts the program. It is killed at the end of the test if it still runs. */
export function startLeadsheet(args: readonly string[], { cwd, env = {} }: RunOptions): ChildProcess {
  // Without this, all daemons would ask for the same port.
  const web = args[0] === 'run' ? { LEADSHEET_WEB_LISTEN: 'none' } : {}
  return startScript([MAIN, ...args], { cwd, env: { ...web, ...env } })
}

/** Runs a TypeScript file in the same way as the program. */
export async function runScript(args: readonly string[], options: RunOptions): Promise<Finished> {
  return finished(startScript(args, options))
}

function startScript(args: readonly string[], { cwd, env }: RunOptions): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH, HOME, TZ: 'UTC', NODE_COMPILE_CACHE: COMPILED, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

export async function runLeadsheet(args: readonly string[], options: RunOptions): Promise<Finished> {
  return finished(startLeadsheet(args, options))
}

/** Waits until a started program has ended. Returns its output and its exit status. */
export async function finished(child: ChildProcess): Promise<Finished> {
  const left = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [stdout, stderr, status] = await Promise.all([read(child.stdout), read(child.stderr), left])
  return { status, stdout, stderr }
}

async function read(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? '' : text(stream)
}
