/** Calls the endpoints of webhooks with the write key. Their answers must match their schemas. */
import {
  type WireWebhook,
  type WireWebhookAttempt,
  type WireWebhookWithSecret,
  webhookAttemptListSchema,
  webhookAttemptSchema,
  webhookListSchema,
  webhookWithSecretSchema,
} from '../../../src/contract/webhook.ts'
import type { Answer, TestService } from './service.ts'

export interface WebhookCalls {
  register(body: object): Promise<WireWebhookWithSecret>
  list(): Promise<readonly WireWebhook[]>
  show(id: string): Promise<WireWebhook | undefined>
  remove(id: string): Promise<Answer>
  removeAll(): Promise<void>
  /** Sends a POST without a body and without its type. */
  test(id: string): Promise<Answer>
  ping(id: string): Promise<WireWebhookAttempt>
  /** Returns the attempts, the newest first. */
  attempts(id: string): Promise<readonly WireWebhookAttempt[]>
}

export function webhookCalls(api: TestService): WebhookCalls {
  const authorization = `Bearer ${api.writeKey}`
  const test: WebhookCalls['test'] = (id) =>
    api.get(`/webhooks/${id}/test`, { method: 'POST', authorization })
  const list: WebhookCalls['list'] = async () =>
    webhookListSchema.parse((await api.get('/webhooks')).json).data
  const remove: WebhookCalls['remove'] = (id) =>
    api.get(`/webhooks/${id}`, { method: 'DELETE', authorization })
  return {
    test,
    list,
    remove,
    register: async (body) => webhookWithSecretSchema.parse((await api.post('/webhooks', body)).json),
    show: async (id) => (await list()).find((each) => each.id === id),
    removeAll: async () => {
      for (const { id } of await list()) await remove(id)
    },
    ping: async (id) => webhookAttemptSchema.parse((await test(id)).json),
    attempts: async (id) =>
      webhookAttemptListSchema.parse((await api.get(`/webhooks/${id}/attempts`)).json).data,
  }
}
