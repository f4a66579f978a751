/** Where a daemon serves its pages, by what it says of itself. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** It goes on reading: a daemon whose log nobody takes would stand still. */
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
