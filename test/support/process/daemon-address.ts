/** Finds the address of a daemon's pages in its log. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/**
 * Returns the address. The log is read on afterwards, because a daemon stands still if nobody reads its
 * output.
 */
export async function readAddress(stderr: Readable | null): Promise<string> {
  if (stderr === null) throw new Error('the daemon has no log')
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const lines = createInterface({ input: stderr })
  lines.on('line', (line) => {
    const { listen } = JSON.parse(line)
    if (typeof listen === 'string') resolve(listen)
  })
  lines.on('close', () => reject(new Error('the daemon ended before it served pages')))
  return promise
}
