import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/upstream/client/retrying-client.ts'
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
  ])('with %i is asked once a run, and no part of the run goes on (row 23)', async (code, error) => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url, KEY)
    for (let tick = 1; tick <= 3; tick++) {
      upstream.faults.push((_request, response) => {
        response.writeHead(code, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { message: `who is ${KEY}?` } }))
        return true
      })
      const result = await syncing.sync()
      expect(result).toMatchObject({
        outcome: 'failed',
        requests: 1,
        retries: 0,
        problems: [{ code: error }],
      })
      expect(result.problems).toHaveLength(1)
      expect(result.problems[0]?.message).toContain(`(${code}): who is [redacted]?`)
      expect(upstream.requests).toHaveLength(tick)
    }
  })

  it('with 403 and a limit that is used up means "too fast", and is asked again (row 23)', async () => {
    await using upstream = await startUpstream(35)
    await using syncing = await openSyncing(upstream.url)
    upstream.faults.push(
      status(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '600', date: 'none' }),
    )
    expect(await syncing.sync()).toMatchObject({
      outcome: 'deferred',
      requests: 1,
      notBefore: '2026-11-21T06:10:00.000Z',
    })
  })
})

describe('an upstream that refuses the request', () => {
  it.each([
    [400, 'api_rejected'],
    [404, 'api_not_found'],
    [405, 'api_rejected'],
    [422, 'api_rejected'],
  ])('with %i is asked once, and the parameters are named without the key (row 24)', async (code, error) => {
    await using upstream = await startUpstream(35)
    const auth = { header: 'Authorization', value: '{key}', query: 'api_key', headers: {} }
    const profile: Profile = { ...REFERENCE_PROFILE, auth }
    const source = sourceOf(upstream.url, { profile })
    upstream.faults.push(status(code))
    const failure = await source
      .listLeads({ updatedSince: '2026-11-20T00:00:00.000Z' }, null, 10)
      .catch(String)
    const refused = await source.listLeads({}, null, 10)
    expect(refused.records).toHaveLength(10)
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests[0]?.path).toContain(`api_key=${KEY}`)
    expect(failure).toContain(`answered ${code}: made to answer ${code}`)
    expect(failure).toContain('limit=10')
    expect(failure).not.toContain(KEY)

    upstream.faults.push(status(code))
    await expect(source.listLeads({}, null, 10)).rejects.toMatchObject({
      code: error,
      hint: expect.stringContaining('profile'),
    })
    await source.close()
  })
})

describe('an upstream that sends us elsewhere', () => {
  it.each([301, 302, 303, 307, 308])(
    'with %i is not followed, and the place is named (row 25)',
    async (code) => {
      await using elsewhere = await startUpstream(35)
      await using upstream = await startUpstream(35)
      const source = sourceOf(upstream.url)
      upstream.faults.push(status(code, { location: `${elsewhere.url}/leads?key=${KEY}` }))
      await expect(source.listLeads({}, null, 10)).rejects.toMatchObject({
        code: 'api_unexpected',
        message: expect.stringContaining(
          `redirects (${code}) to ${elsewhere.url}/leads, which is not followed`,
        ),
      })
      upstream.faults.push(status(code, { location: '/v2/leads' }))
      await expect(source.listLeads({}, null, 10)).rejects.toMatchObject({
        message: expect.stringContaining(`to ${upstream.url}/v2/leads, which is not followed`),
        hint: expect.stringContaining('endpoints of the profile'),
      })
      expect(elsewhere.requests).toEqual([])
      await source.close()
    },
  )

  it.each([
    ['in the body', profileOf({ kind: 'next_url', next: 'next' })],
    ['in the Link header', profileOf({ kind: 'link' })],
  ])(
    'by a next page %s is not followed, and the other place hears nothing (row 25)',
    async (_name, profile) => {
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
    },
  )

  it.each(['', '.', '..'])(
    'by calling a lead or a pipeline %j has no other path asked for (row 25)',
    async (id) => {
      await using upstream = await startUpstream(1)
      const source = sourceOf(upstream.url)
      for (const asked of [
        source.fetchSingleLead(id),
        source.fetchDetail(id),
        source.fetchPipelineStats(id),
      ]) {
        await expect(asked).rejects.toMatchObject({ code: 'api_not_found' })
      }
      expect(upstream.requests).toEqual([])
      await source.close()
    },
  )
})

describe('a creation whose answer is lost', () => {
  it('is repeated only under the same idempotency key, and its fate is told as unknown (row 26)', async () => {
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

  it('is sent once without such a key, and its fate is told as unknown (row 26)', async () => {
    await using upstream = await startUpstream(35)
    const client = createClient({
      authorize: () => undefined,
      apiKey: KEY,
      maxWaitMs: 0,
      userAgent: 'test',
      log: SILENT,
      backoff: AT_ONCE,
    })
    upstream.faults.push(cut)
    const url = new URL(`${upstream.url}/pipelines`)
    await expect(client.call({ method: 'POST', url, body: PIPELINE })).rejects.toMatchObject({
      message: expect.stringContaining('whether the service has done it is not known'),
      hint: 'Look there whether it was done before sending it again.',
    })
    expect(upstream.requests).toHaveLength(1)
    await client.close()
  })

  it('is known not to have happened where nobody was reached (row 26)', async () => {
    const source = sourceOf('http://127.0.0.1:9')
    const failure = await source.createPipeline(PIPELINE, 'some-key').catch(String)
    expect(failure).toContain('failed after 5 attempts')
    expect(failure).not.toContain('not known')
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
    'http://127.0.0.1:8484',
    'http://localhost',
    'http://[::1]:80',
    'http://192.168.1.20',
    'http://service:8484/api/v1',
    'http://leads.internal',
    'https://leads.example.com',
  ])('is taken here and at home: %s', async (url) => {
    await sourceOf(url).close()
  })
})

describe('an error that an upstream sends', () => {
  it.each([
    ['{"errors":[{"title":"Bad","detail":"no such sort"}]}', 'no such sort'],
    ['{"error":{"code":7,"message":"bad limit"}}', 'bad limit'],
    ['[{"errorCode":"X","message":"too many"}]', 'too many'],
    ['not even JSON', 'not even JSON'],
  ])('is told in its own words: %s', async (text, said) => {
    await using upstream = await startUpstream(35)
    const source = sourceOf(upstream.url)
    upstream.faults.push((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(text)
      return true
    })
    await expect(source.listLeads({}, null, 10)).rejects.toThrow(`answered 400: ${said}`)
    await source.close()
  })
})
