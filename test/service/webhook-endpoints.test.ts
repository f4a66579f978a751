/** What can be done with registered webhooks beside the API's document, by those who may. */
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type EventType,
  pingSchema,
  type WireWebhook,
  type WireWebhookAttempt,
  type WireWebhookWithSecret,
  webhookAttemptListSchema,
  webhookAttemptSchema,
  webhookListSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../src/contract/webhook.ts'
import { openReceiver, type ReceivedPost, type Receiver } from '../support/receiver.ts'
import { type Answer, DAY_MS, HOUR_MS, problemIn, startService, type TestService } from './support/service.ts'

/** Nothing of the sort happens while a test's clock stands, so nothing is sent there. */
const ANY = { url: 'http://127.0.0.1:65535/in', events: ['agent.status_changed'] }

let api: TestService
let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
  api = await startService({ historyDays: 2, webhooksToLoopback: true, rateLimitPerMinute: 100_000 })
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})
beforeEach(async () => {
  receiver.answer = 200
  for (const { id } of await list()) await remove(id)
})

async function register(body: object = ANY): Promise<WireWebhookWithSecret> {
  return webhookWithSecretSchema.parse((await api.post('/webhooks', body)).json)
}

function registerReceiver(events: readonly EventType[] = ['agent.status_changed']) {
  return register({ url: receiver.url, events })
}

async function list(): Promise<readonly WireWebhook[]> {
  return webhookListSchema.parse((await api.get('/webhooks')).json).data
}

async function show(id: string): Promise<WireWebhook> {
  return webhookSchema.parse((await api.get(`/webhooks/${id}`)).json)
}

function remove(id: string): Promise<Answer> {
  return api.get(`/webhooks/${id}`, { method: 'DELETE', authorization: `Bearer ${api.writeKey}` })
}

/** A POST without a body, nor the type of one. */
function act(id: string, action: 'rotate' | 'test' | 'enable', key?: string): Promise<Answer> {
  return api.get(`/webhooks/${id}/${action}`, {
    method: 'POST',
    authorization: `Bearer ${api.writeKey}`,
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })
}

async function ping(id: string): Promise<WireWebhookAttempt> {
  return webhookAttemptSchema.parse((await act(id, 'test')).json)
}

async function rotate(id: string, key?: string): Promise<WireWebhookWithSecret> {
  return webhookWithSecretSchema.parse((await act(id, 'rotate', key)).json)
}

async function attempts(id: string): Promise<readonly WireWebhookAttempt[]> {
  return webhookAttemptListSchema.parse((await api.get(`/webhooks/${id}/attempts`)).json).data
}

/** Whether a signature of the last message is what another's library makes of it with this secret. */
function isSignedWith(secret: string): boolean {
  const { headers, body } = lastPost()
  const at = new Date(Number(headers['webhook-timestamp']) * 1000)
  const signature = new Webhook(secret).sign(String(headers['webhook-id']), at, body)
  return String(headers['webhook-signature']).split(' ').includes(signature)
}

function lastPost(): ReceivedPost {
  const post = receiver.posts.at(-1)
  if (post === undefined) throw new Error('nothing was sent')
  return post
}

describe('registered webhooks', () => {
  test('are listed, the oldest first, and shown, without their secrets', async () => {
    expect(await list()).toEqual([])
    const first = await register()
    await api.pass(1000)
    const second = await register({ ...ANY, description: 'CRM' })
    const answer = await api.get('/webhooks')
    expect(answer.text).not.toContain('whsec_')
    expect(answer.json).toEqual({
      data: [first, second].map(({ secret: _, ...shown }) => shown),
    })
    const { secret: _, ...shown } = second
    expect((await api.get(`/webhooks/${second.id}`)).json).toEqual(shown)
  })

  test('are deleted, with what was sent to them', async () => {
    const { id } = await registerReceiver()
    await ping(id)
    const answer = await remove(id)
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([204, '', undefined])
    expect(await list()).toEqual([])
    expect((await remove(id)).status).toBe(404)
    for (const table of ['webhook_message', 'webhook_attempt']) {
      expect(api.rows(`select * from ${table} where webhook_id = '${id}'`)).toEqual([])
    }
  })

  test('are 50 at most, however many are asked for at once, and one that goes makes room', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => api.post('/webhooks', ANY)))
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused.map((answer) => problemIn(answer).code)).toEqual(Array(10).fill('too_many_webhooks'))
    const [first] = await list()
    expect(await list()).toHaveLength(50)
    await remove(first?.id ?? '')
    expect((await api.post('/webhooks', ANY)).status).toBe(201)
    expect((await api.post('/webhooks', ANY)).status).toBe(409)
  })

  test.each([
    ['http://hooks.example/in', 'not https'],
    ['https://10.0.0.1/', 'private'],
    ['https://user:pass@hooks.example/', 'a user or a password'],
    ['https://[fd00::1]/', 'private'],
  ])('cannot be at %s, and it is said why', async (url, why) => {
    const answer = await api.post('/webhooks', { ...ANY, url })
    expect(answer.status).toBe(400)
    expect(problemIn(answer)).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringMatching(/^The body is wrong: url: .*[^.]\.$/),
      errors: [{ path: 'url', message: expect.stringContaining(why) }],
    })
    expect(await list()).toEqual([])
  })
})

