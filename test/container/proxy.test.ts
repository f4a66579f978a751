// @long
/** deploy/proxy in front of the dashboard, with the real nginx. Caddy's file is not run. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { describe, expect, it } from 'vitest'
import { standardHeaders } from '../../src/contract/webhook.ts'
import { startProcess, untilTrue } from '../foreign/server-process.ts'
import { folderWith } from '../support/folder.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/mail/certificate.ts'
import { freePort } from '../support/network/free-port.ts'
import { eventBody, OTHER_SECRET, SECRET } from '../support/network/webhook-receiver.ts'
import { findInstalled, isSkipped } from '../support/process/programs.ts'
import { openDashboard, TOKEN } from '../support/web/dashboard.ts'
import { ROOT } from './support/image.ts'

const NGINX = '/usr/sbin/nginx'
const HOST = 'reports.example.com'
const MISSING = findInstalled(NGINX) ? null : 'apt-get install nginx-light'

describe.skipIf(isSkipped('the dashboard behind nginx', MISSING))('deploy/proxy/nginx.conf', () => {
  it('has operators sign in over TLS, and knows them by an address that they cannot make up', async () => {
    const dashboard = await openDashboard(`public_url: https://${HOST}\ntoken: ${TOKEN}`)
    const port = await startNginx(dashboard.url)
    const form = {
      headers: { origin: `https://${HOST}` },
      body: new URLSearchParams({ token: TOKEN, to: '/' }),
    }
    const { status, headers } = await ask(port, '/sign-in', form)
    expect([status, headers['location']]).toEqual([303, '/'])
    expect(String(headers['set-cookie'])).toMatch(/; Secure/)
    expect(headers['strict-transport-security']).toBe('max-age=31536000')

    const made = { ...form.headers, 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }
    const body = new URLSearchParams({ token: 'wrong-horse-battery', to: '/' })
    expect((await ask(port, '/sign-in', { headers: made, body })).status).not.toBe(303)
    expect(dashboard.lines.join('')).toContain('"network":"127.0.0.1"')
    expect(dashboard.lines.join('')).not.toContain('203.0.113')
  })

  it('lets messages of webhooks through as they were signed, and theirs alone are taken', async () => {
    const dashboard = await openDashboard(
      `public_url: https://${HOST}\ntoken: ${TOKEN}`,
      `events: { secret: ${SECRET} }`,
    )
    const port = await startNginx(dashboard.url)
    const body = eventBody('evt_1')
    const message = { id: 'evt_1', timestamp: Math.floor(Date.now() / 1000), body }
    const json = { 'content-type': 'application/json' }
    const send = (secret: string) =>
      ask(port, '/webhooks/leads', { body, headers: { ...json, ...standardHeaders([secret], message) } })
    expect((await send(SECRET)).status).toBe(204)
    expect((await send(OTHER_SECRET)).status).toBe(401)
    const kept = await dashboard.store.db.selectFrom('event').select('id').execute()
    expect(kept).toEqual([{ id: 'evt_1' }])
  })
})

/** @returns the port */
async function startNginx(upstream: string): Promise<number> {
  const port = await freePort()
  const site = readFileSync(join(ROOT, 'deploy/proxy/nginx.conf'), 'utf8')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate .*;/, 'ssl_certificate certificate.pem;')
    .replace(/ssl_certificate_key .*;/, 'ssl_certificate_key key.pem;')
    .replaceAll('http://127.0.0.1:8080', upstream)
  const folder = folderWith({
    'nginx.conf': `pid nginx.pid; daemon off; events {} http { access_log off; include site.conf; }`,
    'site.conf': site,
    'certificate.pem': CERTIFICATE,
    'key.pem': CERTIFICATE_KEY,
  })
  const nginx = startProcess(NGINX, ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'])
  await untilTrue(nginx, async () => (await ask(port, '/healthz')).status === 200)
  return port
}

/** Requests a page. Its content does not matter. */
async function ask(
  port: number,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: URLSearchParams | string } = {},
) {
  const type = body instanceof URLSearchParams ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
  const { statusCode: status, ...answer } = await request(`https://127.0.0.1:${port}${path}`, {
    dispatcher: new Agent({ connect: { servername: HOST, rejectUnauthorized: false } }),
    method: body === undefined ? 'GET' : 'POST',
    headers: { host: HOST, ...type, ...headers },
    body: body?.toString() ?? null,
  })
  await answer.body.dump()
  return { status, headers: answer.headers }
}
