/**
 * Posts to real servers: successes, failures with their reasons, and the limit of time. Nothing is thrown.
 */
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { openPoster } from '../../../src/jobs/alerts/http-post.ts'
import { freePort } from '../../support/network/free-port.ts'
import { openReceiver, type Receiver } from '../../support/network/receiver.ts'

const signal = new AbortController().signal
/** The default limit of time for a post. */
const STANDARD_MS = 10_000

const refused = (response: string) => ({ isTaken: false, response })

async function post(url: string, timeoutMs?: number) {
  await using poster = openPoster()
  return await poster.post(new URL(url), 'application/json', '{"a":1}', signal, timeoutMs)
}

it('hands over the bytes and tells the status', async () => {
  await using receiver = await openReceiver()
  expect(await post(`${receiver.url}?x=1`)).toEqual({ isTaken: true, response: '200' })
  expect(receiver.posts).toMatchObject([
    { method: 'POST', path: '/hook/s3cr3t?x=1', type: 'application/json', body: '{"a":1}' },
  ])
})

it('follows no redirect', async () => {
  await using elsewhere = await openReceiver()
  await using receiver = await openReceiver()
  receiver.answer = (response) => response.writeHead(307, { location: elsewhere.url }).end()
  expect(await post(receiver.url)).toEqual(refused('it answered 307, a redirect, which is not followed'))
  expect(elsewhere.posts).toEqual([])
})

it.each<[string, Receiver['answer'], object, timeoutMs?: number]>([
  ['takes no 400 for taken', 400, refused('it answered 400')],
  ['takes no 503 for taken', 503, refused('it answered 503')],
  ['is told of a cut', (response) => response.destroy(), refused('the connection was cut')],
  ['waits no longer than it may for an answer', () => {}, refused('no answer within 0.3 s'), 300],
  ['needs only the status of an answer that never ends', dripping, { isTaken: true, response: '200' }],
])('%s', async (_, answer, expected, timeoutMs = STANDARD_MS) => {
  await using receiver = await openReceiver()
  receiver.answer = answer
  const began = performance.now()
  expect(await post(receiver.url, timeoutMs)).toEqual(expected)
  expect(performance.now() - began).toBeLessThan(STANDARD_MS)
})

function dripping(response: ServerResponse): void {
  response.writeHead(200)
  const drip = setInterval(() => response.write('x'.repeat(1000)), 5)
  response.on('close', () => clearInterval(drip))
}

it('says why nothing was reached, without the address', async () => {
  const port = await freePort()
  for (const url of [`http://127.0.0.1:${port}/hook/s3cr3t`, 'http://nowhere.invalid/hook/s3cr3t']) {
    const { isTaken, response } = await post(url)
    expect(isTaken).toBe(false)
    expect(response).toMatch(/nothing listens there|no host of that name|cannot be looked up/)
    expect(response).not.toMatch(/s3cr3t|127/)
  }
})
