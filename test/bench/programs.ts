/** Starts the measured programs in their own processes, and reads their output. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtempDisposable, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Step } from './step.ts'

const ROOT = join(import.meta.dirname, '../..')
const INSTALLED = join(tmpdir(), `leadsheet-bench-program-${process.pid}`)
/** The program that {@link installProgram} builds. It uses a cache of compiled code. */
export const MAIN = join(INSTALLED, 'bin/leadsheet.js')

/** Builds the program into a folder that has no sources, so that the built one is started. */
export async function installProgram() {
  await mkdir(INSTALLED)
  for (const name of await readdir(ROOT))
    if (!['bin', 'dist', 'src'].includes(name)) await symlink(join(ROOT, name), join(INSTALLED, name))
  await cp(join(ROOT, 'bin'), join(INSTALLED, 'bin'), { recursive: true })
  await promisify(execFile)(process.execPath, [join(ROOT, 'build/build.ts'), join(INSTALLED, 'dist')])
  return { [Symbol.asyncDispose]: () => rm(INSTALLED, { recursive: true }) }
}

export const newFolder = () => mkdtempDisposable(join(tmpdir(), 'leadsheet-bench-'))

/** Starts the upstream. It ends when its input ends, in whatever way the bench ends. */
export async function startUpstream(leads: number) {
  const path = join(import.meta.dirname, 'servers/upstream.ts')
  const child = spawn(process.execPath, ['--max-old-space-size=8192', path, String(leads)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [address] = await once(child.stdout, 'data')
  return {
    address: String(address).trim(),
    async [Symbol.asyncDispose]() {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

/** Runs a contender to its end, and yields each of its steps. */
export async function* runContender(file: string, args: readonly string[]): AsyncGenerator<Step> {
  const script = join(import.meta.dirname, 'contenders', file)
  const program = file.endsWith('.py') ? 'python3' : process.execPath
  const child = spawn(program, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line)
  const [status] = await ended
  if (status !== 0) throw new Error(`${file}: ended with ${status}, expected 0`)
}

/** Tells whether Python has these modules. */
export function hasPython(modules: string): boolean {
  return spawnSync('python3', ['-c', `import ${modules}`], { stdio: 'ignore' }).status === 0
}
