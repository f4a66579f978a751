/**
 * Messages are sent at once, and each only once if it is accepted. A slow webhook does not hold up others.
 */
import type { ServerResponse } from 'node:http'
import SQLite from 'better-sqlite3'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { EVENT_TYPES, eventSchema } from '../../../src/contract/webhook.ts'
import { openReceiver, type ReceivedPost, type Receiver } from '../../support/network/receiver.ts'
import { DAY_MS, HOUR_MS, startService } from '../support/service.ts'
import { happen, register, webhooksOfFile } from '../support/webhooks.ts'

const EACH_AT_ONCE = 8

const { api, receiver, webhookAt } = await webhooksOfFile({ rateLimitPerMinute: 1_000_000 })

function arrived(count: number, at: Receiver = receiver): Promise<void> {
  return expect.poll(() => at.posts.length, { interval: 5 }).toBe(count)
}

function idsOf(posts: readonly ReceivedPost[]): readonly unknown[] {
  return posts.map(({ headers }) => headers['webhook-id'])
}

/** Lets a receiver keep what it is sent without an answer, until it answers all of that with 204. */
function hold(at: Receiver) {
  const held: ServerResponse[] = []
  at.answer = (response) => void held.push(response)
  const letGo = () => {
    at.answer = 204
    for (const response of held) response.writeHead(204).end()
  }
  return { held, letGo }
}

describe('an event', () => {
  test('leaves when it is in the store, whether somebody asked for it or time brought it', async () => {
    const { secret } = await webhookAt(receiver.url, EVENT_TYPES)
    const before = receiver.posts.length
    await happen(api)
    await arrived(before + 1)
    await api.pass(DAY_MS)
    const { last } = api.rows<{ last: number }>('select max(id) as last from event')[0] ?? { last: 0 }
    await expect.poll(() => api.rows("select 1 from webhook_message where state != 'delivered'")).toEqual([])
    const posts = receiver.posts.slice(before)
    const events = posts.map(({ body }) => eventSchema.parse(JSON.parse(body)))
    const sent = events.map((event) => Number(event.id.replace('evt_', ''))).sort((a, b) => a - b)
    const [first = 0] = sent
    expect(sent).toEqual(Array.from({ length: last - first + 1 }, (_, index) => first + index))
    expect(sent.length).toBeGreaterThan(10)
    for (const { body, headers, type } of posts) {
      expect(type).toBe('application/json')
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      const signature = new Webhook(secret).sign(String(headers['webhook-id']), at, body)
      expect(headers['webhook-signature']).toBe(signature)
    }
  })

  test('of before the registration, or of another type, is not sent', async () => {
    await happen(api)
    const other = await webhookAt(receiver.url, ['agent.status_changed'])
    const webhook = await webhookAt(receiver.url)
    const before = receiver.posts.length
    await happen(api)
    await webhook.attempted(1)
    expect(receiver.posts.slice(before)).toHaveLength(1)
    expect(api.rows(`select * from webhook_message where webhook_id = '${other.id}'`)).toEqual([])
  })
})

describe('a receiver that is slow', () => {
  test('gets a few messages at once, while another gets all of its own', async () => {
    await using slow = await openReceiver()
    const { letGo } = hold(slow)
    const { id } = await webhookAt(slow.url)
    await webhookAt(receiver.url)
    const before = receiver.posts.length
    await happen(api, 30)
    await arrived(before + 30)
    await arrived(EACH_AT_ONCE, slow)
    // A sent message counts as waiting until its answer is known.
    expect(api.rows(`select distinct state from webhook_message where webhook_id = '${id}'`)).toEqual([
      { state: 'waiting' },
    ])
    letGo()
    await arrived(30, slow)
    expect(new Set(idsOf(slow.posts)).size).toBe(30)
  })

  test('and fails gets one message at a time until it takes one', async () => {
    await using failing = await openReceiver()
    failing.answer = 500
    const webhook = await webhookAt(failing.url)
    await happen(api)
    await webhook.attempted(1)
    const { letGo } = hold(failing)
    await webhookAt(receiver.url)
    const before = receiver.posts.length
    await happen(api, 10)
    await arrived(before + 10)
    await arrived(2, failing)
    letGo()
    await arrived(11, failing)
  })
})

