/** Requests go through the proxies of the environment, and never if they are for this machine. */
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { proxyOf } from '../src/app/configured-login.ts'
import { openSourceOf } from '../src/app/configured-upstream.ts'
import { loadConfig } from '../src/config/load.ts'
import { openPoster } from '../src/jobs/alerts/http-post.ts'
import { folderWith } from './support/folder.ts'
import { startProxy } from './support/network/forward-proxy.ts'
import { SILENT } from './support/syncing.ts'
import { startUpstream } from './support/upstream.ts'

function configOf(env: Record<string, string>) {
  return loadConfig({ cwd: folderWith(), env: { LEADSHEET_API_KEY: 'k-123456', ...env } })
}

/** Opens the service of these settings, which is asked once. */
function sourceOf(env: Record<string, string>) {
  const source = openSourceOf(configOf(env), SILENT, { backoff: { attempts: 1, baseMs: 0, maxMs: 0 } })
  onTestFinished(() => source.close())
  return source
}

describe('a request to the service', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('goes through the proxy of %s, with its login', async (name) => {
    await using upstream = await startUpstream(3)
    await using proxy = await startProxy()
    const port = new URL(upstream.url).port
    const url = `http://leads.internal:${port}`
    const source = sourceOf({ LEADSHEET_API_URL: url, [name]: proxy.url })
    expect((await source.listLeads({}, null, 10)).records).toHaveLength(3)
    const login = `Basic ${Buffer.from('user:p@ss-word-4711').toString('base64')}`
    expect(proxy.asked).toEqual([{ what: `GET ${url}/api/v1/leads?sort=updated_at&limit=10`, login }])
    expect(upstream.requests[0]?.headers).toMatchObject({ authorization: 'Bearer k-123456' })
  })

  it('with TLS goes through a tunnel, and a refusal does not name the login of the proxy', async () => {
    await using proxy = await startProxy(403)
    const source = sourceOf({ LEADSHEET_API_URL: 'https://leads.example.com', HTTPS_PROXY: proxy.url })
    const failure = await source.listLeads({}, null, 10).catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({
      code: 'api_unreachable',
      message: expect.stringMatching('leads.example.com/api/v1/leads failed.*403'),
      hint: expect.stringContaining('HTTPS_PROXY'),
    })
    expect(JSON.stringify(failure)).not.toContain('4711')
    expect(proxy.asked.map(({ what }) => what)).toEqual(['CONNECT leads.example.com:443'])
  })

  it('on this machine goes through none', async () => {
    await using upstream = await startUpstream(3)
    await using proxy = await startProxy()
    const env = { LEADSHEET_API_URL: upstream.url, HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url }
    expect((await sourceOf(env).listLeads({}, null, 10)).records).toHaveLength(3)
    expect(proxy.asked).toEqual([])
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

test.each([
  ['http://leads.internal', 'leads.internal'],
  ['http://eu.leads.internal', 'other.example, .internal'],
  ['http://leads.internal', '*'],
])('%s goes through none if NO_PROXY is %s', async (url, except) => {
  await using proxy = await startProxy(200)
  const env = { LEADSHEET_API_URL: url, HTTP_PROXY: proxy.url, NO_PROXY: except }
  await expect(sourceOf(env).listLeads({}, null, 10)).rejects.toMatchObject({ code: 'api_unreachable' })
  expect(proxy.asked).toEqual([])
})
