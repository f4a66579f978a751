/** The documentation lists every address of the daemon's web server, with its access rule. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { ask, openDashboard } from '../support/web/dashboard.ts'

const CREATED = 'fastify.initialization'
const ROW = /^\| `(\/\S*)` \| (GET|POST) \| (none|link|signature|operator) \|/gm

const listed = [...readFileSync('docs/reference/http-pages.md', 'utf8').matchAll(ROW)].map(
  ([, path = '', method = '', signIn = '']) => ({ path, method, signIn }),
)

/** Opens the pages of the daemon and collects their routes, except those that only refuse a method. */
async function openListening(): Promise<{ url: string; routes: string[] }> {
  const routes: string[] = []
  const listen = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ url, method, handler, onRequest }) => {
      if (handler === onRequest || method === 'HEAD') return
      routes.push(`${String(method)} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
    })
  }
  subscribe(CREATED, listen)
  try {
    const { url } = await openDashboard()
    return { url, routes }
  } finally {
    unsubscribe(CREATED, listen)
  }
}

it('lists every address with its method, and lets in whom it says', async () => {
  const { url, routes } = await openListening()
  expect(listed.map(({ path, method }) => `${method} ${path}`).sort()).toEqual(routes.sort())
  for (const { path, method, signIn } of listed) {
    const { status } = await ask(`${url}${path.replaceAll(/\{\w+\}/g, 'x')}`, { method })
    if (signIn === 'operator') expect(status, path).toBe(401)
    if (signIn === 'none' && method === 'GET') expect([200, 503], path).toContain(status)
    if (signIn === 'link') expect([400, 404], path).toContain(status)
    if (signIn === 'signature') expect(status, path).toBe(415)
  }
})
