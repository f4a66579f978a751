/** Webhooks: their registration, the rights to it, pings, and the events that are recorded for them. */
import { describe, expect, test } from 'vitest'
import { EVENT_TYPES, EVENT_VERSION, eventSchema, pingSchema } from '../../../src/contract/webhook.ts'
import { DAY_MS, HOUR_MS, NOW, problemIn, startService } from '../support/service.ts'
import { register, webhooksOfFile } from '../support/webhooks.ts'

interface EventRow {
  readonly id: number
  readonly type: string
  readonly at: number
  readonly data: string
}

/** Nothing is sent there, because such events never come while the test's clock stands. */
const ANY = { url: 'http://127.0.0.1:65535/in', events: ['agent.status_changed'] as const }

const { api, receiver } = await webhooksOfFile({ historyDays: 45 })
await api.post('/pipelines', { name: 'Two', criteria: { limit: 2 } })
await api.pass(DAY_MS)
const events = api.rows<EventRow>('select * from event order by id').map(({ id, type, at, data }) =>
  eventSchema.parse({
    id: `evt_${id}`,
    type,
    version: EVENT_VERSION,
    timestamp: new Date(at).toISOString(),
    data: JSON.parse(data),
  }),
)

describe('a registration', () => {
  test('is answered with a secret of its own, which the list does not show', async () => {
    const body = { url: 'https://hooks.example/in?x=1', events: ['lead.created', 'lead.created'] }
    const [first, second] = [await api.post('/webhooks', body), await api.post('/webhooks', body)]
    const { secret, ...shown } = first.json as { id: string; secret: string }
    expect(shown).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-f]{16}$/),
      url: body.url,
      events: ['lead.created'],
      description: null,
      status: 'active',
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      created_at: new Date(NOW + DAY_MS).toISOString(),
    })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(second.json).not.toMatchObject({ secret })
    const { json } = await api.get('/webhooks')
    expect(json).toMatchObject({ data: expect.arrayContaining([shown]) })
    expect(JSON.stringify(json)).not.toContain('whsec_')
  })

  test('sent twice with one Idempotency-Key shows the same secret again', async () => {
    const headers = { 'idempotency-key': 'hook' }
    const body = { url: 'https://hooks.example/once', events: ['agent.status_changed'] }
    const first = await api.post('/webhooks', body, { headers })
    expect((await api.post('/webhooks', body, { headers })).json).toEqual(first.json)
    expect(api.rows(`select * from webhook where url = '${body.url}'`)).toHaveLength(1)
  })

  test('is deleted with what was sent to it', async () => {
    const webhook = await register(api, ANY.url, ANY.events)
    await webhook.ping()
    expect(await webhook.attempts()).toHaveLength(1)
    expect((await webhook.remove()).status).toBe(204)
    expect((await webhook.remove()).status).toBe(404)
    for (const table of ['webhook_message', 'webhook_attempt'])
      expect(api.rows(`select * from ${table} where webhook_id = '${webhook.id}'`)).toEqual([])
  })

  test('with a key of scope read may be read and not changed', async () => {
    const { id, attempts } = await register(api, ANY.url, ANY.events)
    const asReader = { authorization: `Bearer ${api.readKey}` }
    const answers = await Promise.all([
      api.get('/webhooks'),
      api.get(`/webhooks/${id}/attempts`),
      api.post('/webhooks', ANY, asReader),
      api.get(`/webhooks/${id}`, { method: 'DELETE' }),
      api.post(`/webhooks/${id}/test`, {}, asReader),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 403, 403])
    expect(await attempts()).toEqual([])
  })

  test.each(['wh_none', '%27%20or%201=1', '%2F'])('is not found by the id %s', async (id) => {
    const authorization = `Bearer ${api.writeKey}`
    const asked = await Promise.all([
      api.get(`/webhooks/${id}/attempts`),
      api.get(`/webhooks/${id}`, { method: 'DELETE', authorization }),
      api.post(`/webhooks/${id}/test`, {}),
    ])
    expect(asked.map((answer) => problemIn(answer).code)).toEqual(asked.map(() => 'not_found'))
  })

  test('is one of 50 at most, however many are asked for at once, and one that goes makes room', async () => {
    await using own = await startService({ historyDays: 2, webhooksToLoopback: true })
    const webhook = await register(own, ANY.url, ANY.events)
    const answers = await Promise.all(Array.from({ length: 60 }, () => own.post('/webhooks', ANY)))
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11)
    await webhook.remove()
    expect((await own.post('/webhooks', ANY)).status).toBe(201)
    expect((await own.post('/webhooks', ANY)).status).toBe(409)
  })
})

describe('the recorded events', () => {
  test('are of every type, in order of time', () => {
    expect(new Set(events.map((event) => event.type))).toEqual(new Set(EVENT_TYPES))
    const lived = events.filter((event) => event.type !== 'pipeline.created').map((event) => event.timestamp)
    expect(lived).toEqual([...lived].sort())
  })

  test('tell each lead’s way from its discovery to its status now, the last at the time of its updated_at', async () => {
    const status = new Map<string, string>()
    const last = new Map<string, string>()
    for (const { type, timestamp, data } of events) {
      if ('lead_id' in data) last.set(data.lead_id, timestamp)
      if (type === 'lead.created') status.set(data.lead_id, data.status)
      if (type === 'lead.removed') status.delete(data.lead_id)
      if (type !== 'lead.status_changed') continue
      expect(status.get(data.lead_id)).toBe(data.from_status)
      status.set(data.lead_id, data.to_status)
    }
    const leads = await api.walk('limit=1000')
    expect(status).toEqual(new Map(leads.map((lead) => [lead.id, lead.status])))
    for (const lead of leads) expect(last.get(lead.id)).toBe(lead.updated_at)
  })

  test('tell of a removal, after which the lead answers 404', async () => {
    const removed = events.filter((event) => event.type === 'lead.removed')
    expect(removed.length).toBeGreaterThan(0)
    for (const { data } of removed) expect((await api.get(`/leads/${data.lead_id}`)).status).toBe(404)
  })
})

describe('a ping', () => {
  test('is sent at once, whatever the webhook is registered for, and answered with its attempt', async () => {
    receiver.answer = 200
    const { id, ping, attempts } = await register(api, receiver.url, ANY.events)
    const attempt = await ping()
    const post = receiver.posts.at(-1)
    expect(attempt).toMatchObject({
      message_id: post?.headers['webhook-id'],
      type: 'webhook.ping',
      attempt: 1,
      at: new Date(api.clock.at).toISOString(),
      outcome: 'delivered',
      status: 200,
      error: null,
      next_attempt_at: null,
    })
    expect(pingSchema.parse(JSON.parse(post?.body ?? '')).data).toEqual({ webhook_id: id })
    expect(await attempts()).toEqual([attempt])
  })

  test('that fails is no failure of the request, and is not sent again', async () => {
    receiver.answer = 500
    const { ping, attempts } = await register(api, receiver.url, ['pipeline.created'])
    const attempt = await ping()
    expect(attempt).toMatchObject({ outcome: 'failed', status: 500, next_attempt_at: null })
    await api.pass(HOUR_MS)
    expect(await attempts()).toEqual([attempt])
  })

  test('is among the attempts as long as it is one of the last 100', async () => {
    receiver.answer = 200
    const { ping, attempts } = await register(api, receiver.url, ANY.events)
    const sent: string[] = []
    for (let count = 0; count < 103; count++) sent.push((await ping()).message_id)
    expect((await attempts()).map((attempt) => attempt.message_id)).toEqual(sent.slice(3))
  })
})
