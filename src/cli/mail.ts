/** The mail settings, as the jobs and the transports take them. */
import type { MailConfig } from '../config/config.ts'
import type { Sender } from '../jobs/letter.ts'
import type { DkimKey } from '../mail/dkim.ts'

/** Of letters that are only looked at, where no sender is set. */
const NOBODY = 'leadsheet@localhost.invalid'

export function senderOf({ from, replyTo, unsubscribe }: MailConfig): Sender {
  const sender = from ?? NOBODY
  return { from: sender, replyTo, unsubscribe: { mailto: unsubscribe ?? replyTo ?? sender, url: null } }
}

export function dkimOf({ dkim }: MailConfig): DkimKey | null {
  return dkim && { domain: dkim.domain, selector: dkim.selector, privateKey: dkim.key.reveal() }
}
