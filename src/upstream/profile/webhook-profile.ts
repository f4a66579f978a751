/** The part of a profile about webhooks: how a request is verified, and where it has its values. */
import { z } from 'zod'
import { STANDARD_PREFIX, TOLERANCE_SECONDS } from '../../contract/webhook.ts'
import { fieldPathSchema } from '../values/json.ts'
import { fieldRuleSchema, placeSchema } from './field-rule.ts'
import { group } from './profile-mistakes.ts'

export const SIGNED_PARTS = ['body', 'timestamp', 'method', 'url'] as const
const SIGNED_HOLDS = `a text with {body}, and no others than ${SIGNED_PARTS.map((part) => `{${part}}`).join(', ')}`

const header = z.string().regex(/^[\w-]+$/, 'the name of a header')
const tolerance_seconds = z.int().min(1).max(86_400).default(TOLERANCE_SECONDS)

const verifySchema = z.discriminatedUnion('scheme', [
  /** https://www.standardwebhooks.com, where the prefix is `svix-` at some upstreams. */
  group({
    scheme: z.literal('standard'),
    header_prefix: header.default(STANDARD_PREFIX),
    tolerance_seconds,
  }),
  /** A header with an HMAC signature, as GitHub sends it: `X-Hub-Signature-256: sha256=<hex>`. */
  group({
    scheme: z.literal('hmac'),
    header,
    /** The text before the signature in the header, such as `sha256=`. */
    prefix: z.string().default(''),
    algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64']).default('hex'),
    key: z.enum(['text', 'hex', 'base64']).default('text'),
    /**
     * Must contain `{body}`, and `{timestamp}` if `timestamp_header` is set; may contain `{method}` and
     * `{url}`.
     */
    signed: z.string().refine(isSigned, SIGNED_HOLDS).default('{body}'),
    /**
     * Seconds or milliseconds since 1970, or an instant. Without it nobody sees that an old request was sent
     * again.
     */
    timestamp_header: header.optional(),
    tolerance_seconds,
  })
    .refine(
      ({ signed, timestamp_header }) => timestamp_header !== undefined || !signed.includes('{timestamp}'),
      {
        message: 'the header that holds {timestamp}, since it is signed',
        path: ['timestamp_header'],
      },
    )
    .refine(
      ({ signed, timestamp_header }) => timestamp_header === undefined || signed.includes('{timestamp}'),
      {
        message: 'a text with {timestamp}, as in {timestamp}{body}: a time that is not signed proves nothing',
        path: ['signed'],
      },
    ),
  /** A signature as Stripe sends it: `t=<seconds>,v1=<hex>`. The text `<seconds>.<body>` is signed. */
  group({
    scheme: z.literal('stripe'),
    header: header.default('Stripe-Signature'),
    tolerance_seconds,
  }),
  /** A secret text in a header, without a signature. */
  group({
    scheme: z.literal('token'),
    header: header.default('Authorization'),
    /** `{secret}` stands for the secret, `{basic}` for `user:password` in base64, as in HTTP Basic. */
    value: z
      .string()
      .regex(/\{(?:secret|basic)\}/, 'a text with {secret} or {basic}')
      .default('Bearer {secret}'),
  }),
  /** Accepts every request. Because anybody can send one, an event only says that a lead may have changed. */
  group({ scheme: z.literal('none') }),
])
export type WebhookVerify = z.output<typeof verifySchema>

export const webhookProfileSchema = group({
  verify: verifySchema,
  items: fieldPathSchema.optional(),
  /** Must stay the same when the event is sent again. Without a place, it is derived from the event. */
  id: placeSchema.optional(),
  type: placeSchema.optional(),
  time: placeSchema.optional(),
  /** The first id that is found counts: of the lead, the pipeline or the agent. */
  lead: fieldRuleSchema.optional(),
  pipeline: fieldRuleSchema.optional(),
  agent: fieldRuleSchema.optional(),
  deleted: z.array(z.string().min(1)).default([]),
})
  .refine(({ lead }) => lead !== undefined, {
    message: 'where the id of the lead is in an event',
    path: ['lead'],
  })
  .refine(({ verify, id }) => id === undefined || !('header' in id) || !isForgeable(id.header, verify), {
    message:
      'the place of the id in the event, or no id, which is then made of the event: the signature does not cover this header, and who sends a message again could give it another one',
    path: ['id'],
  })
export type WebhookProfile = z.output<typeof webhookProfileSchema>

function isSigned(signed: string): boolean {
  const parts = [...signed.matchAll(/\{(\w+)\}/g)].map(([, part]) => part)
  return parts.includes('body') && parts.every((part) => SIGNED_PARTS.some((known) => known === part))
}

/** A signed request could be sent again with such a header changed. */
function isForgeable(name: string, verify: WebhookVerify): boolean {
  if (verify.scheme === 'standard') return name.toLowerCase() !== `${verify.header_prefix}id`.toLowerCase()
  return verify.scheme === 'hmac' || verify.scheme === 'stripe'
}
