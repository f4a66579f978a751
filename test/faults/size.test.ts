import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createGzip } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type ProfileInput, parseProfile } from '../../src/upstream/profile/profile.ts'
import { openSource } from '../../src/upstream/source.ts'
import { openSyncing, SILENT } from '../support/syncing.ts'
import { type Fault, startUpstream, status } from '../support/upstream.ts'

const SCRIPT = fileURLToPath(new URL('../support/source/fetch-once.ts', import.meta.url))
const MIB = 1024 * 1024

interface Fetched {
  readonly message: string
  readonly cpuMs: number
  readonly grownMb: number
}

/** Fetches in a separate process, so that the measured memory is the client's. */
async function fetchOnce(url: string): Promise<Fetched> {
  const child = spawn(process.execPath, [SCRIPT, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(child.stdout))
}

/** Returns a fault with so many MiB of a list that never ends, in chunks. */
function endless(mib: number, encoding?: 'gzip'): Fault {
  return (_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(encoding && { 'content-encoding': encoding }),
    })
    const to = encoding ? createGzip() : response
    if (to !== response) to.pipe(response)
    const chunk = Buffer.alloc(MIB, ' ')
    let sent = 0
    const send = (): void => {
      while (sent++ < mib) if (!to.write(chunk)) return void to.once('drain', send)
      to.end()
    }
    send()
    return true
  }
}

const COUNT = 45
const FLOOD = Buffer.alloc(33 * MIB, ' ')

/** Answers each request with a page of leads; if it asks for more than 30, with more than is read of one answer. */
const large: Fault = (request, response) => {
  const url = new URL(request.url ?? '', 'http://x')
  const number = (name: string) => Number(url.searchParams.get(name) ?? 0)
  const [, first, last] = /(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
  const size = last === undefined ? number('limit') : Number(last) - Number(first) + 1
  const from = Number(first ?? 0) + number('after') + number('page') * size
  const length = Math.max(0, Math.min(size, COUNT - from))
  const data = Array.from({ length }, (_, index) => ({ id: `${from + index + 1}` }))
  const next = from + size < COUNT ? `?limit=${size}&after=${from + size}` : null
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(first === undefined ? {} : { 'content-range': `items ${from}-${from + data.length - 1}/*` }),
  })
  response.end(size > 30 ? FLOOD : JSON.stringify({ data, next, cursor: next && `${from + size}` }))
  return true
}

async function syncLarge(paging: ProfileInput['paging']) {
  await using upstream = await startUpstream(0)
  upstream.faults.push(...Array.from({ length: 30 }, () => large))
  const endpoints = { lead: 'none', stats: 'none', agents: 'none', webhooks: 'none' }
  const profile = parseProfile(
    { name: 'large', endpoints, paging, envelope: { leads: 'data' }, mapping: { lead: { id: 'id' } } },
    'test',
  )
  await using syncing = await openSyncing(upstream.url, 'test-key', { source: { profile } })
  return syncing.sync({ parts: ['leads'], pageSize: 40 })
}

describe('a page that is too large', () => {
  it.each<ProfileInput['paging'] & object>([
    { kind: 'cursor', param: 'after', next: 'cursor', size_param: 'limit' },
    { kind: 'next_url', next: 'next', size_param: 'limit' },
    { kind: 'offset', param: 'after', size_param: 'limit' },
    { kind: 'last_id', param: 'after', id: 'id', size_param: 'limit' },
    { kind: 'range' },
  ])('is asked for again with half as many leads, by $kind', async (paging) => {
    const result = await syncLarge(paging)
    expect(result).toMatchObject({ outcome: 'ok', problems: [], leads: { inserted: COUNT } })
  })

  it('of a number, whose place hangs on the size, names the setting', async () => {
    const { problems } = await syncLarge({ kind: 'page', param: 'page', start: 0, size_param: 'limit' })
    expect(problems).toMatchObject([
      { code: 'api_unexpected', hint: expect.stringContaining('Set api.page_size to less than 40') },
    ])
  })
})

describe('an answer that is too much', () => {
  it.each([
    ['gzip that unpacks to 300 MiB', endless(300, 'gzip'), 'unpacks to more than 64 MiB'],
    ['600 MiB on the wire', endless(600), 'sent more than 32 MiB in one answer'],
  ])('by %s is cut at the limit, with little memory and time', async (_, fault, said) => {
    await using upstream = await startUpstream(0)
    upstream.faults.push(fault)
    const { message, cpuMs, grownMb } = await fetchOnce(upstream.url)
    expect(message).toContain('api_unexpected')
    expect(message).toContain(said)
    expect(grownMb).toBeLessThan(150)
    expect(cpuMs).toBeLessThan(2000)
  })

  it('for an error is read no further than a message needs, and holds up nothing', async () => {
    await using upstream = await startUpstream(35)
    const backoff = { attempts: 5, baseMs: 0, maxMs: 0 }
    const source = openSource({
      baseUrl: upstream.url,
      apiKey: 'test-key',
      maxWaitMs: 0,
      log: SILENT,
      backoff,
    })
    const flood: Fault = (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(FLOOD)
      return true
    }
    upstream.faults.push(flood, flood, status(503))
    expect((await source.listLeads({}, null, 10)).records).toHaveLength(10)
    await source.close()
  })
})
