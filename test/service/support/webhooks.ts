/** Webhooks of a service in a test: registered, looked at, and told of something. */
import { expect } from 'vitest'
import {
  type WireWebhook,
  type WireWebhookAttempt,
  type WireWebhookWithSecret,
  webhookAttemptListSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../../src/contract/webhook.ts'
import type { TestService } from './service.ts'

export interface TestWebhook {
  readonly id: string
  readonly secret: string
  show(): Promise<WireWebhook>
  /** The first one first. */
  attempts(): Promise<readonly WireWebhookAttempt[]>
  /** Waits until there are as many. */
  attempted(count: number): Promise<readonly WireWebhookAttempt[]>
  act(action: 'rotate' | 'test' | 'enable'): Promise<unknown>
}

/** Told of pipelines that are created, which is what `happen` does. */
export async function register(api: TestService, url: string): Promise<TestWebhook> {
  const answer = await api.post('/webhooks', { url, events: ['pipeline.created'] })
  const { id, secret }: WireWebhookWithSecret = webhookWithSecretSchema.parse(answer.json)
  const attempts = async () =>
    webhookAttemptListSchema.parse((await api.get(`/webhooks/${id}/attempts`)).json).data.toReversed()
  return {
    id,
    secret,
    attempts,
    show: async () => webhookSchema.parse((await api.get(`/webhooks/${id}`)).json),
    attempted: async (count) => {
      await expect.poll(async () => (await attempts()).length, { interval: 10 }).toBeGreaterThanOrEqual(count)
      return attempts()
    },
    act: async (action) => (await api.post(`/webhooks/${id}/${action}`, {})).json,
  }
}

/** Something that webhooks are told of. */
export async function happen(api: TestService, times = 1): Promise<void> {
  const pipeline = { name: 'P', criteria: { industries: ['nothing has this'], limit: 1 } }
  for (let time = 0; time < times; time++) {
    const { status, text } = await api.post('/pipelines', pipeline)
    if (status !== 201) throw new Error(text)
  }
}
