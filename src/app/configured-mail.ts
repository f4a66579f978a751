/** Turns the mail settings into what the jobs and the transports need. */
import { pathToFileURL } from 'node:url'
import type { Config } from '../config/config.ts'
import { type MailSender, messageFor } from '../jobs/outbox/compose-message.ts'
import { createRateLimit } from '../jobs/outbox/rate-limit.ts'
import type { DeliveryPolicy } from '../jobs/outbox/send-batch.ts'
import type { Log } from '../log.ts'
import { buildMessage, type DkimKey, type LinkSubject, parseMailbox, signLink } from '../mail/message.ts'
import { openTransport, serverNameOf, type Transport } from '../mail/transport.ts'
import type { Store } from '../store/db/store.ts'
import { readOrCreateLinkKey } from '../store/reports/preference.ts'
import { preferencesUrl } from '../web/preferences.ts'
import { openOAuthOf, proxyOf } from './configured-login.ts'
import { pathsIn } from './installation.ts'

/** The sender that previews show if the settings name no sender. */
const NOBODY = 'leadsheet@localhost.invalid'

export function senderOf(
  { from, replyTo }: Config['mail'],
  pageOf: MailSender['unsubscribe']['pageOf'],
): MailSender {
  const sender = from ?? NOBODY
  return { from: sender, replyTo, unsubscribe: { mailto: replyTo ?? sender, pageOf } }
}

/**
 * Builds one message as a report would send it, because only building finds out whether the sender, the
 * recipients and the key make one. Nothing is sent.
 * @throws LeadsheetError config_invalid
 */
export async function tryMessage(config: Config): Promise<void> {
  const sender = senderOf(config.mail, null)
  const recipients = config.reports.flatMap((report) => report.recipients)
  for (const address of [...recipients.map((one) => one.address), ...config.alerts.recipients])
    parseMailbox(address)
  const [first] = recipients
  const at = new Date(0).toISOString()
  const message = messageFor(
    { installationId: 'test' },
    { report: 'test', period: { from: at, to: at }, renderedAt: at },
    first ?? { address: sender.from, name: null },
    { subject: 'test', html: '<p>test</p>', text: 'test', lang: config.locale, files: [], notAttached: '' },
    sender,
  )
  await buildMessage(message, dkimOf(config.mail))
}

/** Opens the mail transport; the caller closes it. Without a mail URL, messages go into the folder of the demo. */
export function openMail(config: Pick<Config, 'mail' | 'dataDir' | 'proxy'>, log: Log): Transport {
  const { url, oauth, bounces } = config.mail
  return openTransport(url?.reveal() ?? pathToFileURL(pathsIn(config.dataDir).outbox).href, {
    log,
    dkim: dkimOf(config.mail),
    tokens: oauth && openOAuthOf('mail.oauth', oauth, config, log),
    returnAddress: bounces.address,
    proxy: proxyOf(config),
  })
}

export function dkimOf({ dkim }: Config['mail']): DkimKey | null {
  return dkim && { domain: dkim.domain, selector: dkim.selector, privateKey: dkim.key.reveal() }
}

/** Mails that go into a folder have no rate limit. */
export function deliveryPolicyOf(config: Pick<Config, 'mail' | 'reports' | 'alerts'>): DeliveryPolicy {
  const server = config.mail.url && serverNameOf(config.mail.url.reveal())
  return {
    rateLimit: createRateLimit(server === null ? Number.POSITIVE_INFINITY : config.mail.perMinute),
    isRecipient: isRecipientIn(config),
  }
}

function isRecipientIn({
  reports,
  alerts,
}: Pick<Config, 'reports' | 'alerts'>): DeliveryPolicy['isRecipient'] {
  const keyOf = (address: string, report: string | null) => JSON.stringify([address.toLowerCase(), report])
  const known = new Set([
    ...reports.flatMap(({ name, recipients }) => recipients.map(({ address }) => keyOf(address, name))),
    ...alerts.recipients.map((address) => keyOf(address, null)),
  ])
  return (address, report) => known.has(keyOf(address, report))
}

/** Null if `publicUrl` is not set. */
export async function preferenceLinks(
  { web: { publicUrl } }: Pick<Config, 'web'>,
  store: Store,
): Promise<((subject: LinkSubject) => string) | null> {
  if (publicUrl === null) return null
  const key = await readOrCreateLinkKey(store, new Date())
  return (subject) => preferencesUrl(publicUrl, signLink(key, subject))
}
