/**
 * Posts to real servers: successes, failures with their reasons, and the limit of time. Nothing is thrown.
 */
import { expect, it } from 'vitest'
import { openPoster } from '../../../src/jobs/alerts/http-post.ts'
import { freePort } from '../../support/network/free-port.ts'
import { openReceiver } from '../../support/network/receiver.ts'

const signal = new AbortController().signal
/** The default limit of time for a post. */
const STANDARD_MS = 10_000

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

it.each([400, 404, 410, 429, 500, 503])('does not take %i for taken', async (status) => {
  await using receiver = await openReceiver()
  receiver.answer = status
  expect(await post(receiver.url)).toEqual({ isTaken: false, response: `it answered ${status}` })
})

it('follows no redirect', async () => {
  await using elsewhere = await openReceiver()
  await using receiver = await openReceiver()
  receiver.answer = (response) => response.writeHead(307, { location: elsewhere.url }).end()
  expect(await post(receiver.url)).toEqual({
    isTaken: false,
    response: 'it answered 307, a redirect, which is not followed',
  })
  expect(elsewhere.posts).toEqual([])
})

it('waits no longer than it may for an answer', async () => {
  await using receiver = await openReceiver()
  receiver.answer = () => {}
  const began = performance.now()
  expect(await post(receiver.url, 300)).toEqual({ isTaken: false, response: 'no answer within 0.3 s' })
  expect(performance.now() - began).toBeLessThan(STANDARD_MS)
})

it('needs only the status of an answer that never ends', async () => {
  await using receiver = await openReceiver()
  receiver.answer = (response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('x'.repeat(1000)), 5)
    response.on('close', () => clearInterval(drip))
  }
  const began = performance.now()
  expect((await post(receiver.url)).response).toBe('200')
  expect(performance.now() - began).toBeLessThan(STANDARD_MS)
})

it('says why nothing was reached, without the address', async () => {
  const port = await freePort()
  for (const url of [`http://127.0.0.1:${port}/hook/s3cr3t`, 'http://nowhere.invalid/hook/s3cr3t']) {
    const { isTaken, response } = await post(url)
    expect(isTaken).toBe(false)
    expect(response).toMatch(/nothing listens there|no host of that name|cannot be looked up/)
    expect(response).not.toMatch(/s3cr3t|127/)
  }
})
