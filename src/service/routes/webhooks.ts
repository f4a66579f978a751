/** The endpoints for webhooks: `POST /webhooks`, and the extensions that only the reference service has. */
import { randomBytes } from 'node:crypto'
import { PATHS } from '../../contract/api.ts'
import {
  webhookAttemptListSchema,
  webhookAttemptSchema,
  webhookCreateSchema,
  webhookListSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../contract/webhook.ts'
import { endpoint, ProblemError } from '../http/endpoint.ts'
import type { WebhookRow } from '../store/database.ts'
import {
  countWebhooks,
  deleteWebhook,
  enableWebhook,
  findWebhook,
  insertWebhook,
  listAttempts,
  listWebhooks,
  rotateWebhookSecret,
  toWireWebhook,
  toWireWebhookWithSecret,
} from '../store/webhooks.ts'

const MAX_WEBHOOKS = 50

export const registerWebhookEndpoint = endpoint({
  method: 'POST',
  path: PATHS.webhooks,
  operationId: 'registerWebhook',
  summary: 'Register an address that gets messages about events',
  description:
    'The address gets the events that happen from then on. Store the `secret` of the answer: no other answer ' +
    `shows it. The address must be public and https. There may be ${MAX_WEBHOOKS} registrations.`,
  scope: 'write',
  body: webhookCreateSchema,
  status: 201,
  answer: webhookWithSecretSchema,
  problems: ['too_many_webhooks'],
  actsOnce: true,
  check: async ({ webhooks }, { body }) => {
    const why = await webhooks.checkAddress(body.url)
    if (why === null) return
    throw new ProblemError('invalid_request', `The body is wrong: url: ${why}.`, {
      errors: [{ path: 'url', message: why }],
    })
  },
  answerTo: async ({ db, now }, { body }) => {
    if ((await countWebhooks(db)) >= MAX_WEBHOOKS) {
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
      secret: newSecret(),
    }
    return toWireWebhookWithSecret(await insertWebhook(db, webhook, now()))
  },
})

export const listWebhooksEndpoint = endpoint({
  method: 'GET',
  path: PATHS.webhooks,
  operationId: 'listWebhooks',
  summary: 'All registered webhooks, the oldest first',
  scope: 'read',
  status: 200,
  answer: webhookListSchema,
  problems: [],
  isExtension: true,
  answerTo: async ({ db }) => ({ data: (await listWebhooks(db)).map(toWireWebhook) }),
})

export const showWebhookEndpoint = endpoint({
  method: 'GET',
  path: PATHS.webhook,
  operationId: 'getWebhook',
  summary: 'One webhook: whether it is active, and since when its attempts fail',
  scope: 'read',
  status: 200,
  answer: webhookSchema,
  problems: ['not_found'],
  isExtension: true,
  answerTo: async ({ db }, { id }) => toWireWebhook(found(await findWebhook(db, id), id)),
})

export const deleteWebhookEndpoint = endpoint({
  method: 'DELETE',
  path: PATHS.webhook,
  operationId: 'deleteWebhook',
  summary: 'End a registration',
  description: 'No message is sent any more, not even waiting ones. Requests under way may still arrive.',
  scope: 'write',
  status: 204,
  problems: ['not_found'],
  isExtension: true,
  answerTo: async ({ db }, { id }) => {
    if (!(await deleteWebhook(db, id))) throw noSuchWebhook(id)
  },
})

/** Makes a secret: the prefix `whsec_` and a random key in base64, as Standard Webhooks requires. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/**
 * Returns the webhook if it is defined.
 * @throws ProblemError not_found if it is undefined
 */
function found(webhook: WebhookRow | undefined, id: string): WebhookRow {
  if (webhook === undefined) throw noSuchWebhook(id)
  return webhook
}

function noSuchWebhook(id: string): ProblemError {
  return new ProblemError('not_found', `There is no webhook ${JSON.stringify(id)}.`)
}

/*
 * The endpoints for actions on a registered webhook and for its attempts. The API's document does not
 * describe these endpoints.
 */

const OLD_SECRET_HOURS = 24
const MAX_ATTEMPTS_LISTED = 100

export const rotateWebhookEndpoint = endpoint({
  method: 'POST',
  path: PATHS.webhookRotate,
  operationId: 'rotateWebhookSecret',
  summary: 'Give a webhook a new secret',
  description:
    'Store the `secret` of the answer: no other answer shows it. For ' +
    `${OLD_SECRET_HOURS} hours messages are signed with both the new secret and the old one, then only with the ` +
    'new one. Another rotation within these hours ends the oldest secret immediately.',
  scope: 'write',
  status: 200,
  answer: webhookWithSecretSchema,
  problems: ['not_found'],
  isExtension: true,
  actsOnce: true,
  answerTo: async ({ db, realNow }, { id }) => {
    const oldUntil = realNow() + OLD_SECRET_HOURS * 60 * 60_000
    const webhook = await rotateWebhookSecret(db, id, newSecret(), oldUntil)
    return toWireWebhookWithSecret(found(webhook, id))
  },
})

export const testWebhookEndpoint = endpoint({
  method: 'POST',
  path: PATHS.webhookTest,
  operationId: 'testWebhook',
  summary: 'Send a webhook.ping immediately, and answer with the outcome',
  description:
    'Each request sends one test message, also to a disabled webhook. A failed test message is not sent again: ' +
    'the answer then has status 200 and the `outcome` `failed`.',
  scope: 'write',
  status: 200,
  answer: webhookAttemptSchema,
  problems: ['not_found'],
  isExtension: true,
  answerTo: async ({ db, webhooks }, { id }) => webhooks.ping(found(await findWebhook(db, id), id)),
})

export const enableWebhookEndpoint = endpoint({
  method: 'POST',
  path: PATHS.webhookEnable,
  operationId: 'enableWebhook',
  summary: 'Send events to a disabled webhook again',
  description:
    'The webhook gets the events that happen from then on. Messages that waited when it was disabled, and events ' +
    'since then, are not sent. An active webhook stays unchanged.',
  scope: 'write',
  status: 200,
  answer: webhookSchema,
  problems: ['not_found'],
  isExtension: true,
  actsOnce: true,
  answerTo: async ({ db }, { id }) => toWireWebhook(found(await enableWebhook(db, id), id)),
})

export const listWebhookAttemptsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.webhookAttempts,
  operationId: 'listWebhookAttempts',
  summary: `The last ${MAX_ATTEMPTS_LISTED} attempts to send a message to a webhook, the newest first`,
  scope: 'read',
  status: 200,
  answer: webhookAttemptListSchema,
  problems: ['not_found'],
  isExtension: true,
  answerTo: async ({ db }, { id }) => {
    found(await findWebhook(db, id), id)
    return { data: [...(await listAttempts(db, id, MAX_ATTEMPTS_LISTED))] }
  },
})
