import { describe, expect, it } from 'vitest'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { openSource, type SourceOptions } from '../../src/upstream/source.ts'
import { fakeTimer } from '../support/schedule/timer.ts'
import { openSyncing, SILENT } from '../support/syncing.ts'
import { startUpstream, status, type Upstream } from '../support/upstream.ts'

const LEADS = { parts: ['leads'] as const }
const NOW = new Date('2026-11-21T06:00:00Z')
const BACKOFF = { attempts: 5, baseMs: 500, maxMs: 20_000 }

function sourceOf(upstream: Upstream, options: Partial<SourceOptions>) {
  return openSource({
    baseUrl: upstream.url,
    apiKey: 'test-key',
    maxWaitMs: 3_600_000,
    log: SILENT,
    now: () => NOW,
    backoff: BACKOFF,
    ...options,
  })
}

/** A clock whose waits end when the test has moved it on. */
function steppedTimer() {
  let now = 0
  let waits: { readonly until: number; readonly end: () => void }[] = []
  return {
    now: () => now,
    wait: async (ms: number) => {
      if (ms > 0) await new Promise<void>((end) => void waits.push({ until: now + ms, end }))
    },
    waits: () => waits.map(({ until }) => until).toSorted((a, b) => a - b),
    goTo(ms: number) {
      now = ms
      const over = waits.filter(({ until }) => until <= now)
      waits = waits.filter(({ until }) => until > now)
      for (const { end } of over) end()
    },
  }
}

/** Returns the time between the answer to the first request and the second request, by the client's clock. */
async function waitAfter(upstream: Upstream, headers: Record<string, string>): Promise<number> {
  const timer = fakeTimer()
  const source = sourceOf(upstream, { timer, random: () => 0.5 })
  let toldAt = Number.NaN
  let cameAt = Number.NaN
  upstream.faults.push(
    (request, response) => {
      toldAt = timer.ms
      return status(429, headers)(request, response)
    },
    () => {
      cameAt = timer.ms
      return false
    },
  )
  const page = await source.listLeads({}, null, 10)
  expect(page.records).toHaveLength(10)
  await source.close()
  return cameAt - toldAt
}

describe('an upstream that says "too fast"', () => {
  const date = NOW.toUTCString()
  const behind = new Date(NOW.getTime() - 4_850_000)

  it.each<readonly [Record<string, string>, number]>([
    [{ 'retry-after': '100' }, 100_000],
    [{ date: behind.toUTCString(), 'retry-after': new Date(behind.getTime() + 7000).toUTCString() }, 7000],
    [{ date, 'retry-after': 'soon' }, 250],
  ])('with %j is asked again exactly after %i ms', async (headers, waitMs) => {
    await using upstream = await startUpstream(35)
    expect(await waitAfter(upstream, headers)).toBe(waitMs)
  })

  it('is left alone as long by requests that were about to leave', async () => {
    await using upstream = await startUpstream(35)
    const timer = steppedTimer()
    const limits = { ...REFERENCE_PROFILE.limits, requests_per_second: 20 }
    const source = sourceOf(upstream, { timer, profile: { ...REFERENCE_PROFILE, limits } })
    upstream.faults.push(status(429, { 'retry-after': '0.4' }))
    const calls = [1, 2, 3].map(() => source.listLeads({}, null, 10))
    await expect.poll(() => timer.waits()).toEqual([50, 100, 400])
    timer.goTo(100)
    await expect.poll(() => timer.waits()).toEqual([400, 400, 400])
    timer.goTo(399)
    expect(upstream.requests).toHaveLength(1)
    timer.goTo(400)
    await Promise.all(calls)
    await source.close()
    expect(upstream.requests).toHaveLength(4)
  })

  it('is left alone until the time that it names, also by a process started anew, and read on from there', async () => {
    await using upstream = await startUpstream(35)
    await using first = await openSyncing(upstream.url)
    upstream.faults.push(() => false, status(429, { 'retry-after': '3600' }))
    const notBefore = '2026-11-21T07:00:00.000Z'
    expect(await first.sync()).toMatchObject({ outcome: 'deferred', notBefore, pages: 1, requests: 2 })
    upstream.requests.length = 0

    await using second = await openSyncing(upstream.url, 'test-key', { folder: first.folder })
    for (const minute of [1, 30, 59]) {
      second.clock.now = new Date(NOW.getTime() + minute * 60_000)
      expect(await second.sync()).toMatchObject({ outcome: 'deferred', notBefore, requests: 0 })
    }
    expect(upstream.requests).toEqual([])

    second.clock.now = new Date('2026-11-21T07:00:00Z')
    expect(await second.sync(LEADS)).toMatchObject({ outcome: 'ok', complete: true, pages: 3 })
    expect(upstream.requests[0]?.path).toContain('cursor=')
  })

  it('is given up on after five attempts where it says so for ever, and the place is kept', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(() => false, ...Array.from({ length: 50 }, () => status(429)))
    const result = await syncing.sync()
    expect(result).toMatchObject({ outcome: 'partial', complete: false, pages: 1, requests: 6, retries: 4 })
    expect(result.problems).toMatchObject([{ part: 'leads', code: 'api_unreachable' }])
    expect(result.problems[0]?.message).toContain('answered 429 to 5 attempts: made to answer 429')
    upstream.faults.length = 0
    upstream.requests.length = 0
    expect(await syncing.sync(LEADS)).toMatchObject({ outcome: 'ok', pages: 3 })
    expect(upstream.requests[0]?.path).toContain('cursor=')
  })

  it('is left alone after five attempts until the time that it named last', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url, 'test-key', { source: { timer: fakeTimer() } })
    upstream.faults.push(...Array.from({ length: 50 }, () => status(429, { 'retry-after': '30' })))
    expect(await syncing.sync()).toMatchObject({
      outcome: 'deferred',
      requests: 5,
      notBefore: '2026-11-21T06:00:30.000Z',
    })
  })
})
