/** Requests go through the proxies of the environment, and never if they are for this machine. */
import { describe, expect, it, test } from 'vitest'
import { openSourceOf, proxyOf } from '../src/app/configured-upstream.ts'
import { secretsOf } from '../src/config/config.ts'
import { loadConfig } from '../src/config/load.ts'
import { openPoster } from '../src/jobs/alerts/http-post.ts'
import { proxyFor } from '../src/proxy.ts'
import { redactor } from '../src/redaction.ts'
import { folderWith } from './support/folder.ts'
import { LOGIN, startProxy } from './support/network/forward-proxy.ts'
import { SILENT } from './support/syncing.ts'
import { startUpstream } from './support/upstream.ts'

const ENV = { LEADSHEET_API_KEY: 'k-123456' }

function configOf(env: Record<string, string>) {
  return loadConfig({ cwd: folderWith(), env: { ...ENV, ...env } })
}

describe('a request to the service', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('goes through the proxy of %s, with its login', async (name) => {
    await using upstream = await startUpstream(3)
    await using proxy = await startProxy()
    const port = new URL(upstream.url).port
    const url = `http://leads.internal:${port}`
    const source = openSourceOf(configOf({ LEADSHEET_API_URL: url, [name]: proxy.url }), SILENT)
    expect((await source.listLeads({}, null, 10)).records).toHaveLength(3)
    const login = `Basic ${Buffer.from('user:p@ss-word-4711').toString('base64')}`
    expect(proxy.asked).toEqual([{ what: `GET ${url}/api/v1/leads?sort=updated_at&limit=10`, login }])
    expect(upstream.requests[0]?.headers).toMatchObject({ authorization: 'Bearer k-123456' })
    await source.close()
  })

  it('with TLS goes through a tunnel, and a refusal names the proxy without its login', async () => {
    await using proxy = await startProxy(403)
    const config = configOf({ LEADSHEET_API_URL: 'https://leads.example.com', HTTPS_PROXY: proxy.url })
    const source = openSourceOf(config, SILENT, { backoff: { attempts: 1, baseMs: 0, maxMs: 0 } })
    const failure = await source.listLeads({}, null, 10).catch((thrown: unknown) => thrown)
    const { origin } = new URL(proxy.url)
    expect(failure).toMatchObject({
      code: 'api_unreachable',
      message: expect.stringMatching(
        `leads.example.com/api/v1/leads through the proxy ${origin} failed.*403`,
      ),
      hint: expect.stringContaining('NO_PROXY'),
    })
    expect(JSON.stringify(failure)).not.toContain('4711')
    expect(proxy.asked.map(({ what }) => what)).toEqual(['CONNECT leads.example.com:443'])
    await source.close()
  })

  it('on this machine goes through none', async () => {
    await using upstream = await startUpstream(3)
    await using proxy = await startProxy()
    const env = { LEADSHEET_API_URL: upstream.url, HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url }
    const source = openSourceOf(configOf(env), SILENT)
    expect((await source.listLeads({}, null, 10)).records).toHaveLength(3)
    expect(proxy.asked).toEqual([])
    await source.close()
  })
})

test('an alert goes through the proxy', async () => {
  await using proxy = await startProxy(200)
  await using poster = openPoster(proxyOf(configOf({ HTTP_PROXY: proxy.url })))
  const url = new URL('http://hooks.example.com/x')
  const outcome = await poster.post(url, 'text/plain', 'a', new AbortController().signal)
  expect(outcome.isTaken).toBe(true)
  expect(proxy.asked[0]?.what).toBe('POST http://hooks.example.com/x')
})

test('the login of a proxy is a secret', () => {
  const config = configOf({ HTTPS_PROXY: `http://${LOGIN}@proxy.example.com:3128` })
  expect(redactor(secretsOf(config))(`${LOGIN} p@ss-word-4711`)).toBe('user:[redacted] [redacted]')
  expect(JSON.stringify(config)).not.toContain('4711')
})

const HOSTS = 'crm.example.com, .internal *.wild.example 10.0.0.0/8,[2001:db8::1],h.example:8080,fd00::/8,'

test.each([
  ['https://other.example.com', 'http://proxy:3128/'],
  ['https://crm.example.com', null],
  ['https://CRM.example.com.', null],
  ['https://eu.crm.example.com', null],
  ['https://notcrm.example.com', 'http://proxy:3128/'],
  ['https://a.internal', null],
  ['https://internal', null],
  ['https://a.wild.example', null],
  ['https://wild.example', 'http://proxy:3128/'],
  ['https://10.1.2.3', null],
  ['https://11.1.2.3', 'http://proxy:3128/'],
  ['https://[2001:db8::1]', null],
  ['https://[fd12::1]', null],
  ['https://h.example:8080', null],
  ['https://h.example', 'http://proxy:3128/'],
  ['https://localhost', null],
  ['https://api.localhost:8443', null],
  ['https://127.0.0.9', null],
  ['https://[::1]', null],
  ['http://other.example.com', null],
])('%s goes through %s', (url, proxy) => {
  const settings = proxyOf(configOf({ HTTPS_PROXY: 'proxy:3128', NO_PROXY: HOSTS }))
  expect(proxyFor(new URL(url), settings)?.href ?? null).toBe(proxy)
})

test.each([
  [{ https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' }, 'http://a:1/'],
  [{ HTTP_PROXY: 'http://b:1' }, 'http://b:1/'],
  [{ https_proxy: '', HTTPS_PROXY: 'http://b:1' }, null],
  [{ HTTPS_PROXY: 'http://b:1', no_proxy: '*' }, null],
  [{}, null],
])('%j means %s for https://', (env, proxy) => {
  expect(proxyFor(new URL('https://crm.example.com'), proxyOf(configOf(env)))?.href ?? null).toBe(proxy)
})

test('a proxy that is no URL of HTTP is a mistake, which is not shown', () => {
  for (const value of ['socks5://user:hunter-4711@h', 'http://'])
    expect(() => configOf({ HTTPS_PROXY: value })).toThrow(
      /environment {2}HTTPS_PROXY: expected the URL of a proxy, such as http:\/\/proxy\.example\.com:3128$/,
    )
})
