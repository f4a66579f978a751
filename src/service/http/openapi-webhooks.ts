/** Describes webhooks in the OpenAPI document: each message, and what its receiver may rely on. */

import { z } from 'zod'
import type { EventType } from '../../contract/webhook.ts'
import {
  EVENT_VERSION,
  eventSchema,
  PING_TYPE,
  pingSchema,
  TOLERANCE_SECONDS,
} from '../../contract/webhook.ts'
import { BACKOFF, GIVE_UP } from '../../retry.ts'
import { TOTAL_MS } from '../webhooks/post.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The description of webhooks, in Markdown. */
export const WEBHOOK_WORDS = `Being told of events.

**Delivery.** Each event is POSTed, as a message, to each active webhook that is registered for its type. \
A message is taken when the answer is 2XX and comes within ${duration(TOTAL_MS)}; nobody reads its body. \
Anything else has failed, redirects too, which are not followed. A message that failed is sent again \
${listOf(BACKOFF.serviceWebhook.waitsMs.map(duration))} after the attempt before, each wait up to a tenth longer: \
${BACKOFF.serviceWebhook.waitsMs.length + 1} attempts, of which the first is made at once. A \`Retry-After\` with 429 or 503 is \
waited for, 24 h at most.

**At least once, in no order.** A message may come twice, since its answer may be lost, and a later one before \
an earlier one. \`webhook-id\` is the same for each attempt of a message: keep it, and do nothing for one that is known. \
A message names what has changed; its newest state is a GET away.

**Disabled webhooks.** Answering 410 disables a webhook at once (\`disabled_reason\` is \`gone\`); so do \
${GIVE_UP.serviceWebhook.days} days of failed attempts, with none between them that succeeded (\`failing\`). What waited for it \
then, and what happens until it is enabled, is never sent.

**Signature.** As the Standard Webhooks specification has it, so its libraries can check it. The key is what \
the part of the secret behind \`whsec_\` stands for in base64; signed is the text \
\`{webhook-id}.{webhook-timestamp}.{body}\`, the body byte for byte as it came; \`webhook-signature\` has \
\`v1,\` and the HMAC-SHA256 in base64. Several of them stand apart by a blank, and one that is right is enough. \
Compare in constant time, and refuse a \`webhook-timestamp\` that is more than ${duration(TOLERANCE_SECONDS * SECOND_MS)} \
from now.

**Secrets.** A webhook whose secret is rotated signs with the new one and the one before for 24 h.

**Versions.** \`version\` is that of the payload. Within version ${EVENT_VERSION} fields may be added, and \
values to those that are enumerated; none goes away or changes its meaning. New types of events may come; \
a webhook is sent only those that it is registered for.`

export const WEBHOOK_PARAMETERS: Json = {
  'webhook-id': {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'Of the message: the same for each attempt, by which one that comes twice is known.',
    schema: { type: 'string', pattern: '^msg_' },
  },
  'webhook-timestamp': {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'When this attempt was made, in seconds since 1970. It is signed.',
    schema: { type: 'integer' },
  },
  'webhook-signature': {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'One signature, or two apart by a blank for 24 h after the secret was rotated: `v1,` and base64.',
    schema: { type: 'string', pattern: '^v1,\\S+( v1,\\S+)*$' },
  },
}

export const WEBHOOK_RESPONSES: Json = {
  WebhookTaken: { description: 'The message is taken, and is not sent again.' },
  WebhookNotFound: { description: 'The webhook is disabled: it is sent nothing any more.' },
  WebhookBusy: {
    description:
      'The message is sent again, and nothing is sent before what `Retry-After` asks for has passed.',
    headers: {
      'Retry-After': {
        description: 'Seconds, or a date of HTTP; 24 h at most are waited.',
        schema: { type: 'string' },
      },
    },
  },
  WebhookFailed: { description: 'The message is sent again, as with no answer at all.' },
}

const SUMMARIES: Readonly<Record<EventType | typeof PING_TYPE, string>> = {
  'lead.created': 'A lead was discovered',
  'lead.updated': 'A lead changed in anything but its status',
  'lead.status_changed': 'A lead moved to another status',
  'lead.removed': 'A lead was removed: it is no longer listed and answers 404',
  'pipeline.created': 'A pipeline was created',
  'pipeline.updated': 'A pipeline changed, such as when it was completed',
  'agent.status_changed': 'An agent fails, is paused or works again; not sent for each task',
  [PING_TYPE]: 'Somebody tries the webhook: nothing has happened',
}

/** Returns the `webhooks` section, with one entry for each type of message. */
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

/** Writes a duration such as `5 min`, in the largest unit that gives a whole number. */
function duration(ms: number): string {
  const units = [
    [HOUR_MS, 'h'],
    [MINUTE_MS, 'min'],
  ] as const
  const unit = units.find(([length]) => ms % length === 0)
  return unit === undefined ? `${ms / SECOND_MS} s` : `${ms / unit[0]} ${unit[1]}`
}

/*
 * The schemas of the OpenAPI document. They are made with zod's JSON Schema, and each named schema is
 * included once.
 */

export type Json = Record<string, unknown>

type Direction = 'input' | 'output'

/**
 * The named schemas of the document. If a schema has another form as an input, because of defaults, that form
 * gets the suffix `Input`.
 */
export class Components {
  readonly schemas: Record<string, Json> = {}

  /** Adds a schema and all schemas that it refers to. Returns a reference to the schema. */
  refer(schema: z.ZodType, direction: Direction): Json {
    const id = z.globalRegistry.get(schema)?.id
    if (id === undefined) throw new TypeError('a schema of the document has no id')
    // Because the schema is inside an array, zod puts its definition among those that the array refers to.
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

/** Removes empty statements, and closes only strict objects, because an answer may gain fields. */
function tidy({ _zod: { def } }: z.core.$ZodTypes, schema: z.core.JSONSchema.BaseSchema): void {
  if (def.type === 'object' && def.catchall === undefined) delete schema.additionalProperties
  // The format is enough. Zod's pattern for the format is half a page long.
  if (schema.format === 'date-time' || schema.format === 'email') delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}
