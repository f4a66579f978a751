/** Webhooks: registration, and the events that are recorded for them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  EVENT_TYPES,
  EVENT_VERSION,
  eventSchema,
  type WireEvent,
  webhookWithSecretSchema,
} from '../../../src/contract/webhook.ts'
import { DAY_MS, NOW, startService, type TestService } from '../support/service.ts'

interface EventRow {
  readonly id: number
  readonly type: string
  readonly at: number
  readonly lead_id: string | null
  readonly pipeline_id: string | null
  readonly agent_id: string | null
  readonly data: string
}

let api: TestService
let events: readonly WireEvent[]
beforeAll(async () => {
  api = await startService({ historyDays: 45 })
  await api.post('/pipelines', { name: 'Two', criteria: { limit: 2 } })
  await api.pass(DAY_MS)
  const rows = api.rows<EventRow>('select * from event order by id')
  events = rows.map(({ id, type, at, data }) =>
    eventSchema.parse({
      id: `evt_${id}`,
      type,
      version: EVENT_VERSION,
      timestamp: new Date(at).toISOString(),
      data: JSON.parse(data),
    }),
  )
})
afterAll(() => api[Symbol.asyncDispose]())

describe('a registration', () => {
  test('is answered with a secret of its own', async () => {
    const body = {
      url: 'https://hooks.example/in?x=1',
      events: ['lead.created', 'lead.created'],
      description: 'CRM',
    }
    const [first, second] = [await api.post('/webhooks', body), await api.post('/webhooks', body)]
    expect([first.status, first.json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^wh_[0-9a-f]{16}$/),
        url: body.url,
        events: ['lead.created'],
        description: 'CRM',
        status: 'active',
        disabled_reason: null,
        disabled_at: null,
        failing_since: null,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        created_at: new Date(NOW + DAY_MS).toISOString(),
      },
    ])
    expect(webhookWithSecretSchema.parse(second.json).secret).not.toBe(
      webhookWithSecretSchema.parse(first.json).secret,
    )
  })

  test('sent twice with one Idempotency-Key shows the same secret again', async () => {
    const headers = { 'idempotency-key': 'hook' }
    const body = { url: 'https://hooks.example/once', events: ['agent.status_changed'] }
    const first = await api.post('/webhooks', body, { headers })
    expect((await api.post('/webhooks', body, { headers })).json).toEqual(first.json)
    expect(api.rows(`select * from webhook where url = '${body.url}'`)).toHaveLength(1)
  })
})

describe('the recorded events', () => {
  test('are of every type, in order of time', () => {
    expect(new Set(events.map((event) => event.type))).toEqual(new Set(EVENT_TYPES))
    const lived = events.filter((event) => event.type !== 'pipeline.created').map((event) => event.timestamp)
    expect(lived).toEqual([...lived].sort())
  })

  test('tell each lead’s way from its discovery to its status now', async () => {
    const status = new Map<string, string>()
    for (const { type, data } of events) {
      if (type === 'lead.created') status.set(data.lead_id, data.status)
      if (type === 'lead.removed') status.delete(data.lead_id)
      if (type !== 'lead.status_changed') continue
      expect(status.get(data.lead_id)).toBe(data.from_status)
      status.set(data.lead_id, data.to_status)
    }
    const leads = await api.walk('limit=1000')
    expect(status).toEqual(new Map(leads.map((lead) => [lead.id, lead.status])))
  })

  test('have the time of the lead’s last change as its updated_at', async () => {
    const last = new Map<string, string>()
    for (const { type, timestamp, data } of events)
      if ('lead_id' in data && type !== 'lead.removed') last.set(data.lead_id, timestamp)
    for (const lead of await api.walk('limit=1000')) expect(last.get(lead.id)).toBe(lead.updated_at)
  })

  test('tell of a removal, after which the lead answers 404', async () => {
    const removed = events.filter((event) => event.type === 'lead.removed')
    expect(removed.length).toBeGreaterThan(0)
    for (const { data } of removed) expect((await api.get(`/leads/${data.lead_id}`)).status).toBe(404)
  })
})