describe('what was sent', () => {
  test('is forgotten after a week, with its attempts; what waits is not', async () => {
    const webhook = await webhookAt(receiver.url)
    await happen(api)
    await webhook.attempted(1)
    const count = () =>
      api.rows<{ table: string }>(
        `select id from webhook_message where webhook_id = '${webhook.id}'
          union all select message_id from webhook_attempt where webhook_id = '${webhook.id}'`,
      ).length
    await api.pass(7 * DAY_MS - 1)
    await happen(api)
    await webhook.attempted(2)
    expect(count()).toBe(4)
    await api.pass(3_600_000)
    await expect.poll(count).toBe(2)
  })

  test('is not forgotten while it is on its way, which would hold up all others', async () => {
    const { held } = hold(receiver)
    const webhook = await webhookAt(receiver.url)
    await happen(api, 2)
    await expect.poll(() => held.length, { interval: 5 }).toBe(2)
    await api.pass(7 * DAY_MS + HOUR_MS)
    held[0]?.writeHead(410).end()
    await expect.poll(async () => (await webhook.show()).status, { interval: 5 }).toBe('disabled')
    await api.pass(HOUR_MS)
    held[1]?.writeHead(204).end()
    receiver.answer = 204
    const other = await webhookAt(receiver.url)
    await happen(api)
    await other.attempted(1)
  })

  test('to a webhook that is deleted meanwhile leaves nothing behind, and hinders nobody', async () => {
    const { letGo } = hold(receiver)
    const webhook = await register(api, receiver.url)
    const before = receiver.posts.length
    await happen(api)
    await arrived(before + 1)
    await webhook.remove()
    letGo()
    const other = await webhookAt(receiver.url)
    await happen(api)
    await other.attempted(1)
    expect(api.rows(`select * from webhook_attempt where webhook_id = '${webhook.id}'`)).toEqual([])
  })
})

describe('a service that ends', () => {
  test('ends, though what it was answered cannot be written, and sends that again when it is back', async () => {
    await using own = await openReceiver()
    own.answer = 204
    const logged: string[] = []
    const logger = { info: () => undefined, error: (_: object, message: string) => void logged.push(message) }
    await using first = await startService({ historyDays: 1, webhooksToLoopback: true, logger })
    await register(first, own.url)
    const sqlite = new SQLite(first.file)
    sqlite.exec(
      `create trigger full before insert on webhook_attempt begin select raise(abort, 'no space'); end`,
    )
    await happen(first)
    await expect.poll(() => own.posts.length, { interval: 5 }).toBe(1)
    await expect.poll(() => logged).toContain('webhooks could not be sent on')
    await first.service.close()
    sqlite.exec('drop trigger full')
    sqlite.close()
    await using _second = await startService({ historyDays: 1, webhooksToLoopback: true, file: first.file })
    await expect.poll(() => own.posts.length, { interval: 5 }).toBe(2)
    expect(new Set(own.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  test('cuts off what is on its way, and sends it again when it is back', async () => {
    await using slow = await openReceiver()
    slow.answer = () => undefined
    await using first = await startService({ historyDays: 1, webhooksToLoopback: true })
    await register(first, slow.url)
    await happen(first)
    await expect.poll(() => slow.posts.length, { interval: 5 }).toBe(1)
    await first.service.close()
    slow.answer = 204
    await using second = await startService({ historyDays: 1, webhooksToLoopback: true, file: first.file })
    await expect.poll(() => slow.posts.length, { interval: 5 }).toBe(2)
    expect(new Set(slow.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(slow.posts.map(({ body }) => body)).size).toBe(1)
    await expect
      .poll(() => second.rows('select attempts, state from webhook_message'))
      .toEqual([{ attempts: 1, state: 'delivered' }])
  })
})
