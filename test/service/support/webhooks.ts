/** Registers webhooks at a service in a test, reads their attempts, and makes events for them. */
import { afterAll, afterEach, expect } from 'vitest'
import {
  type EventType,
  webhookAttemptListSchema,
  webhookAttemptSchema,
  webhookListSchema,
  webhookWithSecretSchema,
} from '../../../src/contract/webhook.ts'
import type { ServiceOptions } from '../../../src/service/open.ts'
import { openReceiver } from '../../support/network/receiver.ts'
import { serviceOfFile, type TestService } from './service.ts'

export type TestWebhook = Awaited<ReturnType<typeof register>>

/** Starts a service and a receiver that all tests of the file share. Each test's webhooks end with it. */
export async function webhooksOfFile(options: Partial<ServiceOptions> = {}) {
  const receiver = await openReceiver()
  const api = await serviceOfFile({ historyDays: 1, webhooksToLoopback: true, ...options })
  const registered: TestWebhook[] = []
  afterEach(async () => {
    receiver.answer = 200
    for (const webhook of registered.splice(0)) await webhook.remove()
  })
  afterAll(() => receiver[Symbol.asyncDispose]())
  const webhookAt = async (url: string, events?: readonly EventType[]) => {
    const webhook = await register(api, url, events)
    registered.push(webhook)
    return webhook
  }
  return { api, receiver, webhookAt }
}

/** Registers a webhook, by default for created pipelines, which `happen` makes. */
export async function register(
  api: TestService,
  url: string,
  events: readonly EventType[] = ['pipeline.created'],
) {
  const answer = await api.post('/webhooks', { url, events })
  const { id, secret } = webhookWithSecretSchema.parse(answer.json)
  const attempts = async () =>
    webhookAttemptListSchema.parse((await api.get(`/webhooks/${id}/attempts`)).json).data.toReversed()
  return {
    id,
    secret,
    /** Returns the attempts, the first one first. */
    attempts,
    show: async () => {
      const { data } = webhookListSchema.parse((await api.get('/webhooks')).json)
      const found = data.find((each) => each.id === id)
      if (found === undefined) throw new Error(`there is no webhook ${id}`)
      return found
    },
    /** Waits until there are so many attempts. */
    attempted: async (count: number) => {
      await expect.poll(async () => (await attempts()).length, { interval: 10 }).toBeGreaterThanOrEqual(count)
      return attempts()
    },
    ping: async () => webhookAttemptSchema.parse((await api.post(`/webhooks/${id}/test`, {})).json),
    remove: () => api.get(`/webhooks/${id}`, { method: 'DELETE', authorization: `Bearer ${api.writeKey}` }),
  }
}

/** Makes events for webhooks. */
export async function happen(api: TestService, times = 1): Promise<void> {
  const pipeline = { name: 'P', criteria: { industries: ['nothing has this'], limit: 1 } }
  for (let time = 0; time < times; time++) {
    const { status, text } = await api.post('/pipelines', pipeline)
    if (status !== 201) throw new Error(text)
  }
}