describe('an id that is nobody’s', () => {
  const IDS = ['wh_none', '%00', '%27%20or%201=1', '%2F', '%F0%9F%90%99', '*', '%E2%80%AE', 'x'.repeat(101)]

  test.each(IDS)('%s is not found, whatever is asked of it', async (id) => {
    await register()
    const asked = await Promise.all([
      api.get(`/webhooks/${id}`),
      api.get(`/webhooks/${id}/attempts`),
      remove(id),
      act(id, 'rotate'),
      act(id, 'test'),
      act(id, 'enable', `of-${id}`),
    ])
    expect(asked.map((answer) => problemIn(answer).code)).toEqual(asked.map(() => 'not_found'))
    expect(await list()).toHaveLength(1)
  })
})

describe('a key of scope read', () => {
  const asReader = () => ({ authorization: `Bearer ${api.readKey}` })

  test('may read all of it and change nothing', async () => {
    const { id } = await registerReceiver()
    const reads = ['', `/${id}`, `/${id}/attempts`].map((path) => api.get(`/webhooks${path}`))
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual([200, 200, 200])
    const writes = [
      api.get(`/webhooks/${id}`, { method: 'DELETE' }),
      ...['rotate', 'test', 'enable'].map((path) => api.post(`/webhooks/${id}/${path}`, {}, asReader())),
    ]
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(await attempts(id)).toEqual([])
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
    const { id } = await register()
    const answer = await api.post(`/webhooks/${id}/enable`, undefined, { body })
    expect(answer.status).toBe(status)
  })

  test('says that it takes nothing', async () => {
    const { id } = await register()
    expect(problemIn(await api.post(`/webhooks/${id}/rotate`, { secret: 'mine' })).detail).toBe(
      'The body is wrong: secret: there is no such name here; none is accepted.',
    )
  })
})

describe('a rotation', () => {
  test('shows a new secret, this once', async () => {
    const { secret, ...shown } = await register()
    const rotated = await rotate(shown.id)
    expect(rotated).toEqual({ ...shown, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) })
    expect(rotated.secret).not.toBe(secret)
    expect((await api.get(`/webhooks/${shown.id}`)).text).not.toContain('whsec_')
  })

  test('lets both secrets sign for 24 hours, and then the new one', async () => {
    const { id, secret: old } = await registerReceiver()
    const { secret } = await rotate(id)
    await ping(id)
    expect([isSignedWith(old), isSignedWith(secret)]).toEqual([true, true])
    api.clock.at += DAY_MS - 1
    await ping(id)
    expect([isSignedWith(old), isSignedWith(secret)]).toEqual([true, true])
    api.clock.at += 1
    await ping(id)
    expect([isSignedWith(old), isSignedWith(secret)]).toEqual([false, true])
  })

  test('sent twice with one Idempotency-Key shows the same secret, and another key another one', async () => {
    const { id } = await register()
    const first = await act(id, 'rotate', 'turn-1')
    const again = await act(id, 'rotate', 'turn-1')
    expect([again.headers['idempotency-replayed'], again.json]).toEqual(['true', first.json])
    expect((await rotate(id, 'turn-2')).secret).not.toBe((first.json as WireWebhookWithSecret).secret)
  })

  test('of one webhook does not answer for another with the same Idempotency-Key', async () => {
    const [one, other] = [await register(), await register()]
    const rotated = [await rotate(one.id, 'same'), await rotate(other.id, 'same')]
    expect(rotated.map(({ id }) => id)).toEqual([one.id, other.id])
    expect(new Set([one, other, ...rotated].map(({ secret }) => secret)).size).toBe(4)
  })

  test('soon after another ends the oldest secret at once', async () => {
    const { id, secret: oldest } = await registerReceiver()
    const { secret: old } = await rotate(id)
    const { secret } = await rotate(id)
    await ping(id)
    expect([oldest, old, secret].map((each) => isSignedWith(each))).toEqual([false, true, true])
  })
})

