/**
 * Reads an event of Resend's webhook as a notification. Its events come at least once and in no order.
 * https://resend.com/docs/dashboard/webhooks/body-parameters
 */
import { z } from 'zod'
import { inOneLine } from './mime.ts'
import type { BounceReason, Notification, NotificationKind } from './notification.ts'
import { reasonOf, statusOf } from './reason.ts'

const words = z.object({
  type: z.string().optional(),
  subType: z.string().optional(),
  message: z.string().optional(),
  reason: z.string().optional(),
  diagnosticCode: z.array(z.string()).optional(),
})

const eventSchema = z.object({
  type: z.string(),
  created_at: z.string(),
  data: z.object({
    email_id: z.string(),
    to: z.array(z.string()).default([]),
    subject: z.string().default(''),
    /** An object, or an array of names and values: the documentation has both. */
    tags: z.unknown().optional(),
    bounce: words.optional(),
    failed: words.optional(),
    suppressed: words.optional(),
  }),
})

/** The kind of each event, and the reason of a bounce if it is always the same. */
const KINDS: Readonly<Record<string, readonly [NotificationKind, BounceReason?]>> = {
  'email.bounced': ['bounced'],
  // Resend itself did not send the message: for a limit of the account, or for its content.
  'email.failed': ['bounced', 'sender'],
  'email.suppressed': ['bounced', 'recipient'],
  'email.complained': ['complained'],
  'email.delivered': ['delivered'],
  'email.delivery_delayed': ['delayed'],
}

const SUBTYPES: Readonly<Record<string, BounceReason>> = {
  MailboxFull: 'full',
  MessageTooLarge: 'size',
  ContentRejected: 'message',
  AttachmentRejected: 'message',
}
const SAID_MAX = 300

/** Null for an event that says nothing about a message. */
export function readProviderEvent(body: unknown) {
  const { success, data: event } = eventSchema.safeParse(body)
  const [kind, reason] = (success && KINDS[event.type]) || []
  if (!success || kind === undefined) return null
  const { email_id: providerId, to, subject, tags, bounce, failed, suppressed } = event.data
  const about = bounce ?? failed ?? suppressed ?? {}
  const pair = Array.isArray(tags) ? tags.find((each) => Object(each).name === 'leadsheet') : undefined
  const tag: unknown = Object(pair).value ?? Object(tags).leadsheet
  const said = about.diagnosticCode?.[0] ?? about.message ?? about.reason ?? event.type
  const at = new Date(event.created_at)
  const notification: Notification = {
    kind,
    ids: typeof tag === 'string' ? [tag] : [],
    recipients: to.map((address) => /<([^<>]*)>\s*$/.exec(address)?.[1] ?? address).map(lowered),
    reason: kind === 'bounced' ? (reason ?? reasonIn(about)) : null,
    status: statusOf('', said),
    said: inOneLine(said.replace(/^smtp;/i, '')).slice(0, SAID_MAX),
    report: null,
    quoted: inOneLine(subject),
    at: Number.isNaN(at.getTime()) ? null : at.toISOString(),
  }
  // The answer with which the provider took the message has the id by which it knows it.
  return { providerId, notification }
}

const lowered = (address: string): string => address.trim().toLowerCase()

function reasonIn({ type, subType, diagnosticCode: [answer] = [] }: z.output<typeof words>): BounceReason {
  const known = SUBTYPES[subType ?? '']
  if (known !== undefined || type !== 'Permanent') return known ?? 'temporary'
  return answer === undefined ? 'recipient' : reasonOf(statusOf('', answer), answer)
}
