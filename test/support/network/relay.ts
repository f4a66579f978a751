/** An address that stays the same while the daemon behind it comes and goes, like the address of a proxy. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { listen } from './http-server.ts'

export interface Relay extends AsyncDisposable {
  readonly url: string
  /** The port that connections are passed to; null if nobody listens. Then connections are closed. */
  behind: string | null
}

export async function openRelay(): Promise<Relay> {
  const server = createServer((client) => {
    client.on('error', () => undefined)
    if (relay.behind === null) {
      client.destroy()
      return
    }
    const { hostname, port } = new URL(relay.behind)
    const daemon = connect(Number(port), hostname)
    daemon.on('error', () => client.destroy())
    client.on('close', () => daemon.destroy())
    daemon.on('close', () => client.destroy())
    client.pipe(daemon).pipe(client)
  })
  const relay: Relay = {
    url: `http://127.0.0.1:${await listen(server)}`,
    behind: null,
    async [Symbol.asyncDispose]() {
      relay.behind = null
      server.close()
      await once(server, 'close')
    },
  }
  return relay
}
