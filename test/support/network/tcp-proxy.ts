/** A way to a server of this machine that can be cut, closed, or silent, as a network is. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** How many have connected since it was opened. */
  readonly taken: number
  /** How many are connected now. */
  readonly connected: number
  /** The same address by way of it. */
  urlOf(url: string): string
  /** Resets all connections, with what was on its way in them. */
  cut(): void
  /** Whether who connects from now on is refused; those that are connected stay so. */
  refuse(isRefusing: boolean): Promise<void>
  /** Whether it is silent: who connects is let in, nothing passes, nothing ends. What waits passes afterwards. */
  stall(isStalled: boolean): void
}

/** @param behind the port that it leads to */
export async function openTcpProxy(behind: number): Promise<TcpProxy> {
  const port = await freePort()
  const pairs = new Set<Pair>()
  let taken = 0
  let isStalled = false
  let server: Server | null = null
  const take = (client: Socket) => {
    taken++
    const pair = { client, server: connect({ port: behind, host: '127.0.0.1', allowHalfOpen: true }) }
    pairs.add(pair)
    const leave = () => {
      pairs.delete(pair)
      client.destroy()
      pair.server.destroy()
    }
    for (const socket of ends(pair)) {
      // An error is followed by the close that the other end gets to know.
      socket.on('error', () => undefined).on('close', leave)
    }
    if (!isStalled) join(pair)
  }
  const proxy: TcpProxy = {
    port,
    get taken() {
      return taken
    },
    get connected() {
      return pairs.size
    },
    urlOf(url) {
      const through = new URL(url)
      through.port = String(port)
      return through.href
    },
    cut() {
      for (const socket of [...pairs].flatMap(ends)) socket.resetAndDestroy()
    },
    async refuse(isRefusing) {
      if (isRefusing === (server === null)) return
      if (isRefusing) {
        server?.close()
        server = null
      } else {
        server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, take).listen(port, '127.0.0.1')
        await once(server, 'listening')
      }
    },
    stall(isWanted) {
      if (isWanted === isStalled) return
      isStalled = isWanted
      for (const pair of pairs) (isStalled ? part : join)(pair)
    },
    async [Symbol.asyncDispose]() {
      await proxy.refuse(true)
      proxy.cut()
    },
  }
  await proxy.refuse(false)
  return proxy
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

function ends({ client, server }: Pair): readonly Socket[] {
  return [client, server]
}

function join({ client, server }: Pair): void {
  client.pipe(server).pipe(client)
}

/** What is no longer read is not seen to end either. */
function part({ client, server }: Pair): void {
  client.unpipe(server).pause()
  server.unpipe(client).pause()
}
