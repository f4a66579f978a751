import { describe, expect, it } from 'vitest'
import { type Profile, type ProfileInput, parseProfile } from '../../src/upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { openSource, type SourceOptions } from '../../src/upstream/source.ts'
import { openSyncing, SILENT } from '../support/syncing.ts'
import { cut, type Fault, startUpstream, status } from '../support/upstream.ts'

const LEADS = { parts: ['leads'] as const }
const AT_ONCE = { attempts: 5, baseMs: 0, maxMs: 0 }
const KEY = 'a-key-that-nobody-may-see'
const PIPELINE = {
  name: 'Robotics',
  criteria: { industries: ['Industrials'], regions: [], countries: [], keywords: [] },
}

function sourceOf(url: string, options: Partial<SourceOptions> = {}) {
  return openSource({ baseUrl: url, apiKey: KEY, maxWaitMs: 0, log: SILENT, backoff: AT_ONCE, ...options })
}

function profileOf(paging: ProfileInput['paging']): Profile {
  return parseProfile(
    { name: 'test', paging, envelope: { leads: 'data' }, mapping: { lead: { id: 'id' } } },
    'test',
  )
}

describe('an upstream that refuses the key', () => {
  it.each([
    [401, 'api_unauthorized'],
    [403, 'api_forbidden'],
  ])('with %i is asked once a run, and no part of the run goes on', async (code, error) => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url, KEY)
    upstream.faults.push((_request, response) => {
      response.writeHead(code, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: `who is ${KEY}?` } }))
      return true
    })
    const result = await syncing.sync()
    expect(result).toMatchObject({ outcome: 'failed', requests: 1, retries: 0 })
    const message = expect.stringContaining(`(${code}): who is [redacted]?`)
    expect(result.problems).toMatchObject([{ code: error, message }])
    expect(upstream.requests).toHaveLength(1)
  })
})

describe('an upstream that refuses the request', () => {
  it('is asked once, and the parameters are named without the key', async () => {
    await using upstream = await startUpstream(35)
    const auth = { header: 'Authorization', value: '{key}', query: 'api_key', headers: {} }
    const source = sourceOf(upstream.url, { profile: { ...REFERENCE_PROFILE, auth } })
    upstream.faults.push(status(422))
    const since = { updatedSince: '2026-11-20T00:00:00.000Z' }
    const failure = await source.listLeads(since, null, 10).catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ code: 'api_rejected', hint: expect.stringContaining('profile') })
    expect(upstream.requests).toHaveLength(1)
    expect(upstream.requests[0]?.path).toContain(`api_key=${KEY}`)
    expect(String(failure)).toMatch(/limit=10.*answered 422: made to answer 422/)
    expect(String(failure)).not.toContain(KEY)
    await source.close()
  })
})

describe('an upstream that sends us elsewhere', () => {
  it.each([
    ['in the body', profileOf({ kind: 'next_url', next: 'next' })],
    ['in the Link header', profileOf({ kind: 'link' })],
  ])('by a next page %s is not followed, and the other place hears nothing', async (_name, profile) => {
    await using elsewhere = await startUpstream(35)
    await using upstream = await startUpstream(35)
    const next = `${elsewhere.url}/api/v1/leads?page=2`
    await using syncing = await openSyncing(upstream.url, KEY, { source: { profile } })
    const fault: Fault = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', link: `<${next}>; rel="next"` })
      response.end(JSON.stringify({ data: [{ id: '1' }], next }))
      return true
    }
    upstream.faults.push(fault)
    const result = await syncing.sync(LEADS)
    expect(result).toMatchObject({ outcome: 'failed', requests: 1, problems: [{ code: 'api_unexpected' }] })
    expect(result.problems[0]?.message).toContain(elsewhere.url)
    expect(elsewhere.requests).toEqual([])
  })
})

describe('a creation whose answer is lost', () => {
  it('is repeated only under the same idempotency key, and its fate is told as unknown', async () => {
    await using upstream = await startUpstream(35)
    const source = sourceOf(upstream.url)
    upstream.faults.push(...Array.from({ length: 5 }, () => cut))
    await expect(source.createPipeline(PIPELINE, 'key-of-this-creation', undefined)).rejects.toMatchObject({
      code: 'api_unreachable',
      message: expect.stringContaining('whether the service has done it is not known'),
      hint: expect.stringMatching(/Look there.*key-of-this-creation/),
    })
    expect(upstream.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(
      Array.from({ length: 5 }, () => 'key-of-this-creation'),
    )
    await source.close()
  })
})

describe('an address without TLS', () => {
  it.each(['http://leads.example.com/api/v1', 'http://8.8.8.8', 'http://[2001:4860::1]:8080'])(
    'is refused on the internet: %s',
    (url) => {
      expect(() => sourceOf(url)).toThrow(
        expect.objectContaining({
          code: 'config_invalid',
          message: expect.stringContaining('https:// was expected'),
        }),
      )
    },
  )

  it.each([
    'http://[::1]:80',
    'http://192.168.1.20',
    'http://service:8484/api/v1',
    'http://leads.internal',
    'https://leads.example.com',
  ])('is taken here and at home: %s', async (url) => {
    await sourceOf(url).close()
  })
})
