/** The actions on a registered webhook that are not in the service's document. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type EventType, pingSchema } from '../../../src/contract/webhook.ts'
import { openReceiver, type ReceivedPost, type Receiver } from '../../support/network/receiver.ts'
import { HOUR_MS, startService, type TestService } from '../support/service.ts'
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

function lastPost(): ReceivedPost {
  const post = receiver.posts.at(-1)
  if (post === undefined) throw new Error('nothing was sent')
  return post
}

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
