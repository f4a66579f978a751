/**
 * Microsoft Graph. Its 202 says that the message was accepted, and not that it was sent.
 * https://learn.microsoft.com/graph/api/user-sendmail and https://learn.microsoft.com/graph/throttling
 */
import { parseMailbox } from '../message.ts'
import type { Vendor } from './vendor.ts'

export const GRAPH: Vendor = {
  // A request has at most 4 MB, and base64 makes four bytes of three.
  maxBytes: 3_000_000,
  request: (message, bytes, { user }) => ({
    path: `/v1.0/users/${encodeURIComponent(user || parseMailbox(message.from).address)}/sendMail`,
    headers: { 'content-type': 'text/plain' },
    body: Buffer.from(bytes.toString('base64')),
  }),
  acceptedAs: ({ status }) => (status === 202 ? '' : null),
  rules: [
    { codes: / ErrorInvalidRecipients$/, blame: 'recipient' },
    { codes: / (?:Error(?:MessageSize|ItemSize)Exceeded|RequestEntityTooLarge)$/i, blame: 'size' },
    {
      codes: /SendAs|SendOnBehalf|ExceededMessageLimit|QuotaExceeded|SubmissionBlocked|AccountSuspend/,
      blame: 'sender',
    },
    {
      codes: /AccessDenied|InvalidAuthenticationToken|NotEnabledForRESTAPI|ErrorInvalidUser|RequestDenied/,
      blame: 'setting',
    },
    {
      codes: /^(?:4..|503) (?:ApplicationThrottled|MailboxConcurrency|ErrorServerBusy|TooManyRequests)$/,
      blame: 'busy',
    },
  ],
  probePath: '/v1.0/me',
  // A token that may only send mail may not read the user (403), and one of an application has no user (400).
  found: ({ status }) =>
    [200, 400, 403].includes(status) ? 'takes the token; the first message shows whether it may send' : null,
}
