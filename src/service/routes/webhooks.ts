/** `POST /webhooks`. */
import { randomBytes } from 'node:crypto'
import { PATHS } from '../../contract/paths.ts'
import { webhookCreateSchema, webhookWithSecretSchema } from '../../contract/webhook.ts'
import { endpoint } from '../http/endpoint.ts'
import { insertWebhook } from '../store/webhook.ts'

export const registerWebhookEndpoint = endpoint({
  method: 'POST',
  path: PATHS.webhooks,
  operationId: 'registerWebhook',
  summary: 'Register an address that is told of events',
  description: 'Keep the `secret` of the answer: no other answer shows it.',
  scope: 'write',
  body: webhookCreateSchema,
  answer: webhookWithSecretSchema,
  problems: [],
  answerTo: ({ db, now }, { body }) =>
    insertWebhook(
      db,
      {
        id: `wh_${randomBytes(8).toString('hex')}`,
        url: body.url,
        events: [...new Set(body.events)],
        description: body.description ?? null,
        // The key in base64 after the prefix, as the Standard Webhooks specification has it.
        secret: `whsec_${randomBytes(32).toString('base64')}`,
      },
      now(),
    ),
})
