/** The real program, killed with SIGKILL at a numbered point (see kill-at.ts) or at any time. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { folderWith } from '../../support/folder.ts'
import { type Finished, finished } from '../../support/leadsheet.ts'
import { COMPILED } from '../../support/process/programs.ts'

export const MAIN = join(import.meta.dirname, '../../../src/main.ts')
const HOOK = join(import.meta.dirname, 'kill-at.ts')

export interface Program {
  /** The file to run; by default the program itself. */
  readonly main?: string
  /** The program that starts it, with its arguments, such as `prlimit`. */
  readonly within?: readonly string[]
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Returns a sync of all leads, in a new folder with these settings of the API. */
export function syncOf(url: string, api: string, ...options: readonly string[]): Program {
  return {
    args: ['sync', '--only', 'leads', '--full', ...options],
    cwd: folderWith({ 'leadsheet.yaml': `api: ${api}\nsnapshot: { when: never }\ndata_dir: .` }),
    env: { LEADSHEET_API_URL: url, LEADSHEET_API_KEY: 'test-key' },
  }
}

/** Starts the program. It is killed at the end of the test if it still runs. */
export function start({ main = MAIN, within = [], args, cwd, env }: Program): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  const hook = env['KILL_AT'] || env['POINTS'] ? ['--import', HOOK] : []
  const [command = '', ...words] = [...within, process.execPath, ...hook, main, ...args]
  // Without this, all daemons would ask for the same port.
  const web = args[0] === 'run' ? { LEADSHEET_WEB_LISTEN: 'none' } : {}
  const own = { PATH, HOME, TZ: 'UTC', NODE_COMPILE_CACHE: COMPILED, ...web }
  const child = spawn(command, words, { cwd, env: { ...own, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Kills a program that has not ended yet, and waits until it is gone. */
export async function killProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

export function run(program: Program): Promise<Finished> {
  return finished(start(program))
}

/** Runs the program to its end. Returns the names of the points that it passed, in order. */
export async function listPoints(program: Program): Promise<string[]> {
  const file = join(folderWith(), 'points')
  const { status, stderr } = await run({ ...program, env: { ...program.env, POINTS: file } })
  if (status !== 0) throw new Error(`the program ended with ${status}: ${stderr}`)
  return readFileSync(file, 'utf8').trim().split('\n')
}

/** Runs the program with a kill at a point. Returns false if it ended before the point. */
export async function runKilledAt(point: number, program: Program): Promise<boolean> {
  const child = start({ ...program, env: { ...program.env, KILL_AT: String(point) } })
  await finished(child)
  return child.signalCode === 'SIGKILL'
}
