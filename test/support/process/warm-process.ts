/**
 * The process behind `warm-leadsheet.ts`. It runs `main.ts` anew for each command, with the environment of
 * that command alone.
 */
import type { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Finished } from '../leadsheet.ts'
import { shiftClock } from './shifted-clock.ts'

export interface WarmCommand {
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
}

let commands = 0
process.on('message', async (command: WarmCommand) => process.send?.(await run(command)))
// The test has ended.
process.on('disconnect', () => process.exit())

async function run({ args, cwd, env }: WarmCommand): Promise<Finished> {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args)
  const RealDate = Date
  shiftClock(env)
  const stdout = listenTo(process.stdout)
  const stderr = listenTo(process.stderr)
  const restores = [process, process.stdout, process.stderr].map(keepListeners)
  // Standard input is opened when it is first used. Opening it here keeps the count of open resources the
  // same.
  void process.stdin
  const open = process.getActiveResourcesInfo().length
  await import(`../../../src/main.ts?command=${++commands}`)
  // A command has ended when nothing is open that would keep its process alive.
  while (process.getActiveResourcesInfo().length > open) await delay(1)
  for (const restore of restores) restore()
  globalThis.Date = RealDate
  return { status: Number(process.exitCode), stdout: stdout(), stderr: stderr() }
}

/** @returns a function that stops listening and returns the written text */
function listenTo(stream: NodeJS.WriteStream): () => string {
  const { write } = stream
  const chunks: Buffer[] = []
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    chunks.push(Buffer.from(chunk))
    const done = more.at(-1)
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
  return () => {
    stream.write = write
    return Buffer.concat(chunks).toString()
  }
}

/** @returns a function that removes the listeners added since */
function keepListeners(emitter: EventEmitter): () => void {
  const kept = new Map(emitter.eventNames().map((name) => [name, emitter.listeners(name)]))
  return () => {
    for (const name of emitter.eventNames()) {
      for (const listener of emitter.listeners(name)) {
        if (!kept.get(name)?.includes(listener)) emitter.removeListener(name, listener as () => void)
      }
    }
  }
}
