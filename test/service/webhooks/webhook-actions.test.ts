/** The actions on a registered webhook that are not in the service's document. */
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type EventType,
  pingSchema,
  type WireWebhookWithSecret,
  webhookSchema,
} from '../../../src/contract/webhook.ts'
import { openReceiver, type ReceivedPost, type Receiver } from '../../support/network/receiver.ts'
import { DAY_MS, HOUR_MS, startService, type TestService } from '../support/service.ts'
import { type WebhookCalls, webhookCalls } from '../support/webhook-calls.ts'

let api: TestService
let hooks: WebhookCalls
let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
  api = await startService({ historyDays: 2, webhooksToLoopback: true })
  hooks = webhookCalls(api)
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})
beforeEach(async () => {
  receiver.answer = 200
  await hooks.removeAll()
})

/** Registers a webhook for events that never come while the test's clock stands. */
function registered(events: readonly EventType[] = ['agent.status_changed']) {
  return hooks.register({ url: receiver.url, events })
}

/** True if another library makes the same signature of the last message with this secret. */
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

describe('a rotation', () => {
  test('shows a new secret, this once', async () => {
    const { secret, ...shown } = await registered()
    const rotated = await hooks.rotate(shown.id)
    expect(rotated).toEqual({ ...shown, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) })
    expect(rotated.secret).not.toBe(secret)
    expect((await api.get(`/webhooks/${shown.id}`)).text).not.toContain('whsec_')
  })

  test('lets both secrets sign for 24 hours, and then the new one', async () => {
    const { id, secret: old } = await registered()
    const { secret } = await hooks.rotate(id)
    await hooks.ping(id)
    expect([isSignedWith(old), isSignedWith(secret)]).toEqual([true, true])
    api.clock.at += DAY_MS - 1
    await hooks.ping(id)
    expect([isSignedWith(old), isSignedWith(secret)]).toEqual([true, true])
    api.clock.at += 1
    await hooks.ping(id)
    expect([isSignedWith(old), isSignedWith(secret)]).toEqual([false, true])
  })

  test('sent twice with one Idempotency-Key shows the same secret, and another key another one', async () => {
    const { id } = await registered()
    const first = await hooks.act(id, 'rotate', 'turn-1')
    const again = await hooks.act(id, 'rotate', 'turn-1')
    expect([again.headers['idempotency-replayed'], again.json]).toEqual(['true', first.json])
    expect((await hooks.rotate(id, 'turn-2')).secret).not.toBe((first.json as WireWebhookWithSecret).secret)
  })

  test('of one webhook does not answer for another with the same Idempotency-Key', async () => {
    const [one, other] = [await registered(), await registered()]
    const rotated = [await hooks.rotate(one.id, 'same'), await hooks.rotate(other.id, 'same')]
    expect(rotated.map(({ id }) => id)).toEqual([one.id, other.id])
    expect(new Set([one, other, ...rotated].map(({ secret }) => secret)).size).toBe(4)
  })

  test('soon after another ends the oldest secret at once', async () => {
    const { id, secret: oldest } = await registered()
    const { secret: old } = await hooks.rotate(id)
    const { secret } = await hooks.rotate(id)
    await hooks.ping(id)
    expect([oldest, old, secret].map((each) => isSignedWith(each))).toEqual([false, true, true])
  })
})

describe('a test', () => {
  test('sends a ping at once, whatever the webhook is registered for, and answers with its attempt', async () => {
    const { id } = await registered()
    const attempt = await hooks.ping(id)
    expect(attempt).toMatchObject({
      message_id: lastPost().headers['webhook-id'],
      type: 'webhook.ping',
      attempt: 1,
      at: new Date(api.clock.at).toISOString(),
      outcome: 'delivered',
      status: 200,
      error: null,
      next_attempt_at: null,
    })
    expect(pingSchema.parse(JSON.parse(lastPost().body)).data).toEqual({ webhook_id: id })
    expect(await hooks.attempts(id)).toEqual([attempt])
  })

  test('that fails is no failure of the request, and is not sent again', async () => {
    const { id } = await registered()
    receiver.answer = 500
    const attempt = await hooks.ping(id)
    expect(attempt).toMatchObject({ outcome: 'failed', status: 500, next_attempt_at: null })
    expect(attempt.error).toContain('500')
    await api.pass(HOUR_MS)
    // Other events may have happened in that hour.
    const attempts = await hooks.attempts(id)
    expect(attempts.filter((each) => each.message_id === attempt.message_id)).toEqual([attempt])
  })

  test('of an address where nothing listens says so', async () => {
    const gone = await openReceiver()
    await gone[Symbol.asyncDispose]()
    const { id } = await hooks.register({ url: gone.url, events: ['lead.created'] })
    expect(await hooks.ping(id)).toMatchObject({
      outcome: 'failed',
      status: null,
      error: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('does not hold up other requests while its address is slow', async () => {
    const { id } = await registered()
    let finish: (() => void) | undefined
    const asked = new Promise<void>((resolve) => {
      receiver.answer = (response) => {
        finish = () => response.writeHead(204).end()
        resolve()
      }
    })
    const pinging = hooks.ping(id)
    await asked
    expect((await api.post('/pipelines', { name: 'P', criteria: {} })).status).toBe(201)
    expect(await hooks.attempts(id)).toEqual([])
    finish?.()
    expect(await pinging).toMatchObject({ outcome: 'delivered', status: 204 })
  })
})

describe('the attempts', () => {
  test('are the last 100, the newest first, of this webhook alone', async () => {
    const { id } = await registered()
    const sent: string[] = []
    for (let count = 0; count < 103; count++) sent.unshift((await hooks.ping(id)).message_id)
    const other = await registered()
    await hooks.ping(other.id)
    expect((await hooks.attempts(id)).map((attempt) => attempt.message_id)).toEqual(sent.slice(0, 100))
    expect(await hooks.attempts(other.id)).toHaveLength(1)
  })
})

describe('a disabled webhook', () => {
  async function disabled(): Promise<string> {
    const { id } = await registered(['pipeline.created'])
    receiver.answer = 410
    await create('Gone')
    await expect.poll(async () => (await hooks.show(id)).status).toBe('disabled')
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
    expect(await hooks.show(await disabled())).toMatchObject({
      status: 'disabled',
      disabled_reason: 'gone',
      disabled_at: new Date(api.clock.at).toISOString(),
    })
  })

  test('is told after it was enabled of what happens from then on', async () => {
    const id = await disabled()
    const before = receiver.posts.length
    await create('Meanwhile')
    const enabled = webhookSchema.parse((await hooks.act(id, 'enable')).json)
    expect(enabled).toEqual(await hooks.show(id))
    expect(enabled).toMatchObject({
      status: 'active',
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
    })
    await create('Afterwards')
    await expect.poll(() => namesSince(before)).toContain('Afterwards')
    expect(namesSince(before)).toEqual(['Afterwards'])
  })

  test('can be tried before it is enabled', async () => {
    const id = await disabled()
    expect(await hooks.ping(id)).toMatchObject({ outcome: 'delivered' })
    expect((await hooks.show(id)).status).toBe('disabled')
  })

  test('loses nothing by being enabled twice', async () => {
    const id = await disabled()
    await hooks.act(id, 'enable')
    const before = receiver.posts.length
    await Promise.all([create('Between'), hooks.act(id, 'enable'), hooks.act(id, 'enable')])
    await expect.poll(() => namesSince(before)).toEqual(['Between'])
  })
})
