/** The part of a profile about webhooks: how a message is known to be the upstream's, and what stands where in it. */
import { z } from 'zod'
import { STANDARD_PREFIX, TOLERANCE_SECONDS } from '../../contract/standard-webhooks.ts'
import { fieldPathSchema } from '../values/field-path.ts'
import { fieldRuleSchema } from './field-rule.ts'

/** Parts of `signed`. */
export const SIGNED_PARTS = ['body', 'timestamp', 'method', 'url'] as const
const SIGNED_HOLDS = `a text with {body}, and no others than ${SIGNED_PARTS.map((part) => `{${part}}`).join(', ')}`

const header = z.string().regex(/^[\w-]+$/, 'the name of a header')
const tolerance_seconds = z.int().min(1).max(86_400).default(TOLERANCE_SECONDS)

const verifySchema = z.discriminatedUnion('scheme', [
  /** https://www.standardwebhooks.com: three headers behind a prefix, which is `svix-` for some. */
  z.strictObject({
    scheme: z.literal('standard'),
    header_prefix: header.default(STANDARD_PREFIX),
    tolerance_seconds,
  }),
  /** A header with an HMAC, as of GitHub: `X-Hub-Signature-256: sha256=<hex>`. */
  z
    .strictObject({
      scheme: z.literal('hmac'),
      header,
      /** What stands before the signature. */
      prefix: z.string().default(''),
      algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
      encoding: z.enum(['hex', 'base64']).default('hex'),
      /** How the secret is written down. */
      key: z.enum(['text', 'hex', 'base64']).default('text'),
      /** What is signed: `{body}`, with `{timestamp}` where it has a header, `{method}` and `{url}`. */
      signed: z.string().refine(isSigned, SIGNED_HOLDS).default('{body}'),
      /** Seconds or milliseconds since 1970, or an instant. Without it an old message cannot be told from a new one. */
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
  /** A header such as Stripe's: `t=<seconds>,v1=<hex>`, over `<seconds>.<body>`. */
  z.strictObject({
    scheme: z.literal('stripe'),
    header: header.default('Stripe-Signature'),
    tolerance_seconds,
  }),
  /** A text that both know, in a header. */
  z.strictObject({
    scheme: z.literal('token'),
    header: header.default('Authorization'),
    /** `{secret}` is the secret, `{basic}` its base64 for HTTP Basic: `user:password`. */
    value: z
      .string()
      .regex(/\{(?:secret|basic)\}/, 'a text with {secret} or {basic}')
      .default('Bearer {secret}'),
  }),
  /** Everybody who knows the address is believed: no more than that something may have changed. */
  z.strictObject({ scheme: z.literal('none') }),
])
export type WebhookVerify = z.output<typeof verifySchema>

/** Where a value stands in an event, or in a header of its message. */
const place = z.union([
  fieldPathSchema.transform((path) => ({ path })),
  z.strictObject({ header: z.string().min(1) }),
])

export const webhookProfileSchema = z
  .strictObject({
    verify: verifySchema,
    /** Where the events stand, if one message has several. */
    items: fieldPathSchema.optional(),
    /** The same whenever the event is sent again; made of the event if absent. */
    id: place.optional(),
    type: place.optional(),
    /** When it happened. */
    time: place.optional(),
    /** The ids of what it is about; the first that is there counts. */
    lead: fieldRuleSchema.optional(),
    pipeline: fieldRuleSchema.optional(),
    agent: fieldRuleSchema.optional(),
    /** The whole record of the lead as the list has it, which is then taken in place of asking for the lead. */
    record: fieldPathSchema.optional(),
    /** Types that say that the lead is gone. */
    removed: z.array(z.string().min(1)).default([]),
  })
  .refine(({ lead, record }) => lead !== undefined || record !== undefined, {
    message: 'where the id of the lead is in an event',
    path: ['lead'],
  })
  .refine(({ verify, id }) => id === undefined || !('header' in id) || !isForgeable(id.header, verify), {
    message:
      'the place of the id in the event, or no id, which is then made of the event: the signature does not cover this header, and who sends a message again could give it another one',
    path: ['id'],
  })
  .refine(({ verify, record }) => verify.scheme !== 'none' || record === undefined, {
    message: 'nothing where verify.scheme is none: what anybody can send is no record',
    path: ['record'],
  })
export type WebhookProfile = z.output<typeof webhookProfileSchema>

function isSigned(signed: string): boolean {
  const parts = [...signed.matchAll(/\{(\w+)\}/g)].map(([, part]) => part)
  return parts.includes('body') && parts.every((part) => SIGNED_PARTS.some((known) => known === part))
}

/** Whether who sends a signed message again may change this header of it. */
function isForgeable(name: string, verify: WebhookVerify): boolean {
  if (verify.scheme === 'standard') return name.toLowerCase() !== `${verify.header_prefix}id`.toLowerCase()
  return verify.scheme === 'hmac' || verify.scheme === 'stripe'
}
