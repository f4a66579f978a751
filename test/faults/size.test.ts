// @long
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseFaults } from '../../src/service/faults/rules.ts'
import type { ProfileInput } from '../../src/upstream/profile/profile.ts'
import { startService } from '../service/support/service.ts'
import { openTestSource, profileWith } from '../support/source/test-source.ts'
import { openSyncing } from '../support/syncing.ts'
import { body, type Fault, startUpstream } from '../support/upstream.ts'

const SCRIPT = fileURLToPath(new URL('../support/source/fetch-once.ts', import.meta.url))
const MIB = 1024 * 1024

/** Fetches in a separate process, so that the measured memory is the client's. */
async function expectCut(url: string, says: RegExp): Promise<void> {
  const child = spawn(process.execPath, [SCRIPT, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  const { message, cpuMs, grownMb } = JSON.parse(await text(child.stdout))
  expect(message).toMatch(says)
  expect(grownMb).toBeLessThan(150)
  expect(cpuMs).toBeLessThan(2000)
}

/** Returns a fault with so many MiB of a list that never ends, in chunks. */
function endless(mib: number): Fault {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(MIB, ' ')
    let sent = 0
    const send = (): void => {
      while (sent++ < mib) if (!response.write(chunk)) return void response.once('drain', send)
      response.end()
    }
    send()
    return true
  }
}

const NOTE = 'x'.repeat(1_000_000)
const COUNT = 45

/** Answers each request with a page of leads of 1 MB. 33 of them fit into 32 MiB, and 40 do not. */
const large: Fault = (request, response) => {
  const url = new URL(request.url ?? '', 'http://x')
  const number = (name: string) => Number(url.searchParams.get(name) ?? 0)
  const [, first, last] = /(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
  const size = last === undefined ? number('limit') : Number(last) - Number(first) + 1
  const from = Number(first ?? 0) + number('after') + number('page') * size
  const data = Array.from({ length: Math.max(0, Math.min(size, COUNT - from)) }, (_, index) => ({
    id: `${from + index + 1}`,
    note: NOTE,
  }))
  const next = from + size < COUNT ? `?limit=${size}&after=${from + size}` : null
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(first === undefined ? {} : { 'content-range': `items ${from}-${from + data.length - 1}/*` }),
  })
  response.end(JSON.stringify({ data, next, cursor: next && `${from + size}` }))
  return true
}

async function syncLarge(paging: ProfileInput['paging']) {
  await using upstream = await startUpstream(0)
  upstream.faults.push(...Array.from({ length: 30 }, () => large))
  const endpoints = { lead: 'none', stats: 'none', agents: 'none', webhooks: 'none' }
  const profile = profileWith({ endpoints, paging, envelope: { leads: 'data' } })
  await using syncing = await openSyncing(upstream.url, 'test-key', { source: { profile } })
  const result = await syncing.sync({ parts: ['leads'], pageSize: 40 })
  const { length } = await syncing.store.db.selectFrom('lead').select('id').execute()
  return { result, count: length }
}

describe('a page that is too large', () => {
  it.each<ProfileInput['paging'] & object>([
    { kind: 'cursor', param: 'after', next: 'cursor', size_param: 'limit' },
    { kind: 'next_url', next: 'next', size_param: 'limit' },
    { kind: 'offset', param: 'after', size_param: 'limit' },
    { kind: 'last_id', param: 'after', id: 'id', size_param: 'limit' },
    { kind: 'range' },
  ])('is asked for again with half as many leads, by $kind', async (paging) => {
    const { result, count } = await syncLarge(paging)
    expect(result).toMatchObject({ outcome: 'ok', problems: [] })
    expect(count).toBe(COUNT)
  })

  it('of a number, whose place hangs on the size, names the setting', async () => {
    const { result } = await syncLarge({ kind: 'page', param: 'page', start: 0, size_param: 'limit' })
    expect(result.problems).toMatchObject([
      { code: 'api_unexpected', hint: expect.stringContaining('Set api.page_size to less than 40') },
    ])
  })
})

describe('an answer that is too much', () => {
  it('by gzip that unpacks to 300 MiB is cut at the limit, with little memory and time', async () => {
    const faults = parseFaults({ faults: [{ fault: 'gzip_bomb', mib: 300 }] }, 'test')
    await using service = await startService({ historyDays: 3, faults })
    await expectCut(service.service.url, /api_unexpected.*unpacks to more than 64 MiB/)
  })

  it('by 600 MB on the wire is cut at the limit, with little memory and time', async () => {
    await using upstream = await startUpstream(35)
    upstream.faults.push(endless(600))
    await expectCut(upstream.url, /sent more than 32 MiB in one answer/)
  })

  it('for an error is read no further than a message needs, and holds up nothing', async () => {
    await using upstream = await startUpstream(35)
    const source = openTestSource({ baseUrl: upstream.url })
    const large = body('x'.repeat(10 * MIB), 'text/plain', 500)
    upstream.faults.push(large, large)
    expect((await source.listLeads({}, null, 10)).records).toHaveLength(10)
  })
})
