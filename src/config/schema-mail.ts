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
  wholeNumber,
} from './validators.ts'

const dkimSchema = section({
  domain: pattern(
    /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i,
    'a domain, such as example.com',
  ).meta({
    description: 'Domain of the signature: the domain of the sender address.',
    examples: ['example.com'],
  }),
  selector: pattern(/^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i, 'a selector, such as leadsheet').meta({
    description: 'Selector of the key. Your DNS must have the public key at SELECTOR._domainkey.DOMAIN.',
    examples: ['leadsheet'],
  }),
  key: secret('an RSA private key in PEM, of 1024 bits or more', dkimKeyFault).meta({
    description: 'The RSA private key in PEM, of 1024 bits or more. Keep it out of this file: see key_file.',
  }),
  key_file: path.optional().meta({ description: 'File that holds the private key, in place of key.' }),
})

export const smtpSchema = section({
  url: secret('a URL with smtp://, smtps:// or file:', mailUrlFault, 'login')
    .optional()
    .meta({
      env: 'LEADSHEET_SMTP_URL',
      description:
        'The mail server: smtp://host:587, smtps://user:password@host, or file:./outbox for .eml files in a folder of the data directory. Characters such as @ or / in a password are percent-encoded.',
      examples: ['smtp://mail.example.com:587', 'file:./outbox'],
    }),
  url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
})

export const mailSchema = section({
  from: mailbox.optional().meta({
    env: 'LEADSHEET_FROM',
    description: 'Sender of the messages: an address, or a name with an address.',
    examples: ['Lead reports <reports@example.com>'],
  }),
  reply_to: mailbox.optional().meta({
    description:
      'Address for replies, and for what the unsubscribe button of mail programs writes; the sender if absent.',
    examples: ['sales-ops@example.com'],
  }),
  max_mb: wholeNumber(1, 100).default(20).meta({
    description:
      'Size of the largest message as it is sent, in MB. Attachments that do not fit are left out, and the message says so.',
  }),
  per_minute: wholeNumber(1, 100_000).default(120).meta({
    description:
      'The most messages that are sent in a minute; the others wait. Many providers refuse faster senders.',
  }),
  suppress_after_bounces: wholeNumber(0, 100).default(5).meta({
    description:
      'A recipient is paused after their mail server has refused this many issues in a row for good; 0 means never.',
  }),
  dkim: dkimSchema.optional().meta({
    description:
      'A DKIM signature for each message, where the mail server does not make one; none if absent.',
  }),
})

const alertUrl = secret('a URL with https://, or http:// on this machine', alertUrlFault, 'address')

/** The address of an operator. A name is allowed and not used. */
const operator = mailbox.transform((value) => {
  const read = readMailbox(value)
  return 'fault' in read ? value : read.written
})

export const alertsSchema = section({
  recipients: listOf(operator, 'a list of e-mail addresses')
    .default([])
    .meta({
      env: 'LEADSHEET_ALERT_RECIPIENTS',
      description: 'Operators who get alerts by mail: failing syncs, waiting mail, a full disk and so on.',
      examples: [['ops@example.com']],
    }),
  webhook: section({
    url: alertUrl.optional().meta({
      env: 'LEADSHEET_ALERT_WEBHOOK_URL',
      description: 'Address to which alerts are sent as JSON, by POST: https, or http on this machine.',
      examples: ['https://hooks.example.com/leadsheet'],
    }),
    url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
    format: z
      .enum(WEBHOOK_FORMATS, { error: 'json, slack or teams' })
      .default('json')
      .meta({ description: 'Format of the JSON: json (all that is known of the alert), slack or teams.' }),
  })
    .transform(whereSet)
    .prefault({})
    .meta({
      description:
        'A webhook that gets the alerts too, because mail cannot tell of a mail server that is down.',
    }),
  heartbeat: section({
    url: alertUrl.optional().meta({
      env: 'LEADSHEET_ALERT_HEARTBEAT_URL',
      description:
        'Address of a check at healthchecks.io, or at a service with the same protocol. Each sync reports there its beginning and its outcome.',
      examples: ['https://hc-ping.com/your-uuid'],
    }),
    url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
  })
    .transform(whereSet)
    .prefault({})
    .meta({ description: 'A heartbeat monitor, which raises the alarm when no sync succeeds any more.' }),
})

/** Returns the alert channel if its URL is set, otherwise null. */
function whereSet<T extends { readonly url: Secret | null }>(
  channel: T,
): (T & { readonly url: Secret }) | null {
  const { url } = channel
  return url === null ? null : { ...channel, url }
}
