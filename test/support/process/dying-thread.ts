/**
 * Kills the threads of a program. `env: mortalThreads(file)` makes each of its threads end as soon as that
 * file exists. Node loads this file before each thread.
 */
import { existsSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const LOOK_MS = 10

export function mortalThreads(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.filename}`, THREADS_DIE_BY: file }
}

const { THREADS_DIE_BY } = process.env
if (!isMainThread && THREADS_DIE_BY !== undefined)
  setInterval(() => {
    if (existsSync(THREADS_DIE_BY)) process.exit(1)
  }, LOOK_MS).unref()
