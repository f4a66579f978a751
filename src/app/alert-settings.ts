/** Prepares alerts (messages to operators about problems): the checks that open alerts, and the channels. */
import { hostname } from 'node:os'
import { createViolationWatch, type StoreFault } from '../checks/check.ts'
import type { Config } from '../config/config.ts'
import type { LeadsheetError } from '../errors.ts'
import type { AlertWebhook } from '../jobs/alerts/alert-webhook.ts'
import type { HeartbeatMonitor } from '../jobs/alerts/heartbeat-ping.ts'
import type { Poster } from '../jobs/alerts/http-post.ts'
import type { AlertDeps, AlertMailSettings } from '../jobs/alerts/run.ts'
import type { Log } from '../log.ts'
import type { Transport } from '../mail/transport.ts'
import { openAlertMail } from '../report/render/alert-mail.ts'
import { nameOf } from '../store/db/place.ts'
import type { Store } from '../store/db/store.ts'
import { ownFolder } from './configured-reports.ts'
import { installationOf } from './health-installation.ts'
import { storePlaceOf, TEMPLATES } from './installation.ts'

/** @throws LeadsheetError report_template if the template of alert mails has a mistake */
export async function openAlerts(
  config: Config,
  deps: {
    readonly store: Store
    /** Returns how many milliseconds our clock is ahead of the upstream's clock; null if this is unknown. */
    readonly clockAheadMs: () => number | null
    readonly clockDoubt: () => string | null
    readonly lastFault: () => StoreFault | null
    readonly snapshotFault: () => LeadsheetError | null
    readonly log: Log
    readonly poster: Poster
    readonly now: () => Date
    readonly transport: Pick<Transport, 'name'>
  },
): Promise<AlertDeps & AlertWebhook & HeartbeatMonitor> {
  const { alerts } = config
  return {
    ...deps,
    ...channelsOf(config),
    installation: { ...installationOf(config, deps.store), mailServer: deps.transport.name },
    knowledge: {
      clockAheadMs: deps.clockAheadMs,
      clockDoubt: deps.clockDoubt,
      lastFault: deps.lastFault,
      snapshotFault: deps.snapshotFault,
      findViolations: createViolationWatch(deps.store.db),
    },
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
