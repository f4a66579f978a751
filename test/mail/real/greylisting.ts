/** A policy server as Postfix asks one for each recipient (its SMTPD_POLICY_README): puts some of them off. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Greylisting {
  readonly port: number
  /** Those who are deferred for as long as they are in here. */
  readonly putOff: Set<string>
  /** How often somebody was asked for, in order. */
  readonly asked: readonly string[]
}

/** For the test that runs. */
export async function startGreylisting(putOff: readonly string[]): Promise<Greylisting> {
  const greylisting = { putOff: new Set(putOff), asked: [] as string[] }
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
        const action = greylisting.putOff.has(recipient) ? '450 4.2.0 greylisted' : 'dunno'
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
