/** Prepares alerts (messages to operators about problems): the checks that open alerts, and the channels. */
import { hostname } from 'node:os'
import { createViolationWatch, type Knowledge } from '../checks/check.ts'
import type { Config } from '../config/config.ts'
import type { AlertWebhook } from '../jobs/alerts/alert-webhook.ts'
import type { HeartbeatMonitor } from '../jobs/alerts/heartbeat-ping.ts'
import type { AlertDeps, AlertMailSettings } from '../jobs/alerts/run.ts'
import type { Transport } from '../mail/transport.ts'
import { openAlertMail } from '../report/render/alert-mail.ts'
import { nameOf } from '../store/db/place.ts'
import { ownFolder } from './configured-reports.ts'
import { installationOf } from './health-installation.ts'
import { storePlaceOf, TEMPLATES } from './installation.ts'

/** @throws LeadsheetError report_template if the template of alert mails has a mistake */
export async function openAlerts(
  config: Config,
  deps: Omit<AlertWebhook, 'webhook'> & {
    readonly knowledge: Knowledge
    readonly transport: Pick<Transport, 'name'>
  },
): Promise<AlertDeps & AlertWebhook & HeartbeatMonitor> {
  const { alerts } = config
  return {
    ...deps,
    ...channelsOf(config),
    installation: { ...installationOf(config, deps.store), mailServer: deps.transport.name },
    knowledge: { ...deps.knowledge, findViolations: createViolationWatch(deps.store.db) },
    alerts: {
      mail: await alertMailOf(config),
      hasWebhook: alerts.webhook !== null,
      place: placeOf(config),
    },
  }
}

/** Returns the settings of all alert channels except mail. A channel that is not configured is null. */
export function channelsOf({ alerts: { webhook, heartbeat } }: Config) {
  return {
    webhook: webhook && { url: webhook.url.reveal(), format: webhook.format },
    heartbeat: heartbeat && { url: heartbeat.url.reveal() },
  }
}

/** Returns the mail settings of alerts; null if there are no recipients or no sender. */
export async function alertMailOf(config: Config): Promise<AlertMailSettings | null> {
  const { from, replyTo } = config.mail
  const { recipients } = config.alerts
  if (recipients.length === 0 || from === null) return null
  return { recipients, from, replyTo, render: await openAlertMail(TEMPLATES, ownFolder(config)) }
}

/** Returns the name of this machine and the place of its data: `server1, /var/lib/leadsheet`. */
export function placeOf({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): string {
  return `${hostname()}, ${databaseUrl === null ? dataDir : nameOf(storePlaceOf({ dataDir, databaseUrl }))}`
}
