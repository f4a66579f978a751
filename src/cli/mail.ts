/** The mail settings, as the jobs and the transports take them. */
import type { MailConfig } from '../config/config.ts'
import type { ReadyMail } from '../config/requirements.ts'
import type { DeliveryPolicy } from '../jobs/deliver.ts'
import type { Sender } from '../jobs/letter.ts'
import { createPace } from '../jobs/pace.ts'
import type { Log } from '../log.ts'
import type { DkimKey } from '../mail/dkim.ts'
import { openTransport, type Transport } from '../mail/transport.ts'

/** Of letters that are only looked at, where no sender is set. */
const NOBODY = 'leadsheet@localhost.invalid'

export function senderOf(
  { from, replyTo, unsubscribe }: MailConfig,
  pageOf: Sender['unsubscribe']['pageOf'],
): Sender {
  const sender = from ?? NOBODY
  return { from: sender, replyTo, unsubscribe: { mailto: unsubscribe ?? replyTo ?? sender, pageOf } }
}

/** To be closed. */
export function openMail(mail: ReadyMail, log: Log): Transport {
  return openTransport(mail.url.reveal(), { log, dkim: dkimOf(mail) })
}

export function dkimOf({ dkim }: MailConfig): DkimKey | null {
  return dkim && { domain: dkim.domain, selector: dkim.selector, privateKey: dkim.key.reveal() }
}

/** A folder takes letters as fast as they come. */
export function deliveryPolicyOf({ url, perMinute, inDoubt }: MailConfig): DeliveryPolicy {
  const isServer = url?.reveal().startsWith('smtp') ?? false
  return { inDoubt, pace: createPace(isServer ? perMinute : Number.POSITIVE_INFINITY) }
}
