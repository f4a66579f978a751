/** Finds a free port of 127.0.0.1, for programs that need to be told a port. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The search starts below the ports that the system hands out, so that no other test gets the same one. */
const FROM = 20_000
const PORTS = 10_000

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * PORTS)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = once(server, 'listening')
  server.listen(port, '127.0.0.1')
  try {
    await listening
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
