/** The schema of the mail server, of messages, and of alerts to operators. */
import { z } from 'zod'
import { UNCONFIRMED_POLICIES, WEBHOOK_FORMATS } from '../domain/choices.ts'
import type { Secret } from './secrets.ts'
import {
  address,
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
  ).meta({ description: 'The domain that answers for the mails: that of the sender.' }),
  selector: pattern(/^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i, 'a selector, such as leadsheet').meta({
    description:
      'Which of the keys of the domain it is: the DNS has the public half at selector._domainkey.domain.',
  }),
  key: secret('an RSA private key in PEM, of 1024 bits or more', dkimKeyFault).meta({
    secret: true,
    description: 'The private key. Better kept out of this file: see key_file.',
  }),
  key_file: path.optional().meta({ description: 'File that holds the private key, in place of key.' }),
})

export const smtpSchema = section({
  url: secret('a URL with smtp://, smtps:// or file:', mailUrlFault)
    .optional()
    .meta({
      env: 'LEADSHEET_SMTP_URL',
      secret: 'login',
      description:
        'The mail server, or a folder that receives .eml files (file:./outbox is one in the data directory). A percent-encoded user and password may stand before the host.',
      examples: ['smtp://mail.example.com:587', 'file:./outbox'],
    }),
  url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
})

export const mailSchema = section({
  from: mailbox.optional().meta({
    env: 'LEADSHEET_FROM',
    description: 'Sender of the reports.',
    examples: ['Lead reports <reports@example.com>'],
  }),
  reply_to: mailbox.optional().meta({ description: 'Where answers go; to the sender if absent.' }),
  unsubscribe: mailbox.optional().meta({
    description:
      'Where the button of mail programs that ends a preference writes to; to reply_to or the sender if absent.',
  }),
  max_mb: wholeNumber(1, 100).default(20).meta({
    description:
      'The largest mail in MB, as it is sent; attachments that do not fit are left out, and the mail says so.',
  }),
  per_minute: wholeNumber(1, 100_000).default(120).meta({
    description:
      'Mails that the server is given within a minute at most; the rest follows in the next. Many providers refuse who is faster.',
  }),
  on_unconfirmed: z
    .enum(UNCONFIRMED_POLICIES, { error: UNCONFIRMED_POLICIES.join(' or ') })
    .default('resend')
    .meta({
      description:
        'What becomes of a mail whose connection was lost before the server confirmed it: resend (once more, under the same Message-ID) or hold (a person decides).',
    }),
  suppress_after_bounces: wholeNumber(0, 100).default(5).meta({
    description:
      'Issues in a row that a recipient’s server refuses for good until the recipient is paused; 0 for never.',
  }),
  dkim: dkimSchema.optional().meta({ description: 'A signature for each mail; none if absent.' }),
})

const alertUrl = secret('a URL with https://, or http:// on this machine', alertUrlFault)

export const alertsSchema = section({
  recipients: listOf(address, 'a list of e-mail addresses').default([]).meta({
    env: 'LEADSHEET_ALERT_RECIPIENTS',
    description: 'Who gets alerts by mail: failing syncs, waiting mail, a full disk and so on.',
  }),
  webhook: section({
    url: alertUrl.optional().meta({
      env: 'LEADSHEET_ALERT_WEBHOOK_URL',
      secret: true,
      description:
        'Where the same is posted as JSON, since a mail server that is away cannot tell of itself.',
      examples: ['https://hooks.example.com/leadsheet'],
    }),
    url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
    format: z
      .enum(WEBHOOK_FORMATS, { error: 'json, slack or teams' })
      .default('json')
      .meta({ description: 'How it is written: json (all that is known), slack or teams.' }),
  })
    .transform(whereSet)
    .prefault({})
    .meta({ description: 'The second way to tell operators.' }),
  heartbeat: section({
    url: alertUrl.optional().meta({
      env: 'LEADSHEET_ALERT_HEARTBEAT_URL',
      secret: true,
      description:
        'A dead-man switch that raises the alarm when no sync ends well any more: a check of healthchecks.io, or what speaks its protocol.',
      examples: ['https://hc-ping.com/your-uuid'],
    }),
    url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
  })
    .transform(whereSet)
    .prefault({})
    .meta({ description: 'Where each sync reports that it began and how it ended.' }),
  after_failures: wholeNumber(1, 100).default(3).meta({
    description: 'So many failures in a row are told, where one alone may pass by itself.',
  }),
  remind_hours: wholeNumber(1, 8760).default(24).meta({
    description: 'What is still open is told again after so many hours.',
  }),
})

/** A channel of alerts, or null where it has no address. */
function whereSet<T extends { readonly url: Secret | null }>(
  channel: T,
): (T & { readonly url: Secret }) | null {
  const { url } = channel
  return url === null ? null : { ...channel, url }
}
