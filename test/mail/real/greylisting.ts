/**
 * A policy server that defers some recipients. Postfix asks it about each recipient (see its
 * SMTPD_POLICY_README).
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Greylisting {
  readonly port: number
  /** The recipients that are deferred. */
  readonly deferred: Set<string>
  /** The recipients that Postfix asked about, in order. */
  readonly asked: readonly string[]
}

/** Starts the policy server for the current test. */
export async function startGreylisting(deferred: readonly string[]): Promise<Greylisting> {
  const greylisting = { deferred: new Set(deferred), asked: [] as string[] }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let rest = ''
    socket.on('data', (chunk) => {
      const requests = (rest + chunk.toString()).split('\n\n')
      rest = requests.pop() ?? ''
      for (const request of requests) {
        const recipient = /^recipient=(.*)$/m.exec(request)?.[1] ?? ''
        greylisting.asked.push(recipient)
        const action = greylisting.deferred.has(recipient) ? '450 4.2.0 greylisted' : 'dunno'
        socket.write(`action=${action}\n\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { ...greylisting, port: (server.address() as AddressInfo).port }
}
