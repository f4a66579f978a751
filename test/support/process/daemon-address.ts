/** Reads the log of a running daemon. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/**
 * Waits for a line that matches, and returns it. The log is read on afterwards, because a daemon stands still if nobody
 * reads its output.
 */
export async function untilSaid(stderr: Readable | null, said: RegExp): Promise<string> {
  if (stderr === null) throw new Error('the daemon has no log')
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const heard: string[] = []
  const lines = createInterface({ input: stderr })
  lines.on('line', (line) => {
    if (said.test(line)) resolve(line)
    else heard.push(line)
  })
  lines.on('close', () => reject(new Error(`the daemon ended without ${said}: ${heard.join('\n')}`)))
  return promise
}

/** Returns the address of the daemon's pages. */
export async function readAddress(stderr: Readable | null): Promise<string> {
  return JSON.parse(await untilSaid(stderr, /"listen":"/)).listen
}
