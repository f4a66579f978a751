/** Servers on a free port of 127.0.0.1, for tests that write what they answer. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'

/** Opens a server. Its `url` is the address without a path. */
export async function openHttpServer(answer: RequestListener) {
  const server = createServer(answer)
  const port = await listen(server)
  return {
    server,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Returns the port at which the server listens from now on. */
export async function listen(server: NetServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
