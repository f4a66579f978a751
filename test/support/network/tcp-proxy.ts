/** A proxy to a server on this machine that can be cut, closed or silenced, as happens in networks. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

export type TcpProxy = Awaited<ReturnType<typeof openTcpProxy>>

/** @param behind the port of the server */
export async function openTcpProxy(behind: number) {
  const port = await freePort()
  const pairs = new Set<Pair>()
  let isStalled = false
  let server: Server | null = null
  const take = (client: Socket) => {
    const pair = { client, server: connect({ port: behind, host: '127.0.0.1', allowHalfOpen: true }) }
    pairs.add(pair)
    const leave = () => {
      pairs.delete(pair)
      client.destroy()
      pair.server.destroy()
    }
    for (const socket of ends(pair)) {
      // After an error comes a close, which is passed on to the other end.
      socket.on('error', () => undefined).on('close', leave)
    }
    if (!isStalled) join(pair)
  }
  const proxy = {
    /** Returns the same URL with the proxy in place of the server. */
    urlOf(url: string): string {
      const through = new URL(url)
      through.port = String(port)
      return through.href
    },
    /** Resets all connections. Data on their way are lost. */
    cut(): void {
      for (const socket of [...pairs].flatMap(ends)) socket.resetAndDestroy()
    },
    /** Sets whether new connections are refused. Open connections are kept. */
    async refuse(isRefusing: boolean): Promise<void> {
      if (isRefusing === (server === null)) return
      if (isRefusing) {
        server?.close()
        server = null
      } else {
        server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, take).listen(port, '127.0.0.1')
        await once(server, 'listening')
      }
    },
    /**
     * Sets whether the proxy is silent. A silent proxy accepts connections, but passes on no data. The held data are
     * passed on afterwards.
     */
    stall(isWanted: boolean): void {
      if (isWanted === isStalled) return
      isStalled = isWanted
      for (const pair of pairs) (isStalled ? part : join)(pair)
    },
    async [Symbol.asyncDispose](): Promise<void> {
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

/** Without reading, the end of a connection is not noticed either. */
function part({ client, server }: Pair): void {
  client.unpipe(server).pause()
  server.unpipe(client).pause()
}
