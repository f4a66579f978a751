/**
 * Resend, which makes the message itself, of the same parts as the MIME message. It recognises a request by its
 * key for 24 hours. https://resend.com/docs/api-reference/emails/send-email, /errors, and
 * https://resend.com/docs/dashboard/emails/idempotency-keys
 */
import type { Mailbox } from '../../domain/mailbox.ts'
import { contentOf, idOf } from '../message.ts'
import type { Vendor } from './vendor.ts'
import { objectIn, textIn } from './vendor.ts'

export const RESEND: Vendor = {
  // 40 MB after the encoding of attachments.
  maxBytes: 40_000_000,
  request(message) {
    const { from, to, replyTo, subject, text, html, headers } = contentOf(message)
    const json = {
      from: written(from),
      to: [written(to)],
      ...(replyTo && { reply_to: written(replyTo) }),
      subject,
      html,
      text,
      headers,
      attachments: message.files.map(({ name, contentType, content, cid }) => ({
        filename: name,
        content_type: contentType,
        content: Buffer.from(content).toString('base64'),
        ...(cid === null ? {} : { content_id: cid }),
      })),
      tags: [{ name: 'leadsheet', value: idOf(message.messageId) }],
    }
    const body = Buffer.from(JSON.stringify(json))
    return { path: '/emails', headers: { 'content-type': 'application/json' }, body }
  },
  acceptedAs: ({ status, json }) => (status === 200 ? textIn(json, 'id') : null),
  // An hour less than documented, because clocks differ.
  recognisesMs: 23 * 60 * 60_000,
  rules: [
    // Another attempt is under way, or was made with other content; nobody knows what became of it.
    { codes: / concurrent_idempotent_requests$/, blame: 'unclear' },
    { codes: / invalid_idempotent_request$/, blame: 'conflict' },
    { codes: / (?:daily|monthly)_quota_exceeded$/, blame: 'sender' },
    {
      codes: /./,
      words: /too large|(?:exceed|max|limit).{0,60}(?:size|MB\b)|size.{0,40}exceed/i,
      blame: 'size',
    },
    { codes: /^4.. /, words: /api key/i, blame: 'setting' },
    { codes: / invalid_from_address$/, blame: 'sender' },
    { codes: /^403 validation_error$/, blame: 'sender' },
    { codes: /^4(?:00|22) /, words: /[`'"]from[`'"]/, blame: 'sender' },
    { codes: /^4(?:00|22) /, words: /[`'"]to[`'"]/, blame: 'recipient' },
    { codes: /^409 resource_locked$/, blame: 'busy' },
  ],
  probePath: '/domains',
  found({ status, json, code }) {
    if (code === 'restricted_api_key' && status === 401)
      return 'takes the key, which may only send; the first message shows whether it may send as mail.from'
    if (status !== 200 || !Array.isArray(json?.data)) return null
    const names = json.data.map(objectIn).filter((one) => one?.status === 'verified')
    const verified = names.map((one) => textIn(one, 'name') ?? '').join(', ')
    return `takes the key, and has verified ${verified === '' ? 'no domain, so that it sends to its owner alone' : verified}`
  },
}

function written({ name, address }: Mailbox): string {
  if (name === '') return address
  const isPlain = /^[\p{L}\p{N}\p{M} '_-]+$/u.test(name)
  return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`
}
