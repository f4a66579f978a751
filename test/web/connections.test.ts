/** Connections of strangers to the pages: how many they may hold, and what becomes of those that they cut. */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { ask, openDashboard, TOKEN } from '../support/web/dashboard.ts'
import { openTestWeb } from '../support/web/server.ts'

/** Opens silent connections from an address of this machine, and returns those that the server has not closed. */
async function hold(url: string, localAddress: string, count: number): Promise<() => number> {
  const sockets: Socket[] = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (let i = 0; i < count; i++) {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
    sockets.push(socket.on('error', () => {}))
    await new Promise((resolve) => socket.once('connect', resolve))
  }
  return () => sockets.filter(({ readyState }) => readyState === 'open').length
}

it('a stranger holds 16 connections, and a probe is answered, even from his address', async () => {
  const { url } = await openDashboard()
  const held = await hold(url, '127.0.0.2', 100)
  await expect.poll(held).toBe(16)
  expect((await ask(`${url}/healthz`)).status).toBe(200)
  expect((await ask(`${url}/healthz`, { localAddress: '127.0.0.2' })).status).toBe(200)
})

it('many strangers hold 256 connections, and a probe is answered', async () => {
  const { url } = await openDashboard()
  const held = await Promise.all(Array.from({ length: 20 }, (_, i) => hold(url, `127.0.0.${i + 2}`, 16)))
  await expect.poll(() => held.reduce((sum, count) => sum + count(), 0)).toBe(256)
  expect((await ask(`${url}/healthz`)).status).toBe(200)
})

it.each(['loopback', '127.0.0.2'])('the proxy %s may have more', async (proxy) => {
  const { url } = await openDashboard(`token: ${TOKEN}\ntrusted_proxies: ["${proxy}"]`)
  const held = await hold(url, '127.0.0.2', 100)
  expect((await ask(`${url}/healthz`)).status).toBe(200)
  expect(held()).toBe(100)
})

it('what is being answered is not cut for one that says nothing', async () => {
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const server = await openTestWeb({}, [
    (app) =>
      app.get('/slow', async () => {
        asked.resolve()
        await gate.promise
        return 'done'
      }),
  ])
  const answer = fetch(`${server.url}/slow`)
  await asked.promise
  const held = await hold(server.url, '127.0.0.1', 40)
  await expect.poll(held).toBe(15)
  gate.resolve()
  expect(await (await answer).text()).toBe('done')
})

it.each([
  ['/webhooks/leads', ['a message to /webhooks/leads was refused: aborted']],
  ['/sign-in', []],
])(
  'requests to %s that are cut in their middle are counted, and make no line of the log each',
  async (path, told) => {
    const { url, lines } = await openDashboard()
    const cut = async (): Promise<void> => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
      )
      await delay(10)
      socket.resetAndDestroy()
    }
    for (let i = 0; i < 5; i++) await cut()
    const headers = { authorization: `Bearer ${TOKEN}` }
    const { text } = await ask(`${url}/metrics`, { headers })
    if (told.length > 0) expect(text).toMatch(/leadsheet_events_refused_total\{reason="unverified"\} [1-9]/)
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(told)
  },
)
