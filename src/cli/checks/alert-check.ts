/** Checks how operators get alerts: the configured channels, and alerts that were not delivered. */

import { type CheckResult, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'
import { shellCommand } from '../../errors.ts'
import { listUnposted } from '../../store/alerts/alert-message.ts'
import { findHeartbeatPing } from '../../store/alerts/heartbeat-ping.ts'
import type { Db } from '../../store/db/store.ts'
import { formatInstant } from '../terminal/table.ts'

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
