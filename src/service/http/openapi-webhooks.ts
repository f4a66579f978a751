/** Describes webhooks in the OpenAPI document. */

import { z } from 'zod'
import type { EventType } from '../../contract/webhook.ts'
import {
  EVENT_VERSION,
  eventSchema,
  PING_TYPE,
  pingSchema,
  TOLERANCE_SECONDS,
} from '../../contract/webhook.ts'
import { TOTAL_MS } from '../../http-post.ts'
import { BACKOFF, GIVE_UP } from '../../retry.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The description of webhooks, in Markdown. */
export const WEBHOOK_WORDS = `Messages about events, sent to an address of the client.

**Delivery.** Each event is sent by POST, as a message, to each active webhook that is registered for its type. \
A message counts as delivered if the answer has a status 2XX and comes within ${duration(TOTAL_MS)}. The body of the \
answer is ignored. Any other answer is a failure, also a redirect, which is not followed. A failed message is sent again \
${listOf(BACKOFF.serviceWebhook.waitsMs.map(duration))} after the previous attempt; each wait may be up to a tenth longer. \
There are ${BACKOFF.serviceWebhook.waitsMs.length + 1} attempts in total, the first of which is made immediately. A \`Retry-After\` in an \
answer with status 429 or 503 is respected, up to 24 h.

**At least once, in no order.** A message may arrive twice, because its answer may be lost. A later message may arrive before \
an earlier one. \`webhook-id\` is the same for each attempt of a message: store it, and ignore a message whose id you know. \
A message names what has changed; a GET returns the newest state.

**Disabled webhooks.** An answer with status 410 disables the webhook immediately (\`disabled_reason\` is \`gone\`). \
${GIVE_UP.serviceWebhook.days} days in which every attempt fails disable it too (\`failing\`). Messages that wait at that time are \
never sent, and neither are the events that happen until the webhook is enabled again.

**Signature.** Messages are signed by the Standard Webhooks specification, so its libraries can verify them. The key is the part \
of the secret after \`whsec_\`, decoded from base64. The signed text is \`{webhook-id}.{webhook-timestamp}.{body}\`, with the \
body exactly as received. \`webhook-signature\` contains \`v1,\` and the HMAC-SHA256 in base64. It may contain several \
signatures, separated by a space; one valid signature is enough. Compare signatures in constant time, and refuse a \
\`webhook-timestamp\` that is more than ${duration(TOLERANCE_SECONDS * SECOND_MS)} from now.

**Secrets.** For 24 h after a rotation, messages are signed with both the new secret and the old one.

**Versions.** \`version\` is the version of the payload. Within version ${EVENT_VERSION}, fields and enumerated values may be \
added, but none is removed or changes its meaning. New types of events may be added; a webhook gets only the types that it is \
registered for.`

export const WEBHOOK_PARAMETERS: Json = {
  'webhook-id': {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description:
      'The id of the message. It is the same for each attempt, so a repeated message can be recognised.',
    schema: { type: 'string', pattern: '^msg_' },
  },
  'webhook-timestamp': {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'The time of this attempt, in seconds since 1970. The signature covers it.',
    schema: { type: 'integer' },
  },
  'webhook-signature': {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'A signature: `v1,` and base64. For 24 h after a rotation of the secret, two signatures separated by a space.',
    schema: { type: 'string', pattern: '^v1,\\S+( v1,\\S+)*$' },
  },
}

export const WEBHOOK_RESPONSES: Json = {
  WebhookTaken: { description: 'The message is delivered, and is not sent again.' },
  WebhookNotFound: { description: 'The webhook is disabled and gets no further messages.' },
  WebhookBusy: {
    description:
      'The message is sent again. Nothing is sent before the time that `Retry-After` asks for has passed.',
    headers: {
      'Retry-After': {
        description: 'Seconds, or an HTTP date; the wait is at most 24 h.',
        schema: { type: 'string' },
      },
    },
  },
  WebhookFailed: { description: 'The message is sent again, as after no answer at all.' },
}

