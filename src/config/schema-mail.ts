/** The schema of the settings for the mail server, the messages, and the alerts to operators. */
import { z } from 'zod'
import { WEBHOOK_FORMATS } from '../domain/choices.ts'
import { readMailbox } from '../domain/mailbox.ts'
import type { Secret } from './secrets.ts'
import {
  alertUrlFault,
  dkimKeyFault,
  listOf,
  mailbox,
  mailUrlFault,
  path,
  pattern,
  secret,
  section,
  setting,
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
    secret('an RSA private key in PEM, of 1024 bits or more', dkimKeyFault),
  ),
  key_file: setting('File that holds the private key, in place of key.', path.optional()),
})

export const smtpSchema = section({
  url: setting(
    'The mail server: smtp://host:587, smtps://user:password@host, or file:./outbox for .eml files in a folder of the data directory. Characters such as @ or / in a password are percent-encoded.',
    secret('a URL with smtp://, smtps:// or file:', mailUrlFault, 'login').optional(),
    { env: 'LEADSHEET_SMTP_URL', examples: ['smtp://mail.example.com:587', 'file:./outbox'] },
  ),
  url_file: setting('File that holds the URL, in place of url.', path.optional()),
})

export const mailSchema = section({
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
    'A recipient is paused after their mail server has refused this many issues in a row for good; 0 means never.',
    wholeNumber(0, 100).default(5),
  ),
  dkim: setting(
    'A DKIM signature for each message, where the mail server does not make one; none if absent.',
    dkimSchema.optional(),
  ),
})

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
