/** Tests the proxy between a client and a server that echoes. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { openTcpProxy } from './tcp-proxy.ts'

it('passes what either end says, and when it has said all', async () => {
  const { proxy } = await openEcho()
  const client = await dial(proxy.port)
  client.end('to and fro')
  expect(await text(client)).toBe('to and fro')
  await expect.poll(() => proxy.connected).toBe(0)
  expect(proxy.taken).toBe(1)
})

it('cuts all connections at once, on both sides, and takes new ones', async () => {
  const { proxy, inside } = await openEcho()
  const clients = [await dial(proxy.port), await dial(proxy.port)]
  await expect.poll(() => inside.size).toBe(2)
  const errors = clients.map((client) => once(client, 'error'))
  proxy.cut()
  for (const [error] of await Promise.all(errors)) expect(error).toMatchObject({ code: 'ECONNRESET' })
  await expect.poll(() => inside.size).toBe(0)
  expect(proxy.connected).toBe(0)
  expect(await echoOf(await dial(proxy.port), 'again')).toBe('again')
  expect(proxy.taken).toBe(3)
})

it('refuses who comes, and leaves alone who is there', async () => {
  const { proxy } = await openEcho()
  const client = await dial(proxy.port)
  expect(await echoOf(client, 'one')).toBe('one')
  await proxy.refuse(true)
  await expect(dial(proxy.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(await echoOf(client, 'two')).toBe('two')
  await proxy.refuse(false)
  expect(await echoOf(await dial(proxy.port), 'three')).toBe('three')
})

it('keeps back what is said while it is silent, whoever came before or after, and lets it through then', async () => {
  const { proxy, behind, inside, heard } = await openEcho()
  const before = await dial(proxy.port)
  expect(await echoOf(before, 'loud')).toBe('loud')
  proxy.stall(true)
  const after = await dial(proxy.port)
  const echoes = [echoOf(before, 'hushed'), echoOf(after, 'hushed')]
  // A reply by another way proves that there was enough time for both.
  await expect.poll(() => inside.size).toBe(2)
  const other = await openTcpProxy(behind)
  onTestFinished(() => other[Symbol.asyncDispose]())
  expect(await echoOf(await dial(other.port), 'beside')).toBe('beside')
  expect(heard()).toBe('loudbeside')
  expect([before.closed, after.closed, proxy.connected]).toEqual([false, false, 2])
  proxy.stall(false)
  expect(await Promise.all(echoes)).toEqual(['hushed', 'hushed'])
})

it('closes who comes while nobody is behind it', async () => {
  const { proxy, leave } = await openEcho()
  await leave()
  const client = await dial(proxy.port)
  await once(client.resume(), 'close')
  await expect.poll(() => proxy.connected).toBe(0)
})

async function openEcho() {
  const inside = new Set<Socket>()
  let heard = ''
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    inside.add(socket)
    socket.on('error', () => undefined).on('close', () => inside.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString()
    })
    socket.pipe(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const behind = (server.address() as AddressInfo).port
  const proxy = await openTcpProxy(behind)
  const leave = async () => {
    if (server.listening) await once(server.close(), 'close')
  }
  onTestFinished(async () => {
    await proxy[Symbol.asyncDispose]()
    await leave()
  })
  return { proxy, behind, inside, heard: () => heard, leave }
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

async function echoOf(socket: Socket, said: string): Promise<string> {
  const answer = once(socket, 'data')
  socket.write(said)
  return String((await answer)[0])
}
