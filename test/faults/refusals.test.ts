/** Syncs with an upstream that refuses them or puts them off. */
import { expect, it } from 'vitest'
import { openTestSource } from '../support/source/test-source.ts'
import { openSyncing } from '../support/syncing.ts'
import { cut, startUpstream, status } from '../support/upstream.ts'

const LEADS = { parts: ['leads'] as const }

it.each([
  [401, 'api_unauthorized'],
  [403, 'api_forbidden'],
])(
  'an upstream that refuses the key with %i is asked once a run, and no part of the run goes on',
  async (code, error) => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(status(code))
    expect(await syncing.sync()).toMatchObject({
      outcome: 'failed',
      requests: 1,
      retries: 0,
      problems: [{ code: error }],
    })
    expect(upstream.requests).toHaveLength(1)
  },
)

it('an upstream that asks for a wait is left alone until then, also by a process started anew, and read on from there', async () => {
  await using upstream = await startUpstream(35)
  await using first = await openSyncing(upstream.url)
  upstream.faults.push(() => false, status(429, { 'retry-after': '3600' }))
  const notBefore = '2026-11-21T07:00:00.000Z'
  expect(await first.sync()).toMatchObject({ outcome: 'deferred', notBefore, pages: 1, requests: 2 })
  upstream.requests.length = 0

  await using second = await openSyncing(upstream.url, 'test-key', { folder: first.folder })
  for (const minute of ['06:01', '06:30', '06:59']) {
    second.clock.now = new Date(`2026-11-21T${minute}:00Z`)
    expect(await second.sync()).toMatchObject({ outcome: 'deferred', notBefore, requests: 0 })
  }
  expect(upstream.requests).toEqual([])

  second.clock.now = new Date(notBefore)
  expect(await second.sync(LEADS)).toMatchObject({ outcome: 'ok', complete: true, pages: 3 })
  expect(upstream.requests[0]?.path).toContain('cursor=')
})

it('a creation whose answer is lost is repeated only under the same idempotency key, and its fate is told as unknown', async () => {
  await using upstream = await startUpstream(35)
  const source = openTestSource({ baseUrl: upstream.url })
  upstream.faults.push(cut, cut, cut)
  const criteria = { industries: ['Industrials'], regions: [], countries: [], keywords: [] }
  const key = 'key-of-this-creation'
  await expect(source.createPipeline({ name: 'Robotics', criteria }, key)).rejects.toMatchObject({
    code: 'api_unreachable',
    message: expect.stringContaining('whether the service has done it is not known'),
    hint: expect.stringMatching(/Look there.*key-of-this-creation/),
  })
  expect(upstream.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([key, key, key])
  const unreached = openTestSource({ baseUrl: 'http://127.0.0.1:9' })
  const failure = await unreached.createPipeline({ name: 'Robotics', criteria }, key).catch(String)
  expect(failure).not.toContain('not known')
})
