/** Answers about webhooks, and the messages to them, agree with the OpenAPI document. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PATHS } from '../../../src/contract/api.ts'
import {
  EVENT_TYPES,
  EVENT_VERSION,
  type EventType,
  PING_TYPE,
  webhookWithSecretSchema,
} from '../../../src/contract/webhook.ts'
import { openReceiver, type Receiver } from '../../support/network/receiver.ts'
import { type Described, type Document, readDescription } from '../support/openapi.ts'
import { DAY_MS, HOUR_MS, startService, type TestService } from '../support/service.ts'

let api: TestService
let receiver: Receiver
let described: Described
beforeAll(async () => {
  receiver = await openReceiver()
  api = await startService({ historyDays: 30, webhooksToLoopback: true })
  described = await readDescription(api)
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

/** @returns the id */
async function registered(url: string, events: readonly EventType[]): Promise<string> {
  const answer = await api.post('/webhooks', { url, events })
  return webhookWithSecretSchema.parse(answer.json).id
}

/** Requests something about a webhook, and compares the answer with the document. */
async function askAbout(method: 'GET' | 'POST' | 'DELETE', path: string, id: string, key = api.writeKey) {
  const authorization = `Bearer ${key}`
  const answer = await api.get(`/webhooks${path.replace('{id}', id)}`, { method, authorization })
  const found = described.deviations(`${PATHS.webhooks}${path}`, method.toLowerCase(), answer)
  return { status: answer.status, deviations: found }
}

describe('an answer is as the document says', () => {
  test.each([
    ['GET', '/{id}'],
    ['GET', '/{id}/attempts'],
    ['POST', '/{id}/rotate'],
    ['POST', '/{id}/test'],
    ['POST', '/{id}/enable'],
    ['DELETE', '/{id}'],
  ] as const)('%s /api/v1/webhooks%s', async (method, path) => {
    const id = await registered(receiver.url, ['agent.status_changed'])
    await askAbout('POST', '/{id}/test', id)
    const asked = [
      await askAbout(method, path, 'none'),
      await askAbout(method, path, id, 'lsk_none'),
      ...(method === 'GET' ? [] : [await askAbout(method, path, id, api.readKey)]),
      await askAbout(method, path, id),
    ]
    const success = method === 'DELETE' ? 204 : 200
    const statuses = method === 'GET' ? [404, 401, success] : [404, 401, 403, success]
    expect(asked).toEqual(statuses.map((status) => ({ status, deviations: [] })))
  })

  test('GET /api/v1/webhooks, of one that is disabled, and what failed there', async () => {
    const id = await registered(receiver.url, ['agent.status_changed'])
    receiver.answer = 410
    expect(await askAbout('POST', '/{id}/test', id)).toEqual({ status: 200, deviations: [] })
    receiver.answer = 200
    expect(await askAbout('GET', '/{id}/attempts', id)).toEqual({ status: 200, deviations: [] })
    const answer = await api.get('/webhooks')
    expect(described.deviations(PATHS.webhooks, 'get', answer)).toEqual([])
    expect(answer.text).toContain('"disabled_reason":"gone"')
  })
})

test('the recorded events are as the document says a webhook receives them', () => {
  const rows = api.rows<{ id: number; type: string; at: number; data: string }>(
    'select id, type, at, data from event',
  )
  expect(rows.length).toBeGreaterThan(1000)
  for (const [type, own] of Map.groupBy(rows, (row) => row.type)) {
    const validate = described.messageValidator(type)
    for (const { id, at, data } of own) {
      validate({
        id: `evt_${id}`,
        type,
        version: EVENT_VERSION,
        timestamp: new Date(at).toISOString(),
        data: JSON.parse(data),
      })
      expect(validate.errors).toBeNull()
    }
  }
})

test('what a webhook is sent is as the document says, of every type', async () => {
  await using own = await openReceiver()
  const types = () => new Set(own.posts.map(({ body }) => JSON.parse(body).type))
  const rare = ['lead.removed', 'agent.status_changed'] as const
  const frequent = EVENT_TYPES.filter((type) => !rare.some((one) => one === type))
  const id = await registered(own.url, frequent)
  await askAbout('POST', '/{id}/test', id)
  await api.post('/pipelines', { name: 'Two', criteria: { limit: 2 } })
  await api.pass(6 * HOUR_MS)
  await expect.poll(types).toEqual(new Set([...frequent, PING_TYPE]))
  await askAbout('DELETE', '/{id}', id)
  await registered(own.url, rare)
  await api.pass(14 * DAY_MS)
  await expect.poll(types).toEqual(new Set([...EVENT_TYPES, PING_TYPE]))
  const headers = described.validator({
    type: 'object',
    ...headersOf(described.document.components.parameters),
  })
  const validators = new Map([...types()].map((type) => [type, described.messageValidator(type)]))
  for (const post of own.posts) {
    const message = JSON.parse(post.body)
    const validate = validators.get(message.type)
    expect([validate?.(message), validate?.errors]).toEqual([true, null])
    const timestamp = Number(post.headers['webhook-timestamp'])
    headers({ ...post.headers, 'webhook-timestamp': timestamp })
    expect(headers.errors).toBeNull()
  }
})

/** Returns headers that the document describes as parameters, as the properties of an object. */
function headersOf(parameters: Document['components']['parameters']): object {
  const properties = Object.entries(parameters).map(([name, { schema }]) => [name, schema])
  return { properties: Object.fromEntries(properties), required: Object.keys(parameters) }
}
