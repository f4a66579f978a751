/** The format of webhook registrations in the API, and of the events that are sent to webhooks. */

import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { instantSchema, LEAD_STATUSES } from './lead.ts'
import { AGENT_STATUSES, PIPELINE_STATUSES } from './pipeline.ts'

export const EVENT_TYPES = [
  'lead.created',
  'lead.updated',
  'lead.status_changed',
  'lead.removed',
  'pipeline.created',
  'pipeline.updated',
  'agent.status_changed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The type of a test message. A test message is not an event, so a webhook cannot subscribe to it. */
export const PING_TYPE = 'webhook.ping'
/** The version of the event format. A new field keeps the version; any other change makes a new version. */
export const EVENT_VERSION = '1'

export const webhookCreateSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2000),
  events: z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length),
  description: z.string().max(200).optional(),
})

/** `gone`: its address answered 410. `failing`: every attempt failed for days. */
export const DISABLED_REASONS = ['gone', 'failing'] as const

const webhookShape = {
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(EVENT_TYPES)),
  description: z.string().nullable(),
  status: z.enum(['active', 'disabled']),
  disabled_reason: z.enum(DISABLED_REASONS).nullable(),
  disabled_at: instantSchema.nullable(),
  /** The time of the first failure after the last success; null if none has failed since. */
  failing_since: instantSchema.nullable(),
  created_at: instantSchema,
}

/** A webhook without its secret. The API shows a secret only once, in the answer that makes the secret. */
export const webhookSchema = z.object(webhookShape)
export type WireWebhook = z.infer<typeof webhookSchema>

export const webhookWithSecretSchema = z.object({
  ...webhookShape,
  secret: z.string().min(1),
})
export type WireWebhookWithSecret = z.infer<typeof webhookWithSecretSchema>

export const webhookListSchema = z.object({ data: z.array(webhookSchema) })

/** An attempt to send a message to a webhook, with its outcome. */
export const webhookAttemptSchema = z.object({
  /** The header `webhook-id`, which is the same for each attempt of a message. */
  message_id: z.string(),
  type: z.string(),
  attempt: z.int().min(1),
  at: instantSchema,
  outcome: z.enum(['delivered', 'failed']),
  status: z.int().nullable(),
  error: z.string().nullable(),
  duration_ms: z.int().nonnegative(),
  next_attempt_at: instantSchema.nullable(),
})
export type WireWebhookAttempt = z.infer<typeof webhookAttemptSchema>

export const webhookAttemptListSchema = z.object({ data: z.array(webhookAttemptSchema) })

const leadKeys = { lead_id: z.string(), pipeline_id: z.string() }
const leadStatus = z.enum(LEAD_STATUSES)
const pipelineData = z.object({
  pipeline_id: z.string(),
  name: z.string(),
  status: z.enum(PIPELINE_STATUSES),
})

const envelope = <T extends string, D extends z.ZodType>(type: T, data: D) =>
  z.object({
    id: z.string(),
    type: z.literal(type),
    version: z.literal(EVENT_VERSION),
    timestamp: instantSchema,
    data,
  })

/** An event intentionally only names the resource; a GET returns its newest state. */
export const eventSchema = z.discriminatedUnion('type', [
  envelope('lead.created', z.object({ ...leadKeys, status: leadStatus, company_name: z.string() })),
  envelope(
    'lead.updated',
    z.object({
      ...leadKeys,
      changed: z.array(z.string()),
    }),
  ),
  envelope('lead.status_changed', z.object({ ...leadKeys, from_status: leadStatus, to_status: leadStatus })),
  envelope('lead.removed', z.object({ ...leadKeys, reason: z.string() })),
  envelope('pipeline.created', pipelineData),
  envelope('pipeline.updated', pipelineData),
  envelope(
    'agent.status_changed',
    z.object({
      agent_id: z.string(),
      status: z.enum(AGENT_STATUSES),
      message: z.string().nullable(),
    }),
  ),
])
export type WireEvent = z.infer<typeof eventSchema>

export const pingSchema = envelope(PING_TYPE, z.object({ webhook_id: z.string() }))
export type WirePing = z.infer<typeof pingSchema>

/** A union of all types, in which the type decides which fields `data` has. */
export type EventData = WireEvent extends infer E
  ? E extends WireEvent
    ? Pick<E, 'type' | 'data'>
    : never
  : never

// Standard Webhooks: HMAC-SHA256 over id, time and body.

/** The prefix of the header names, as in `webhook-id`. */
export const STANDARD_PREFIX = 'webhook-'
/** The maximum number of seconds by which the time of a message may differ from the receiver's clock. */
export const TOLERANCE_SECONDS = 300
const SECRET_PREFIX = 'whsec_'

interface SignedMessage {
  /** The id of the message, which is the same for each attempt. */
  readonly id: string
  /** The time of this attempt in whole seconds since 1970. */
  readonly timestamp: number
  /** The body, byte for byte as it is sent. */
  readonly body: Buffer | string
}

/** Returns the signature `v1,…` of a message, made with one secret (`whsec_` and a key in base64). */
function signStandard(secret: string, { id, timestamp, body }: SignedMessage): string {
  const signature = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body)
  return `v1,${signature.digest('base64')}`
}

/** @param secrets the newest first; there are two while an old secret is being replaced */
export function standardHeaders(secrets: readonly string[], message: SignedMessage): Record<string, string> {
  return {
    [`${STANDARD_PREFIX}id`]: message.id,
    [`${STANDARD_PREFIX}timestamp`]: String(message.timestamp),
    [`${STANDARD_PREFIX}signature`]: secrets.map((secret) => signStandard(secret, message)).join(' '),
  }
}

/** Returns the key of a secret. A secret is `whsec_` followed by the key in base64. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
}