const SUMMARIES: Readonly<Record<EventType | typeof PING_TYPE, string>> = {
  'lead.created': 'A lead was discovered',
  'lead.updated': 'A lead changed, but not its status',
  'lead.status_changed': 'A lead moved to another status',
  'lead.removed': 'A lead was removed: it is no longer listed and answers 404',
  'pipeline.created': 'A pipeline was created',
  'pipeline.updated': 'A pipeline changed, for example because it was completed',
  'agent.status_changed': 'An agent fails, is paused or works again; not sent for single tasks',
  [PING_TYPE]: 'A test message: nothing has happened',
}

/** Returns the `webhooks` section of the OpenAPI document, with one entry for each type of message. */
export function describeWebhooks(components: Components): Json {
  return Object.fromEntries(
    [...eventSchema.options, pingSchema].map((schema) => {
      const type = schema.shape.type.value
      return [type, { post: describeMessage(type, components.refer(schema, 'output')) }]
    }),
  )
}

function describeMessage(type: keyof typeof SUMMARIES, schema: Json): Json {
  return {
    operationId: `receive${pascalCase(type)}`,
    summary: SUMMARIES[type],
    ...(type === PING_TYPE ? { 'x-extension': true } : {}),
    tags: ['webhooks'],
    security: [],
    parameters: Object.keys(WEBHOOK_PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { $ref: '#/components/responses/WebhookTaken' },
      '410': { $ref: '#/components/responses/WebhookNotFound' },
      '429': { $ref: '#/components/responses/WebhookBusy' },
      '503': { $ref: '#/components/responses/WebhookBusy' },
      default: { $ref: '#/components/responses/WebhookFailed' },
    },
  }
}

/** Turns `lead.status_changed` into `LeadStatusChanged`. */
function pascalCase(type: string): string {
  return type.replace(/(?:^|[._])(\w)/g, (_, letter) => letter.toUpperCase())
}

function listOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** Writes a duration in the largest unit that gives a whole number, such as `5 min`. */
function duration(ms: number): string {
  const units = [
    [HOUR_MS, 'h'],
    [MINUTE_MS, 'min'],
  ] as const
  const unit = units.find(([length]) => ms % length === 0)
  return unit === undefined ? `${ms / SECOND_MS} s` : `${ms / unit[0]} ${unit[1]}`
}

/*
 * The schemas of the OpenAPI document. Zod converts them to JSON Schema. Each named schema is included once.
 */

export type Json = Record<string, unknown>

type Direction = 'input' | 'output'

/**
 * The named schemas of the OpenAPI document. A field with a default is optional in requests, but not in
 * answers. Requests and answers therefore have separate schemas. The name of a request's schema ends in
 * `Input` or `Create`.
 */
export class Components {
  readonly schemas: Record<string, Json> = {}

  /** Adds a schema and all schemas that it refers to. Returns a reference to the schema. */
  refer(schema: z.ZodType, direction: Direction): Json {
    const id = z.globalRegistry.get(schema)?.id
    if (id === undefined) throw new TypeError('a schema of the document has no id')
    // The schema is put into an array, because zod then lists the definition of the schema in `$defs`.
    const { $defs } = toSchema(z.array(schema), direction) as { $defs: Record<string, Json> }
    for (const [name, definition] of Object.entries($defs)) {
      this.schemas[componentName(name, direction)] = pointToComponents(definition, direction)
    }
    return { $ref: `#/components/schemas/${componentName(id, direction)}` }
  }
}

function componentName(id: string, direction: Direction): string {
  return direction === 'input' && !id.endsWith('Create') ? `${id}Input` : id
}

function pointToComponents(schema: Json, direction: Direction): Json {
  const text = JSON.stringify(schema, (key, value) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  )
  return JSON.parse(
    text.replace(/"#\/\$defs\/(\w+)"/g, (_, id) => `"#/components/schemas/${componentName(id, direction)}"`),
  )
}

/** Writes a zod schema as JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export function toSchema(schema: z.ZodType, direction: Direction): Json {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: direction,
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema),
  })
  return described
}

/** Removes useless parts. Only strict objects forbid unknown fields, because answers may gain fields. */
function tidy({ _zod: { def } }: z.core.$ZodTypes, schema: z.core.JSONSchema.BaseSchema): void {
  if (def.type === 'object' && def.catchall === undefined) delete schema.additionalProperties
  // The format says enough. Zod's pattern for it is half a page long.
  if (schema.format === 'date-time' || schema.format === 'email') delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}
