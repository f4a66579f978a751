import { describe, expect, it } from 'vitest'
import { openSource, type SourceOptions } from '../../src/upstream/source.ts'
import { freePort } from '../support/network/free-port.ts'
import { openSyncing, SILENT } from '../support/syncing.ts'
import { type Fault, startUpstream } from '../support/upstream.ts'

const LEADS = { parts: ['leads'] as const }
const TWICE = { attempts: 2, baseMs: 0, maxMs: 0 }
/** The time that the client waits for an answer by default. */
const STANDARD_MS = 15_000

function sourceOf(url: string, options: Partial<SourceOptions>) {
  return openSource({ baseUrl: url, apiKey: 'test-key', maxWaitMs: 0, log: SILENT, ...options })
}

describe('an upstream that is not there', () => {
  it('fails the run after five attempts; a later one finds it (row 7)', async () => {
    await using upstream = await startUpstream(35)
    const port = await freePort()
    await using away = await openSyncing(`http://127.0.0.1:${port}`)
    for (let tick = 0; tick < 3; tick++) {
      const result = await away.sync()
      expect(result).toMatchObject({ outcome: 'failed', complete: false, requests: 5, retries: 4 })
      expect(result.problems).toMatchObject([{ part: 'leads', code: 'api_unreachable' }])
      expect(result.problems[0]?.message).toContain('failed after 5 attempts: connect ECONNREFUSED')
    }
    await using back = await openSyncing(upstream.url, 'test-key', { folder: away.folder })
    expect(await back.sync(LEADS)).toMatchObject({ outcome: 'ok', leads: { inserted: 35 } })
  })

  it('by a name that nobody knows fails the run after five attempts (row 7)', async () => {
    await using syncing = await openSyncing('https://nowhere.invalid')
    const result = await syncing.sync()
    expect(result).toMatchObject({ outcome: 'failed', requests: 5 })
    expect(result.problems[0]?.message).toMatch(
      /nowhere\.invalid.*failed after 5 attempts: .*\((ENOTFOUND|EAI_AGAIN)\)/,
    )
  })
})

describe('an upstream that takes its time', () => {
  it('over a body, byte by byte, is cut off at the deadline (row 11)', async () => {
    await using upstream = await startUpstream(35)
    const drip: Fault = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 100)
      response.on('close', () => clearInterval(timer))
      return true
    }
    upstream.faults.push(drip, drip)
    const source = sourceOf(upstream.url, { backoff: TWICE, deadlines: { attemptMs: 400, bodyGapMs: 300 } })
    const signal = AbortSignal.timeout(30_000)
    const began = performance.now()
    await expect(source.listLeads({}, null, 10, { signal })).rejects.toMatchObject({
      code: 'api_unreachable',
      message: expect.stringContaining('failed after 2 attempts: no whole answer in time'),
    })
    const ms = performance.now() - began
    expect(ms).toBeGreaterThanOrEqual(790)
    expect(ms).toBeLessThan(STANDARD_MS)
    await source.close()
  })

  it('and never answers is given up on, and asked again (row 12)', async () => {
    await using upstream = await startUpstream(35)
    upstream.faults.push(() => true)
    const source = sourceOf(upstream.url, { backoff: TWICE, deadlines: { headersMs: 1000 } })
    const began = performance.now()
    expect((await source.listLeads({}, null, 10)).records).toHaveLength(10)
    expect(performance.now() - began).toBeLessThan(STANDARD_MS)
    expect(source.usage).toMatchObject({ requests: 2, retries: 1 })
    await source.close()
  })

  it('and stops in mid-body is given up on, and asked again (row 12)', async () => {
    await using upstream = await startUpstream(35)
    upstream.faults.push((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"data":[')
      return true
    })
    const source = sourceOf(upstream.url, { backoff: TWICE, deadlines: { bodyGapMs: 1000 } })
    expect((await source.listLeads({}, null, 10)).records).toHaveLength(10)
    expect(source.usage).toMatchObject({ requests: 2, retries: 1 })
    await source.close()
  })

  it('does not keep a run from stopping when it is told to (row 12)', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(() => true)
    const began = performance.now()
    const result = await syncing.sync({ ...LEADS, signal: AbortSignal.timeout(200) })
    expect(result).toMatchObject({ outcome: 'failed', problems: [{ code: 'run_interrupted' }] })
    expect(performance.now() - began).toBeLessThan(STANDARD_MS)
  })
})

describe('an upstream that closes idle connections', () => {
  it('just as the next request leaves is asked again, unseen, in 50 of 50 sweeps (row 13)', async () => {
    await using upstream = await startUpstream(35)
    const used = new WeakSet<object>()
    let dropped = 0
    const dropReused: Fault = ({ socket }) => {
      if (used.has(socket)) {
        dropped++
        socket.resetAndDestroy()
        return true
      }
      used.add(socket)
      return false
    }
    const source = sourceOf(upstream.url, { backoff: { attempts: 5, baseMs: 0, maxMs: 0 } })
    for (let sweep = 0; sweep < 50; sweep++) {
      const ids: unknown[] = []
      for (let position: string | null = ''; position !== null; ) {
        upstream.faults.push(...Array.from({ length: 3 - upstream.faults.length }, () => dropReused))
        const page = await source.listLeads({}, position || null, 10)
        ids.push(...page.records)
        position = page.next
      }
      expect(ids).toHaveLength(35)
    }
    expect(dropped).toBeGreaterThan(50)
    await source.close()
  })
})