describe('a test', () => {
  test('sends a ping at once, whatever the webhook is registered for, and answers with its attempt', async () => {
    const { id } = await registerReceiver()
    const attempt = await ping(id)
    expect(attempt).toMatchObject({
      ...{ message_id: lastPost().headers['webhook-id'], type: 'webhook.ping', attempt: 1 },
      ...{ at: new Date(api.clock.at).toISOString(), outcome: 'delivered', status: 200, error: null },
      next_attempt_at: null,
    })
    expect(pingSchema.parse(JSON.parse(lastPost().body)).data).toEqual({ webhook_id: id })
    expect(await attempts(id)).toEqual([attempt])
  })

  test('that fails is no failure of the request, and is not sent again', async () => {
    const { id } = await registerReceiver()
    receiver.answer = 500
    const attempt = await ping(id)
    expect(attempt).toMatchObject({ outcome: 'failed', status: 500, next_attempt_at: null })
    expect(attempt.error).toContain('500')
    await api.pass(HOUR_MS)
    expect(await attempts(id)).toEqual([attempt])
  })

  test('of an address where nothing listens says so', async () => {
    const gone = await openReceiver()
    await gone[Symbol.asyncDispose]()
    const { id } = await register({ url: gone.url, events: ['lead.created'] })
    expect(await ping(id)).toMatchObject({
      ...{ outcome: 'failed', status: null },
      error: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('does not hold up other requests while its address is slow', async () => {
    const { id } = await registerReceiver()
    let finish: (() => void) | undefined
    const asked = new Promise<void>((resolve) => {
      receiver.answer = (response) => {
        finish = () => response.writeHead(204).end()
        resolve()
      }
    })
    const pinging = ping(id)
    await asked
    expect((await api.post('/pipelines', { name: 'P', criteria: {} })).status).toBe(201)
    expect(await attempts(id)).toEqual([])
    finish?.()
    expect(await pinging).toMatchObject({ outcome: 'delivered', status: 204 })
  })
})

describe('the attempts', () => {
  test('are the last 100, the newest first, of this webhook alone', async () => {
    const { id } = await registerReceiver()
    const sent: string[] = []
    for (let count = 0; count < 103; count++) sent.unshift((await ping(id)).message_id)
    const other = await registerReceiver()
    await ping(other.id)
    expect((await attempts(id)).map((attempt) => attempt.message_id)).toEqual(sent.slice(0, 100))
    expect(await attempts(other.id)).toHaveLength(1)
  })
})

describe('a disabled webhook', () => {
  async function disabled(): Promise<string> {
    const { id } = await registerReceiver(['pipeline.created'])
    receiver.answer = 410
    await create('Gone')
    await vi.waitFor(async () => expect((await show(id)).status).toBe('disabled'))
    receiver.answer = 200
    return id
  }

  async function create(name: string): Promise<void> {
    await api.post('/pipelines', { name, criteria: {} })
  }

  function namesSince(count: number): readonly string[] {
    return receiver.posts.slice(count).map(({ body }) => JSON.parse(body).data.name)
  }

  test('says since when and why', async () => {
    expect(await show(await disabled())).toMatchObject({
      ...{ status: 'disabled', disabled_reason: 'gone', disabled_at: new Date(api.clock.at).toISOString() },
    })
  })

  test('is told after it was enabled of what happens from then on', async () => {
    const id = await disabled()
    const before = receiver.posts.length
    await create('Meanwhile')
    const enabled = webhookSchema.parse((await act(id, 'enable')).json)
    expect(enabled).toEqual(await show(id))
    expect(enabled).toMatchObject({
      ...{ status: 'active', disabled_reason: null, disabled_at: null, failing_since: null },
    })
    await create('Afterwards')
    await vi.waitFor(() => expect(namesSince(before)).toContain('Afterwards'))
    expect(namesSince(before)).toEqual(['Afterwards'])
  })

  test('can be tried before it is enabled', async () => {
    const id = await disabled()
    expect(await ping(id)).toMatchObject({ outcome: 'delivered' })
    expect((await show(id)).status).toBe('disabled')
  })

  test('loses nothing by being enabled twice', async () => {
    const id = await disabled()
    await act(id, 'enable')
    const before = receiver.posts.length
    await Promise.all([create('Between'), act(id, 'enable'), act(id, 'enable')])
    await vi.waitFor(() => expect(namesSince(before)).toEqual(['Between']))
  })
})
