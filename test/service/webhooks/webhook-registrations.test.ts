/**
 * Registered webhooks, and the rights to read and change them. The messages to them are tested in other
 * files.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { problemIn, startService, type TestService } from '../support/service.ts'
import { type WebhookCalls, webhookCalls } from '../support/webhook-calls.ts'

/** A webhook to which nothing is sent, because its events never come while the test's clock stands. */
const ANY = { url: 'http://127.0.0.1:65535/in', events: ['agent.status_changed'] }

let api: TestService
let hooks: WebhookCalls
beforeAll(async () => {
  api = await startService({ historyDays: 2, webhooksToLoopback: true })
  hooks = webhookCalls(api)
})
afterAll(() => api[Symbol.asyncDispose]())
beforeEach(() => hooks.removeAll())

describe('registered webhooks', () => {
  test('are listed, the oldest first, without their secrets', async () => {
    expect(await hooks.list()).toEqual([])
    const first = await hooks.register(ANY)
    await api.pass(1000)
    const second = await hooks.register({ ...ANY, description: 'CRM' })
    const answer = await api.get('/webhooks')
    expect(answer.text).not.toContain('whsec_')
    expect(answer.json).toEqual({
      data: [first, second].map(({ secret: _, ...shown }) => shown),
    })
  })

  test('are 50 at most, however many are asked for at once, and one that goes makes room', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => api.post('/webhooks', ANY)))
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused.map((answer) => problemIn(answer).code)).toEqual(Array(10).fill('too_many_webhooks'))
    const [first] = await hooks.list()
    expect(await hooks.list()).toHaveLength(50)
    await hooks.remove(first?.id ?? '')
    expect((await api.post('/webhooks', ANY)).status).toBe(201)
    expect((await api.post('/webhooks', ANY)).status).toBe(409)
  })

  test('are deleted, with what was sent to them', async () => {
    const { id } = await hooks.register(ANY)
    await hooks.ping(id)
    expect(await hooks.attempts(id)).toHaveLength(1)
    const answer = await hooks.remove(id)
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([204, '', undefined])
    expect(await hooks.list()).toEqual([])
    expect((await hooks.remove(id)).status).toBe(404)
    for (const table of ['webhook_message', 'webhook_attempt']) {
      expect(api.rows(`select * from ${table} where webhook_id = '${id}'`)).toEqual([])
    }
  })
})

describe('an id that is nobody’s', () => {
  const IDS = ['wh_none', '%00', '%27%20or%201=1', '%2F', '%F0%9F%90%99', '*', '%E2%80%AE', 'x'.repeat(300)]

  test.each(IDS)('%s is not found, whatever is asked of it', async (id) => {
    await hooks.register(ANY)
    const asked = await Promise.all([api.get(`/webhooks/${id}/attempts`), hooks.remove(id), hooks.test(id)])
    expect(asked.map((answer) => problemIn(answer).code)).toEqual(asked.map(() => 'not_found'))
    expect(await hooks.list()).toHaveLength(1)
  })
})

describe('a key of scope read', () => {
  const asReader = () => ({ authorization: `Bearer ${api.readKey}` })

  test('may read all of it and change nothing', async () => {
    const { id } = await hooks.register(ANY)
    const reads = ['', `/${id}/attempts`].map((path) => api.get(`/webhooks${path}`))
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual([200, 200])
    const writes = [
      api.get(`/webhooks/${id}`, { method: 'DELETE' }),
      api.post(`/webhooks/${id}/test`, {}, asReader()),
    ]
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([403, 403])
    expect(await hooks.attempts(id)).toEqual([])
  })
})

describe('a POST that needs no body', () => {
  test.each([
    ['none, though its type is named', '', 200],
    ['an empty object', '{}', 200],
    ['more than that', '{"secret":"mine"}', 400],
    ['a list', '[]', 400],
    ['what is no JSON', '{', 400],
  ])('with %s (%j) is answered with %i', async (_, body, status) => {
    const { id } = await hooks.register(ANY)
    const answer = await api.post(`/webhooks/${id}/test`, undefined, { body })
    expect(answer.status).toBe(status)
  })
})
