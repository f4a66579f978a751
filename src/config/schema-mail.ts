/** The schema of the settings for the mail server, the messages, and the alerts to operators. */
import { z } from 'zod'
import { WEBHOOK_FORMATS } from '../domain/choices.ts'
import { readMailbox } from '../domain/mailbox.ts'
import { isMailApi, mailWayOf } from '../mail/mail-url.ts'
import { oauthSchemaOf } from './schema-login.ts'
import { Secret } from './secrets.ts'
import {
  alertUrlFault,
  bouncesUrlFault,
  listOf,
  mailbox,
  mailUrlFault,
  path,
  pattern,
  privateKeyFault,
  returnAddressFault,
  secret,
  section,
  setting,
  text,
  wholeNumber,
} from './validators.ts'

const dkimSchema = section({
  domain: setting(
    'Domain of the signature: the domain of the sender address.',
    pattern(
      /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i,
      'a domain, such as example.com',
    ),
    { examples: ['example.com'] },
  ),
  selector: setting(
    'Selector of the key. Your DNS must have the public key at SELECTOR._domainkey.DOMAIN.',
    pattern(/^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i, 'a selector, such as leadsheet'),
    { examples: ['leadsheet'] },
  ),
  key: setting(
    'The RSA private key in PEM, of 1024 bits or more. Keep it out of this file: see key_file.',
    // Mail servers ignore signatures with shorter keys (RFC 8301, section 3.2).
    secret('an RSA private key in PEM, of 1024 bits or more', (pem) => privateKeyFault(pem, ['rsa'], 1024)),
  ),
  key_file: setting('File that holds the private key, in place of key.', path.optional()),
})

const MAIL_URL = 'a URL with smtp://, smtps://, graph:, gmail:, ses://, resend:// or file:'

const bouncesSchema = section({
  url: setting(
    'The mailbox in which bounces arrive: imaps://user:password@host, with the name of a folder behind it if it is not INBOX, or file:./bounces, a folder of messages in the data directory. It is only read.',
    secret('a URL with imaps://, imap:// or file:', bouncesUrlFault, 'login').optional(),
    {
      env: 'LEADSHEET_MAIL_BOUNCES_URL',
      examples: ['imaps://reports%40example.com@imap.example.com', 'file:./bounces'],
    },
  ),
  url_file: setting('File that holds the URL, in place of url.', path.optional()),
  oauth: setting(
    'A login by OAuth 2.0 for the mailbox; mail.oauth if absent and url has no password.',
    oauthSchemaOf('MAIL_BOUNCES').optional(),
  ),
  address: setting(
    'Address to which mail servers return messages, the envelope sender; {id} stands for the id of the message. The sender if absent.',
    text('an e-mail address, with or without {id}', returnAddressFault).optional(),
    { examples: ['bounces+{id}@example.com'] },
  ),
  webhook_secret: setting(
    'Signing secret of the webhook by which the provider (resend:) tells of bounces.',
    secret('the signing secret, whsec_ with Base64 behind it', (value) =>
      /^whsec_[\w+/-]+=*$/.test(value) ? null : 'it is none',
    ).optional(),
    { env: 'LEADSHEET_MAIL_BOUNCES_WEBHOOK_SECRET' },
  ),
  webhook_secret_file: setting('File that holds the secret, in place of webhook_secret.', path.optional()),
})

export const mailSchema = section({
  url: setting(
    'How messages are sent: by a mail server (smtp://user:password@host:587, smtps://…), by the API of a provider (graph:, gmail:, ses://key-id:secret@host, resend://:key@host), or as .eml files into a folder of the data directory (file:./outbox). Characters such as @ or / in a password are percent-encoded.',
    secret(MAIL_URL, mailUrlFault, 'login').optional(),
    { env: 'LEADSHEET_MAIL_URL', examples: ['smtp://mail.example.com:587', 'file:./outbox'] },
  ),
  url_file: setting('File that holds the URL, in place of url.', path.optional()),
  oauth: setting(
    'A login by OAuth 2.0 for graph:, gmail: and mail servers, in place of the password in url.',
    oauthSchemaOf('MAIL').optional(),
  ),
  from: setting('Sender of the messages: an address, or a name with an address.', mailbox.optional(), {
    env: 'LEADSHEET_FROM',
    examples: ['Lead reports <reports@example.com>'],
  }),
  reply_to: setting(
    'Address for replies, and for what the unsubscribe button of mail programs writes; the sender if absent.',
    mailbox.optional(),
    { examples: ['sales-ops@example.com'] },
  ),
  max_mb: setting(
    'Size of the largest message as it is sent, in MB. Attachments that do not fit are left out, and the message says so.',
    wholeNumber(1, 100).default(20),
  ),
  per_minute: setting(
    'The most messages that are sent in a minute; the others wait. Many providers refuse faster senders.',
    wholeNumber(1, 100_000).default(120),
  ),
  suppress_after_bounces: setting(
    'A recipient is paused after their mail server has refused or returned this many issues in a row for good; 0 means never.',
    wholeNumber(0, 100).default(5),
  ),
  dkim: setting(
    'A DKIM signature for each message, where the mail server does not make one; none if absent.',
    dkimSchema.optional(),
  ),
  bounces: setting(
    'Where it is read which messages bounced, and who unsubscribes by mail.',
    bouncesSchema.prefault({}),
  ),
}).superRefine(refuseUnusable)

