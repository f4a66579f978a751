/** The endpoints for webhooks: `POST /webhooks`, and the extensions that only the reference service has. */
import { randomBytes } from 'node:crypto'
import { PATHS } from '../../contract/api.ts'
import {
  webhookAttemptListSchema,
  webhookAttemptSchema,
  webhookCreateSchema,
  webhookListSchema,
  webhookWithSecretSchema,
} from '../../contract/webhook.ts'
import { endpoint, ProblemError } from '../http/endpoint.ts'
import type { WebhookRow } from '../store/database.ts'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listAttempts,
  listWebhooks,
  toWireWebhook,
} from '../store/webhooks.ts'

const MAX_WEBHOOKS = 50

export const registerWebhookEndpoint = endpoint({
  method: 'POST',
  path: PATHS.webhooks,
  scope: 'write',
  body: webhookCreateSchema,
  status: 201,
  answer: webhookWithSecretSchema,
  actsOnce: true,
  answerTo: async ({ db, now, webhooks }, { body }) => {
    const why = webhooks.refusalOf(new URL(body.url))
    if (why !== null)
      throw new ProblemError('invalid_request', `The body is wrong: url: ${why}.`, {
        errors: [{ path: 'url', message: why }],
      })
    if ((await listWebhooks(db)).length >= MAX_WEBHOOKS) {
      throw new ProblemError(
        'too_many_webhooks',
        `There are ${MAX_WEBHOOKS} webhooks, which is as many as there may be; delete one that is not needed.`,
      )
    }
    const webhook = {
      id: `wh_${randomBytes(8).toString('hex')}`,
      url: body.url,
      events: [...new Set(body.events)],
      description: body.description ?? null,
      // The prefix and a random key in base64, as Standard Webhooks requires.
      secret: `whsec_${randomBytes(32).toString('base64')}`,
    }
    return { ...toWireWebhook(await insertWebhook(db, webhook, now())), secret: webhook.secret }
  },
})

export const listWebhooksEndpoint = endpoint({
  method: 'GET',
  path: PATHS.webhooks,
  scope: 'read',
  status: 200,
  answer: webhookListSchema,
  answerTo: async ({ db }) => ({ data: (await listWebhooks(db)).map(toWireWebhook) }),
})

export const deleteWebhookEndpoint = endpoint({
  method: 'DELETE',
  path: PATHS.webhook,
  scope: 'write',
  status: 204,
  answerTo: async ({ db }, { id }) => {
    found(await findWebhook(db, id), id)
    await deleteWebhook(db, id)
  },
})

/** @throws ProblemError not_found if it is undefined */
function found(webhook: WebhookRow | undefined, id: string): WebhookRow {
  if (webhook !== undefined) return webhook
  throw new ProblemError('not_found', `There is no webhook ${JSON.stringify(id)}.`)
}

const MAX_ATTEMPTS_LISTED = 100

export const testWebhookEndpoint = endpoint({
  method: 'POST',
  path: PATHS.webhookTest,
  scope: 'write',
  status: 200,
  answer: webhookAttemptSchema,
  answerTo: async ({ db, webhooks }, { id }) => webhooks.ping(found(await findWebhook(db, id), id)),
})

export const listWebhookAttemptsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.webhookAttempts,
  scope: 'read',
  status: 200,
  answer: webhookAttemptListSchema,
  answerTo: async ({ db }, { id }) => {
    found(await findWebhook(db, id), id)
    return { data: [...(await listAttempts(db, id, MAX_ATTEMPTS_LISTED))] }
  },
})
