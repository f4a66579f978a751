/** A port of 127.0.0.1 on which nothing listens, for what cannot be told to take any that is free. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that the system gives to whoever asks for any, so that no other test gets it meanwhile. */
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
