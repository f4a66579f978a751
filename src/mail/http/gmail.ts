/**
 * The Gmail API: the message is uploaded as it is.
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/send and
 * https://developers.google.com/workspace/gmail/api/guides/handle-errors
 */
import type { Vendor } from './vendor.ts'
import { textIn } from './vendor.ts'

export const GMAIL: Vendor = {
  // https://developers.google.com/workspace/gmail/api/guides/uploads: 36,700,160 bytes.
  maxBytes: 36_700_160,
  request: (_message, bytes, { user }) => ({
    path: `/upload/gmail/v1/users/${encodeURIComponent(user || 'me')}/messages/send?uploadType=media`,
    headers: { 'content-type': 'message/rfc822' },
    body: bytes,
  }),
  acceptedAs: ({ status, json }) => (status === 200 ? textIn(json, 'id') : null),
  rules: [
    { codes: /dailyLimitExceeded|quotaExceeded/, blame: 'sender' },
    { codes: /ateLimitExceeded| RESOURCE_EXHAUSTED$/, blame: 'busy' },
    { codes: /^4.. uploadTooLarge$/, blame: 'size' },
    { codes: /^400 /, words: /too large|exceeds.{0,40}size|size.{0,40}exceed/i, blame: 'size' },
    // The mailbox has no Gmail, or the service account may not act for it.
    { codes: /^400 (?:failedPrecondition|FAILED_PRECONDITION)$/, blame: 'setting' },
    { codes: /^400 /, words: /\bto header\b|recipient/i, blame: 'recipient' },
    { codes: /^400 /, words: /\bfrom header\b/i, blame: 'sender' },
  ],
  probePath: '/gmail/v1/users/me/profile',
  // A token that may only send mail may not read the profile.
  found: ({ status, code, words }) =>
    status === 200 || (status === 403 && /insufficient/i.test(`${code} ${words}`))
      ? 'takes the token; the first message shows whether it may send'
      : null,
}
