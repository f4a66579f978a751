/** Manages the webhooks at the upstream. Actions that it lacks fail with api_not_found. */
import { z } from 'zod'
import {
  type WireWebhookAttempt,
  webhookAttemptSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../contract/webhook.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Answer } from '../client/answer.ts'
import type { Call } from '../client/request.ts'
import { hasEndpoint, pathStep } from '../client/request.ts'
import type { Profile } from '../profile/profile.ts'

export type { WireWebhookAttempt }

/** Accepts any type of event, because a newer upstream may have more types than leadsheet knows. */
const ofAnyEvents = { events: z.array(z.string()) }
const shownSchema = webhookSchema.extend(ofAnyEvents)
const withSecretSchema = webhookWithSecretSchema.extend(ofAnyEvents)
const listSchema = z.object({ data: z.array(shownSchema) })
export type WireWebhook = z.infer<typeof shownSchema>
export type WireWebhookWithSecret = z.infer<typeof withSecretSchema>

/** Unlike in `webhookCreateSchema`, `events` may contain types that only the upstream knows. */
export interface WebhookOrder {
  readonly url: string
  readonly events: readonly string[]
  readonly description?: string | undefined
}

/** Every function may throw LeadsheetError api_*; api_not_found also if the action is not offered. */
export type WebhookSource = ReturnType<typeof createWebhookSource>

interface WebhookSourceDeps {
  readonly profile: Profile
  readonly at: () => URL
  readonly call: (call: Call) => Promise<Answer>
  readonly checked: <T>(url: URL, shape: z.ZodType<T>, answer: unknown) => T
}

/** Not found, method not allowed, not implemented. */
const UNOFFERED = [404, 405, 501]

interface Asking {
  readonly what: string
  readonly method: Call['method']
  readonly id?: string
  readonly action?: string
  readonly body?: WebhookOrder
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal | undefined
}

export function createWebhookSource({ profile, at, call, checked }: WebhookSourceDeps) {
  async function ask<T>(shape: z.ZodType<T>, asking: Asking): Promise<T> {
    const { url, body } = await send(asking)
    return checked(url, shape, body)
  }

  /** A webhook that is not there need not be removed. */
  async function send({ what, method, id, action, ...rest }: Asking) {
    if (!hasEndpoint(profile, 'webhooks')) {
      throw unoffered(
        `The upstream cannot ${what}: endpoints.webhooks is none in its profile ${profile.name}`,
      )
    }
    const url = at()
    const below = [id, action].filter((part) => part !== undefined).map(pathStep)
    url.pathname = [url.pathname.replace(/\/$/, ''), ...below].join('/')
    const { status, body } = await call({ method, url, takes: UNOFFERED, ...rest })
    const isGone = method === 'DELETE' && status === 404
    if (isGone || !UNOFFERED.includes(status)) return { url, status, body }
    const asked = `${method} ${url.origin}${url.pathname} answered ${status}`
    if (status !== 404 || id === undefined) throw unoffered(`The upstream offers no way to ${what}: ${asked}`)
    throw new LeadsheetError(
      'api_not_found',
      `The upstream knows no webhook ${id}, or offers no way to ${what}: ${asked}`,
      { hint: `${shellCommand('webhooks list')} shows those that there are.` },
    )
  }

  return {
    register: (body: WebhookOrder, idempotencyKey: string, signal?: AbortSignal) =>
      ask(withSecretSchema, { what: 'register webhooks', method: 'POST', body, idempotencyKey, signal }),
    list: async (signal?: AbortSignal): Promise<readonly WireWebhook[]> =>
      (await ask(listSchema, { what: 'list webhooks', method: 'GET', signal })).data,
    test: (id: string, signal?: AbortSignal): Promise<WireWebhookAttempt> =>
      ask(webhookAttemptSchema, { what: 'test a webhook', method: 'POST', id, action: 'test', signal }),
    remove: async (id: string, signal?: AbortSignal): Promise<boolean> =>
      (await send({ what: 'remove a webhook', method: 'DELETE', id, signal })).status !== 404,
  }
}

function unoffered(message: string): LeadsheetError {
  return new LeadsheetError('api_not_found', message, {
    hint: 'Do it in its own interface. A webhook that is registered there has the address web.public_url with /webhooks/leads, and its secret belongs into a file that events.secret_file (LEADSHEET_EVENTS_SECRET_FILE) names.',
  })
}