/** Refuses what does not go together with the way of sending. */
function refuseUnusable(
  mail: {
    readonly url: Secret | null
    readonly oauth: object | null
    readonly dkim: object | null
    readonly bounces: {
      readonly [Name in 'url' | 'oauth' | 'address' | 'webhookSecret']: object | string | null
    }
  },
  context: z.RefinementCtx,
): void {
  const refuse = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: name.split('.'), message })
  const { address, webhookSecret, ...mailbox } = mail.bounces
  const place = mailbox.url instanceof Secret ? new URL(mailbox.url.reveal()) : null
  const hasLogin = place?.protocol === 'file:' || (mailbox.oauth ?? mail.oauth) !== null
  if (place !== null && place.password === '' && !hasLogin)
    refuse('bounces.url', 'a password after the user, or a login in bounces.oauth')
  if (mail.url === null) return
  const url = new URL(mail.url.reveal())
  const { login } = mailWayOf(url) ?? { login: 'none' }
  if (mail.oauth === null && login === 'oauth') refuse('oauth', `a login, with ${url.protocol}`)
  if (mail.oauth !== null && login !== 'oauth') {
    if (login !== 'any') refuse('oauth', `none, with ${url.protocol}`)
    else if (url.password !== '') refuse('oauth', 'none, because mail.url has a password')
    else if (url.username === '') refuse('url', 'the user of the login before the host, with mail.oauth')
  }
  if (mail.dkim !== null && isMailApi(url)) refuse('dkim', `none, because ${url.protocol} signs messages`)
  if (address !== null && isMailApi(url) && url.protocol !== 'ses:')
    refuse('bounces.address', `none, because ${url.protocol} takes no envelope sender`)
  if (webhookSecret !== null && url.protocol !== 'resend:')
    refuse('bounces.webhook_secret', `none, with ${url.protocol}; resend: has such a webhook`)
}

const alertUrl = secret('a URL with https://, or http:// on this machine', alertUrlFault, 'address')

/** The address of an operator. A name is allowed and not used. */
const operator = mailbox.transform((value) => {
  const read = readMailbox(value)
  return 'fault' in read ? value : read.written
})

export const alertsSchema = section({
  recipients: setting(
    'Operators who get alerts by mail: failing syncs, waiting mail, a full disk and so on.',
    listOf(operator, 'a list of e-mail addresses').default([]),
    { env: 'LEADSHEET_ALERT_RECIPIENTS', examples: [['ops@example.com']] },
  ),
  webhook: setting(
    'A webhook that gets the alerts too, because mail cannot tell of a mail server that is down.',
    section({
      url: setting(
        'Address to which alerts are sent as JSON, by POST: https, or http on this machine.',
        alertUrl.optional(),
        { env: 'LEADSHEET_ALERT_WEBHOOK_URL', examples: ['https://hooks.example.com/leadsheet'] },
      ),
      url_file: setting('File that holds the URL, in place of url.', path.optional()),
      format: setting(
        'Format of the JSON: json (all that is known of the alert), slack or teams.',
        z.enum(WEBHOOK_FORMATS, { error: 'json, slack or teams' }).default('json'),
      ),
    })
      .transform(whereSet)
      .prefault({}),
  ),
  heartbeat: setting(
    'A heartbeat monitor, which raises the alarm when no sync succeeds any more.',
    section({
      url: setting(
        'Address of a check at healthchecks.io, or at a service with the same protocol. Each sync reports there its beginning and its outcome.',
        alertUrl.optional(),
        { env: 'LEADSHEET_ALERT_HEARTBEAT_URL', examples: ['https://hc-ping.com/your-uuid'] },
      ),
      url_file: setting('File that holds the URL, in place of url.', path.optional()),
    })
      .transform(whereSet)
      .prefault({}),
  ),
})

/** Returns the alert channel if its URL is set, otherwise null. */
function whereSet<T extends { readonly url: Secret | null }>(
  channel: T,
): (T & { readonly url: Secret }) | null {
  const { url } = channel
  return url === null ? null : { ...channel, url }
}
