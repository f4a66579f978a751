/**
 * Amazon SES, API version 2. The message goes as it is, and a tag has its id, so that events name it.
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html and
 * https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html
 */
import { createHmac, hash } from 'node:crypto'
import type { MailApi } from '../mail-url.ts'
import { idOf, parseMailbox } from '../message.ts'
import type { ApiRequest, Vendor } from './vendor.ts'
import { textIn } from './vendor.ts'

export const SES: Vendor = {
  // https://docs.aws.amazon.com/ses/latest/dg/quotas.html: 40 MB, after the encoding of attachments.
  maxBytes: 40_000_000,
  request: (message, bytes, _api, returnAddress) => ({
    path: '/v2/email/outbound-emails',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(
      JSON.stringify({
        Content: { Raw: { Data: bytes.toString('base64') } },
        Destination: { ToAddresses: [parseMailbox(message.to).address] },
        ...(returnAddress !== null && { FeedbackForwardingEmailAddress: returnAddress }),
        EmailTags: [{ Name: 'leadsheet', Value: idOf(message.messageId) }],
      }),
    ),
  }),
  authorize: (request, api, now) => signed(request, api, now),
  acceptedAs: ({ status, json }) => (status === 200 ? textIn(json, 'MessageId') : null),
  rules: [
    { codes: /./, words: /message length|too (?:large|long)|exceeds.{0,40}size/i, blame: 'size' },
    { codes: /MailFromDomain|SendingPaused|AccountSuspended/, blame: 'sender' },
    { codes: /./, words: /not verified|account is paused|sending is (?:disabled|paused)/i, blame: 'sender' },
    { codes: /LimitExceeded|TooManyRequests|Throttling/, words: /daily|24.hour|quota/i, blame: 'sender' },
    { codes: /^4.. (?:LimitExceeded|TooManyRequests|Throttling)/, blame: 'busy' },
    {
      codes: /^4.. .*(?:Signature|ClientToken|ExpiredToken|AccessDenied|AuthenticationToken|OptIn)/,
      blame: 'setting',
    },
    { codes: /^200 /, words: /"SendingEnabled":\s*false/, blame: 'sender' },
  ],
  probePath: '/v2/email/account',
  found({ status, json, code }) {
    if (status === 403 && code.startsWith('AccessDenied'))
      return 'takes the key, which may not read the account (ses:GetAccount); the first message shows whether it may send'
    if (status !== 200 || json?.SendingEnabled !== true) return null
    const isSandbox = json.ProductionAccessEnabled === false
    return `lets us in, and the account may send${isSandbox ? ', from the sandbox to verified addresses alone' : ''}`
  },
}

/**
 * Returns the headers that sign a request, without a query, by AWS Signature Version 4.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signed(
  { path, headers, body }: ApiRequest,
  { origin, user, password, region }: Omit<MailApi, 'name'>,
  now: Date,
  service = 'ses',
): Record<'x-amz-date' | 'authorization', string> {
  const { host } = new URL(origin)
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const fields = Object.entries({ ...headers, host, 'x-amz-date': time }).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = fields.map(([name]) => name).join(';')
  const lines = fields.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}\n`).join('')
  const canonical = [body === null ? 'GET' : 'POST', path, '', lines, names, hash('sha256', body ?? '')].join(
    '\n',
  )
  const steps = [time.slice(0, 8), region, service, 'aws4_request']
  const scope = steps.join('/')
  const key = steps.reduce<string | Buffer>((key, step) => hmac(key, step).digest(), `AWS4${password}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, hash('sha256', canonical)].join('\n')).digest(
    'hex',
  )
  return {
    'x-amz-date': time,
    authorization: `AWS4-HMAC-SHA256 Credential=${user}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

function hmac(key: string | Buffer, text: string) {
  return createHmac('sha256', key).update(text)
}
