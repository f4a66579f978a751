import { describe, expect, it } from 'vitest'
import { makeDue, reportDeps } from '../support/mail/reports.ts'
import { freePort } from '../support/network/free-port.ts'
import { openSyncing, type Syncing } from '../support/syncing.ts'
import { body, bytes, type Fault, startUpstream, status } from '../support/upstream.ts'

const LEADS = { parts: ['leads'] as const }
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const BEGINNING = '{"data":[{"id":"torn","status":"won"}'
const CHUNK = `${BEGINNING.length.toString(16)}\r\n${BEGINNING}\r\n`

function pass(): boolean {
  return false
}

async function storedIds({ store }: Syncing): Promise<string[]> {
  const rows = await store.db.selectFrom('lead').select('id').orderBy('id').execute()
  return rows.map((row) => row.id)
}

describe('an upstream that fails', () => {
  const short = bytes(`${HEAD}content-length: 9000\r\n\r\n${BEGINNING}`)
  const chunk = `${HEAD}transfer-encoding: chunked\r\n\r\n${CHUNK}`
  const overlong = bytes(`${HEAD}content-length: 20\r\n\r\n${BEGINNING}]}`)
  const closed = bytes(`${HEAD}connection: close\r\n\r\n${BEGINNING}`)

  it.each<readonly [string, number, readonly Fault[]]>([
    ['with its status, on the first page', 0, [status(500), status(504)]],
    ['by a reset, in chunks, on the last page', 3, [bytes(chunk, 'reset')]],
    ['by its length, its end or its JSON', 1, [short, overlong, closed, body(`${BEGINNING}]}}`)]],
  ])('for a moment %s is asked again, and each lead is stored once', async (_kind, place, faults) => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(...Array.from({ length: place }, () => pass), ...faults)
    const retries = faults.length
    expect(await syncing.sync(LEADS)).toMatchObject({
      outcome: 'ok',
      complete: true,
      pages: 4,
      requests: 4 + retries,
      retries,
      problems: [],
      leads: { seen: 35, inserted: 35 },
    })
    expect(await storedIds(syncing)).toEqual([...upstream.leads.keys()].sort())
    expect(upstream.requests.filter((request) => request.headers.range)).toEqual([])
  })

  it('is asked again after waits drawn anew from a growing range', async () => {
    await using upstream = await startUpstream(5)
    const waits: number[] = []
    const timer = { now: () => 0, wait: async (ms: number) => void (ms > 0 && waits.push(ms)) }
    const backoff = { attempts: 5, baseMs: 500, maxMs: 20_000 }
    const draws = [0.5, 1, 0.1, 0.5]
    const random = (): number => draws.shift() ?? 0
    await using syncing = await openSyncing(upstream.url, 'test-key', { source: { timer, backoff, random } })
    upstream.faults.push(...[500, 502, 503, 504].map((code) => status(code)))
    expect(await syncing.sync(LEADS)).toMatchObject({ outcome: 'ok', retries: 4 })
    expect(waits).toEqual([250, 1000, 200, 2000])
  })

  it('for ever leaves the run failed, what was read in place, and a report that says how old its data is', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    await syncing.sync(LEADS)
    const before = await storedIds(syncing)
    syncing.clock.now = new Date('2026-11-23T06:00:00Z')
    upstream.faults.push(...Array.from({ length: 50 }, () => status(500)))
    const result = await syncing.sync()
    expect(result).toMatchObject({ outcome: 'failed', complete: false, requests: 5 })
    expect(result.problems[0]?.message).toContain('answered 500 to 5 attempts: made to answer 500')
    expect(await storedIds(syncing)).toEqual(before)

    const { store, clock } = syncing
    const { issue } = await makeDue(reportDeps(store, () => clock.now))
    const text = issue.text.replace(/\s+/g, ' ')
    expect(text).toContain('No data since Sat 21 Nov, 06:00. The numbers end there.')
  })

  it('by being away fails the run after five attempts; a later one finds it', async () => {
    await using upstream = await startUpstream(35)
    await using away = await openSyncing(`http://127.0.0.1:${await freePort()}`)
    const result = await away.sync()
    expect(result).toMatchObject({ outcome: 'failed', complete: false, requests: 5, retries: 4 })
    expect(result.problems).toMatchObject([{ part: 'leads', code: 'api_unreachable' }])
    expect(result.problems[0]?.message).toContain('failed after 5 attempts: connect ECONNREFUSED')
    await using back = await openSyncing(upstream.url, 'test-key', { folder: away.folder })
    expect(await back.sync(LEADS)).toMatchObject({ outcome: 'ok', leads: { inserted: 35 } })
  })

  it('in the midst of each answer leaves nothing of it in the store', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(pass, ...Array.from({ length: 9 }, () => body(BEGINNING)))
    const result = await syncing.sync(LEADS)
    expect(result).toMatchObject({ outcome: 'partial', pages: 1, requests: 6 })
    expect(result.problems[0]?.message).toMatch(/failed after 5 attempts: its JSON is cut or broken/)
    expect(await storedIds(syncing)).toHaveLength(10)
    expect(await storedIds(syncing)).not.toContain('torn')
  })
})

it('an answer that is not the API’s is quoted, without the key; nothing is stored and nothing asked again', async () => {
  const key = 'a-key-that-nobody-may-see'
  const page = `<!doctype html><title>Sign in</title><p>You came with ${key}</p>${'<br>'.repeat(500)}`
  for (const [fault, said] of [
    [body(page, 'text/html'), '200 but not with JSON: <!doctype html>'],
    [body(`${'x'.repeat(190)}${key}`, 'text/plain'), 'xxx[redacted]'],
    [body('{"error":{"message":"no tenant"}}'), 'no list of leads at data; it says: no tenant'],
  ] as const) {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url, key)
    upstream.faults.push(fault)
    const result = await syncing.sync(LEADS)
    expect(result).toMatchObject({ outcome: 'failed', requests: 1, problems: [{ code: 'api_unexpected' }] })
    const message = result.problems[0]?.message ?? ''
    expect(message).toContain(said)
    expect(message).not.toContain(key.slice(0, 6))
    expect(message.length).toBeLessThan(320)
    expect(await storedIds(syncing)).toEqual([])
  }
})
