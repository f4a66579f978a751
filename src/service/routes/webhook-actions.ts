/**
 * The endpoints for actions on a registered webhook and for its attempts. The API's document does not have
 * them.
 */
import { PATHS } from '../../contract/paths.ts'
import {
  webhookAttemptListSchema,
  webhookAttemptSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../contract/webhook.ts'
import { endpoint } from '../http/endpoint.ts'
import {
  enableWebhook,
  findWebhook,
  listAttempts,
  rotateWebhookSecret,
  toWireWebhook,
  toWireWebhookWithSecret,
} from '../store/webhook.ts'
import { found, newSecret } from './webhooks.ts'

const OLD_SECRET_HOURS = 24
const MAX_ATTEMPTS_LISTED = 100

export const rotateWebhookEndpoint = endpoint({
  method: 'POST',
  path: PATHS.webhookRotate,
  operationId: 'rotateWebhookSecret',
  summary: 'Give a webhook a new secret',
  description:
    'Keep the `secret` of the answer: no other answer shows it. What is sent has two signatures for ' +
    `${OLD_SECRET_HOURS} hours, of the new secret and of the one before; then only that of the new one. ` +
    'A rotation within these hours ends the oldest secret at once.',
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
  summary: 'Send a webhook.ping at once, and answer with what became of it',
  description:
    'Each request sends one, to a disabled webhook too. It is not sent again when it fails: this answers ' +
    '200 all the same, with an `outcome` of `failed`.',
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
    'It is told of what happens from then on. What waited when it was disabled, and what has happened since, ' +
    'is not sent. An active webhook stays as it is.',
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
  summary: `The last ${MAX_ATTEMPTS_LISTED} times that something was sent to a webhook, the newest first`,
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
