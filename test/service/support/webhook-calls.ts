/** Calls the endpoints of webhooks with the write key. Their answers must match their schemas. */
import {
  type WireWebhook,
  type WireWebhookAttempt,
  type WireWebhookWithSecret,
  webhookAttemptListSchema,
  webhookAttemptSchema,
  webhookListSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../../src/contract/webhook.ts'
import type { Answer, TestService } from './service.ts'

export type WebhookAction = 'rotate' | 'test' | 'enable'

export interface WebhookCalls {
  register(body: object): Promise<WireWebhookWithSecret>
  list(): Promise<readonly WireWebhook[]>
  show(id: string): Promise<WireWebhook>
  remove(id: string): Promise<Answer>
  removeAll(): Promise<void>
  /** Sends a POST without a body and without its type. */
  act(id: string, action: WebhookAction, idempotencyKey?: string): Promise<Answer>
  rotate(id: string, idempotencyKey?: string): Promise<WireWebhookWithSecret>
  ping(id: string): Promise<WireWebhookAttempt>
  /** Returns the attempts, the newest first. */
  attempts(id: string): Promise<readonly WireWebhookAttempt[]>
}

export function webhookCalls(api: TestService): WebhookCalls {
  const authorization = `Bearer ${api.writeKey}`
  const act: WebhookCalls['act'] = (id, action, idempotencyKey) =>
    api.get(`/webhooks/${id}/${action}`, {
      method: 'POST',
      authorization,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    })
  const list: WebhookCalls['list'] = async () =>
    webhookListSchema.parse((await api.get('/webhooks')).json).data
  const remove: WebhookCalls['remove'] = (id) =>
    api.get(`/webhooks/${id}`, { method: 'DELETE', authorization })
  return {
    act,
    list,
    remove,
    register: async (body) => webhookWithSecretSchema.parse((await api.post('/webhooks', body)).json),
    show: async (id) => webhookSchema.parse((await api.get(`/webhooks/${id}`)).json),
    removeAll: async () => {
      for (const { id } of await list()) await remove(id)
    },
    rotate: async (id, idempotencyKey) =>
      webhookWithSecretSchema.parse((await act(id, 'rotate', idempotencyKey)).json),
    ping: async (id) => webhookAttemptSchema.parse((await act(id, 'test')).json),
    attempts: async (id) =>
      webhookAttemptListSchema.parse((await api.get(`/webhooks/${id}/attempts`)).json).data,
  }
}
