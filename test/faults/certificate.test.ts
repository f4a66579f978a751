/** Servers with unknown certificates, on a machine whose environment asks to trust them. */
import { createServer } from 'node:https'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openPoster } from '../../src/jobs/alerts/http-post.ts'
import { openTransport } from '../../src/mail/transport.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/mail/certificate.ts'
import { openMailServer } from '../support/mail-server.ts'
import { startProxy } from '../support/network/forward-proxy.ts'
import { listen } from '../support/network/http-server.ts'
import { openTestSource } from '../support/source/test-source.ts'
import { SILENT } from '../support/syncing.ts'

const { signal } = new AbortController()

/** Opens a server with such a certificate, and collects its requests. */
async function openUntrusted(): Promise<{ url: string; asked: string[] }> {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const asked: string[] = []
  const server = createServer({ key: CERTIFICATE_KEY, cert: CERTIFICATE }, (request, response) => {
    asked.push(request.url ?? '')
    response.end()
  })
  const port = await listen(server)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  })
  return { url: `https://127.0.0.1:${port}`, asked }
}

describe('a certificate of nobody known, though NODE_TLS_REJECT_UNAUTHORIZED is 0,', () => {
  it('gets no key', async () => {
    const { url, asked } = await openUntrusted()
    const source = openTestSource({ baseUrl: url })
    await expect(source.listLeads({}, null, 1)).rejects.toMatchObject({ code: 'api_unreachable' })
    expect(asked).toEqual([])
  })

  it('gets no key through a proxy', async () => {
    const { url, asked } = await openUntrusted()
    await using proxy = await startProxy()
    const source = openTestSource({
      baseUrl: url.replace('127.0.0.1', 'leads.internal'),
      backoff: { attempts: 1, baseMs: 0, maxMs: 0 },
      proxy: { http: null, https: proxy.url, except: [] },
    })
    await expect(source.listLeads({}, null, 1)).rejects.toThrow(/certificate/)
    expect([proxy.asked.length, asked]).toEqual([1, []])
  })

  it('gets no notice', async () => {
    const { url, asked } = await openUntrusted()
    await using poster = openPoster()
    expect(await poster.post(new URL(url), 'text/plain', 'notice', signal)).toMatchObject({ isTaken: false })
    expect(asked).toEqual([])
  })

  it('gets no login and no mail', async () => {
    await openUntrusted()
    await using server = await openMailServer({ secure: true, key: CERTIFICATE_KEY, cert: CERTIFICATE })
    await using transport = openTransport(`smtps://u:p@127.0.0.1:${server.port}`, { log: SILENT })
    await expect(transport.verify(signal)).rejects.toMatchObject({ code: 'mail_unreachable' })
  })
})
