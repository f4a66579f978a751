/** What `leadsheet doctor` says of notices: who is told, what is open, and what has not gone through. */

import type { Config } from '../../config/config.ts'
import { shellCommand } from '../../errors.ts'
import { factsOf } from '../../jobs/notice-reasons.ts'
import { listNotices } from '../../store/alerts/alert.ts'
import { listUnposted } from '../../store/alerts/alert-message.ts'
import { findPing } from '../../store/alerts/heartbeat-ping.ts'
import type { Db } from '../../store/db/store.ts'
import { type Check, ok, warn } from '../../upstream/checkup.ts'
import { formatInstant } from '../terminal/table.ts'

const NOTICES_MAX = 20

export async function* checkNotices(db: Db, { alerts, smtp, reports }: Config): AsyncGenerator<Check> {
  const { recipients, webhook, heartbeat } = alerts
  const ways = [
    recipients.length > 0 ? `mail to ${recipients.join(', ')}` : null,
    webhook === null ? null : `the webhook (${webhook.format})`,
    heartbeat === null ? null : 'the dead-man switch',
  ].filter((way) => way !== null)
  const list = new Intl.ListFormat('en').format(ways)
  if (ways.length > 0) yield ok('operators', `told by ${list}; ${shellCommand('alerts test')} tries it`)
  // Who only looks around needs nobody; who mails reports does.
  else if (smtp.url !== null && reports.some((report) => report.recipients.length > 0)) {
    yield warn(
      'operators',
      'nobody is told of troubles',
      'set alerts.recipients (LEADSHEET_ALERT_RECIPIENTS), and alerts.webhook.url beside it',
    )
  }
  if (webhook !== null) yield* checkPosts(db)
  if (heartbeat !== null) yield* checkPing(db)
  for (const { id, reason, subject, message, hint } of await listNotices(db, 'open', NOTICES_MAX)) {
    const about = subject === '' ? '' : ` · ${subject}`
    yield warn('trouble', `No. ${id}, ${factsOf(reason).title}${about}: ${message}`, hint)
  }
}

async function* checkPosts(db: Db): AsyncGenerator<Check> {
  const [last, ...others] = await listUnposted(db, NOTICES_MAX)
  if (last === undefined) return
  const before = others.length === 0 ? '' : `, and ${others.length} before`
  const again = last.state === 'pending' ? 'it is tried again' : 'it was given up'
  yield warn(
    'webhook',
    `the notice of ${formatInstant(last.madeAt)}${before} did not go through: ${last.response ?? 'not tried yet'}; ${again}`,
    `check alerts.webhook.url; ${shellCommand('alerts test')} tries it`,
  )
}

async function* checkPing(db: Db): AsyncGenerator<Check> {
  const ping = await findPing(db)
  if (ping?.nextAttemptAt == null) return
  yield warn(
    'ping',
    `the dead-man switch does not know of the sync ${ping.runId}: ${ping.response ?? 'not tried yet'}`,
    `check alerts.heartbeat.url; ${shellCommand('alerts test')} tries it`,
  )
}
