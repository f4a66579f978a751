import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { registerSelf, removeSelf } from '../../../src/jobs/events/register-webhook.ts'
import { readRegistration, registrationFile } from '../../../src/jobs/events/webhook-registration.ts'
import type { Source } from '../../../src/upstream/source.ts'
import type { WebhookSource } from '../../../src/upstream/webhooks/registered-webhooks.ts'
import { folderWith } from '../../support/folder.ts'
import { openHttpServer } from '../../support/network/http-server.ts'
import { openTestSource, profileWith } from '../../support/source/test-source.ts'

const { signal } = new AbortController()
const SECRET = 'a-secret-of-theirs'
const WEBHOOK = {
  id: 'hook/1',
  url: 'https://reports.example.com/in',
  events: ['lead.created'],
  description: null,
  status: 'active',
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  created_at: '2026-11-20T09:00:00.000Z',
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const say =
  (status: number, body = ''): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(body)

/** Opens an upstream. Each request gets the next answer of its method, and the last one is repeated. */
async function openUpstream(answers: Readonly<Record<string, readonly Answer[]>>, more: object = {}) {
  const asked: string[] = []
  const server = await openHttpServer((request, response) => {
    const { method = '', url } = request
    const [some = [], before] = [answers[method], asked.filter((line) => line.startsWith(method)).length]
    asked.push(`${method} ${url}`)
    ;(some[Math.min(before, some.length - 1)] ?? say(405))(request, response)
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const source = openTestSource({
    baseUrl: `${server.url}/api/v1`,
    profile: profileWith({ name: 'theirs', ...more }),
    otherSecrets: () => [SECRET],
  })
  return { source, asked }
}

/** Returns what registers a webhook of an installation that has none. */
function ownAt(source: Source) {
  const { url, events } = WEBHOOK
  return { source, file: registrationFile(folderWith()), now: () => new Date(), url, events }
}

describe('an upstream that lacks a part', () => {
  const calls: readonly [string, string, (webhooks: WebhookSource) => Promise<unknown>][] = [
    ['list webhooks', 'GET', (webhooks) => webhooks.list()],
    ['test a webhook', 'POST', (webhooks) => webhooks.test('h1')],
    ['remove a webhook', 'DELETE', (webhooks) => webhooks.remove('h1')],
    ['register webhooks', 'POST', (webhooks) => webhooks.register({ url: 'https://x', events: [] }, 'key')],
  ]

  it.each(calls)('cannot %s, and it is said why and what to do then', async (what, method, call) => {
    for (const status of [405, 501]) {
      const { source, asked } = await openUpstream({ [method]: [say(status)] })
      await expect(call(source.webhooks)).rejects.toMatchObject({
        code: 'api_not_found',
        message: expect.stringMatching(
          `^The upstream offers no way to ${what}: ${method} .* answered ${status}$`,
        ),
        hint: expect.stringContaining('events.secret_file (LEADSHEET_EVENTS_SECRET_FILE)'),
      })
      expect(asked).toHaveLength(1)
    }
    const { source, asked } = await openUpstream({}, { endpoints: { webhooks: 'none' } })
    await expect(call(source.webhooks)).rejects.toMatchObject({
      code: 'api_not_found',
      message: `The upstream cannot ${what}: endpoints.webhooks is none in its profile theirs`,
    })
    expect(asked).toEqual([])
  })

  it.each(['', '.', '..'])('is asked for no other path by a webhook that is called %j', async (id) => {
    const { source, asked } = await openUpstream({ DELETE: [say(204)], GET: [say(200, '{"data":[]}')] })
    const { test, remove } = source.webhooks
    for (const call of [test(id), remove(id)])
      await expect(call).rejects.toMatchObject({ code: 'api_not_found' })
    expect(asked).toEqual([])
  })

  it('a secret is told so, and what is kept can still be read', async () => {
    const { source } = await openUpstream({ POST: [say(201, JSON.stringify({ ...WEBHOOK, secret: '' }))] })
    const own = ownAt(source)
    await expect(registerSelf(own, signal)).rejects.toMatchObject({ code: 'api_unexpected' })
    expect(await readRegistration(own.file)).toBeNull()
  })

  it('but knows how to register is registered with once, and what is left over is told', async () => {
    const { source, asked } = await openUpstream({
      POST: [say(201, JSON.stringify({ ...WEBHOOK, secret: SECRET }))],
      GET: [say(404)],
    })
    const own = ownAt(source)
    const register = (url: string) => registerSelf({ ...own, url }, signal)
    expect(await register(WEBHOOK.url)).toMatchObject({ outcome: 'registered', leftOver: null })
    expect(await register(WEBHOOK.url)).toMatchObject({ outcome: 'already' })
    expect(asked).toEqual(['POST /api/v1/webhooks', 'GET /api/v1/webhooks'])
    // The upstream returns the same webhook for another address, so it must not be removed.
    expect(await register('https://other.example.com/')).toMatchObject({
      outcome: 'replaced',
      leftOver: null,
    })
    expect(await removeSelf(own, signal)).toEqual({ id: WEBHOOK.id, outcome: 'left' })
    expect(await readRegistration(own.file)).toBeNull()
  })
})

describe('a webhook', () => {
  it.each([
    ['nothing', say(204)],
    ['JSON', say(200, '{"deleted":true}')],
    ['a page', say(200, '<html>gone</html>')],
  ])('is removed, also where %s answers that, and once where it is asked again', async (_, answer) => {
    const { source, asked } = await openUpstream({ DELETE: [say(503), answer, say(404)] })
    expect(await source.webhooks.remove('h1')).toBe(true)
    expect(await source.webhooks.remove('h1')).toBe(false)
    expect(asked).toHaveLength(3)
  })

  it('has its secret taken out of what the upstream quotes', async () => {
    const { source } = await openUpstream({ POST: [say(400, JSON.stringify({ detail: `not ${SECRET}` }))] })
    await expect(source.webhooks.test('h1')).rejects.toMatchObject({
      message: expect.stringMatching(/answered 400: not \[redacted\]$/),
    })
  })
})
