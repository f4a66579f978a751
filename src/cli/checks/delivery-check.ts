/** Checks the connection and login to a mail server. No message is sent. */

import { senderOf } from '../../app/configured-mail.ts'
import type { CheckResult } from '../../checks/check.ts'
import { attempt, fail, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'
import { errorText, shellCommand } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { DkimKey } from '../../mail/message.ts'
import { dnsRecordOf } from '../../mail/message.ts'
import { openTransport } from '../../mail/transport.ts'
import { findHeartbeatPing } from '../../store/alerts/alert.ts'
import { listUnposted } from '../../store/alerts/alert-message.ts'
import type { Db } from '../../store/db/store.ts'
import { formatInstant } from '../terminal/table.ts'

/** @param remedy the advice to print if the error has no hint */
export async function checkMailServer(
  url: string,
  remedy: string,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<CheckResult> {
  return attempt('mail', remedy, async () => {
    await using transport = openTransport(url, { log })
    await transport.verify(signal)
    return ok('mail', `${transport.name} lets us in`)
  })
}

/* Checks that the DNS has the DKIM key that receivers need to verify the signatures of mails. */

/** The type of `resolveTxt` in node:dns: each record is a list of its pieces. */
export type FindRecords = (name: string) => Promise<readonly (readonly string[])[]>

const NOTHING_THERE = ['ENOTFOUND', 'ENODATA']

export async function checkSignature(key: DkimKey, findRecords: FindRecords): Promise<CheckResult> {
  const { name, text } = dnsRecordOf(key)
  const remedy = `give the DNS this TXT record at ${name}: ${text}`
  try {
    const found = (await findRecords(name)).map((pieces) => pieces.join(''))
    if (found.some((record) => publicKeyIn(record) === publicKeyIn(text))) {
      return ok('signature', `${name} has the key`)
    }
    return fail('signature', `${name} has another key than mail.dkim`, remedy)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    return code !== undefined && NOTHING_THERE.includes(code)
      ? fail('signature', `the DNS has nothing at ${name}`, remedy)
      : warn('signature', `the DNS cannot be asked for ${name}: ${errorText(thrown)}`, `see that ${remedy}`)
  }
}

/** Returns the public key (`p`) of a DKIM record, without spaces (RFC 6376, section 3.6.1, ignores them). */
function publicKeyIn(record: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1]?.replace(/\s/g, '')
}

/* Checks how recipients can unsubscribe. Nothing is sent. */

export function checkUnsubscribe({ web, mail }: Pick<Config, 'web' | 'mail'>): CheckResult {
  const { publicUrl, listen } = web
  if (publicUrl === null) {
    return ok(
      'unsubscribing',
      `by a mail to ${senderOf(mail, null).unsubscribe.mailto}; web.public_url would give a link`,
    )
  }
  if (publicUrl.startsWith('http:')) {
    return warn(
      'unsubscribing',
      `${publicUrl} is only for this machine, so that mail programs show no button for it`,
      'set web.public_url to an https:// address that recipients reach',
    )
  }
  if (listen === null) {
    return fail(
      'unsubscribing',
      `mails lead to ${publicUrl}, but web.listen is none: no pages are served`,
      'give web.listen an address, or take web.public_url away',
    )
  }
  const signed = mail.dkim === null ? '; the mail server has to sign the mails for its button' : ''
  return ok('unsubscribing', `at ${publicUrl}, which has to lead to ${listen.host}:${listen.port}${signed}`)
}

/* Checks how operators get alerts: the configured channels, and alerts that were not delivered. */

const ALERTS_MAX = 20

export async function* checkAlertWays(
  db: Db,
  { alerts, smtp, reports }: Config,
): AsyncGenerator<CheckResult> {
  const { recipients, webhook, heartbeat } = alerts
  const ways = [
    recipients.length > 0 ? `mail to ${recipients.join(', ')}` : null,
    webhook === null ? null : `the webhook (${webhook.format})`,
    heartbeat === null ? null : 'the heartbeat monitor',
  ].filter((way) => way !== null)
  const list = new Intl.ListFormat('en').format(ways)
  if (ways.length > 0) yield ok('operators', `get alerts by ${list}; ${shellCommand('alerts test')} tries it`)
  // An installation that mails reports needs somebody who gets alerts.
  else if (smtp.url !== null && reports.some((report) => report.recipients.length > 0)) {
    yield warn(
      'operators',
      'nobody gets alerts',
      'set alerts.recipients (LEADSHEET_ALERT_RECIPIENTS), and alerts.webhook.url beside it',
    )
  }
  if (webhook !== null) yield* checkPosts(db)
  if (heartbeat !== null) yield* checkHeartbeat(db)
}

async function* checkPosts(db: Db): AsyncGenerator<CheckResult> {
  const [last, ...others] = await listUnposted(db, ALERTS_MAX)
  if (last === undefined) return
  const before = others.length === 0 ? '' : `, and ${others.length} before`
  const again = last.state === 'pending' ? 'it is tried again' : 'it was given up'
  yield warn(
    'webhook',
    `the alert of ${formatInstant(last.madeAt)}${before} did not go through: ${last.response ?? 'not tried yet'}; ${again}`,
    `check alerts.webhook.url; ${shellCommand('alerts test')} tries it`,
  )
}

async function* checkHeartbeat(db: Db): AsyncGenerator<CheckResult> {
  const ping = await findHeartbeatPing(db)
  if (ping?.nextAttemptAt == null) return
  yield warn(
    'heartbeat',
    `the heartbeat monitor does not know of the sync ${ping.runId}: ${ping.response ?? 'not tried yet'}`,
    `check alerts.heartbeat.url; ${shellCommand('alerts test')} tries it`,
  )
}
