/** Who is told of troubles, as the jobs take them. */
import { hostname } from 'node:os'
import type { Config } from '../config/config.ts'
import { createWatches } from '../jobs/find-troubles.ts'
import type { MailedOperators, NoticeDeps } from '../jobs/notify-operators.ts'
import type { PostDeps } from '../jobs/post-notices.ts'
import type { Log } from '../log.ts'
import type { Transport } from '../mail/transport.ts'
import type { Poster } from '../notify/post.ts'
import { openNoticeMessage } from '../report/render/notice-message.ts'
import { nameOf } from '../store/db/place.ts'
import type { Store } from '../store/db/store.ts'
import type { Source } from '../upstream/source.ts'
import { ownFolder } from './configured-reports.ts'
import { eventWayOf } from './health-installation.ts'
import { pathsIn, storePlaceOf, TEMPLATES } from './installation.ts'

/** @throws LeadsheetError report_template */
export async function openOperators(
  config: Config,
  deps: {
    readonly store: Store
    readonly source: Source
    readonly log: Log
    readonly poster: Poster
    readonly now: () => Date
    readonly transport: Pick<Transport, 'name'>
  },
): Promise<NoticeDeps & PostDeps> {
  const { alerts, reports, api, dataDir, snapshot } = config
  return {
    ...deps,
    ...channelsOf(config),
    watches: createWatches(),
    watched: {
      store: deps.store,
      reports: reports.map(({ name }) => name),
      runMinutes: api.runMinutes,
      snapshotAfterSync: snapshot.when === 'after_sync' ? pathsIn(dataDir).snapshot : null,
      events: eventWayOf(config),
      mailServer: deps.transport.name,
      settingsFile: config.file,
      clockAheadMs: deps.source.clockAheadMs,
    },
    operators: {
      mail: await mailedOperators(config),
      hasWebhook: alerts.webhook !== null,
      rules: alerts,
      place: placeOf(config),
    },
  }
}

/** The ways beside mail. */
export function channelsOf({ alerts: { webhook, heartbeat } }: Config): Pick<PostDeps, 'webhook' | 'ping'> {
  return {
    webhook: webhook && { url: webhook.url.reveal(), format: webhook.format },
    ping: heartbeat && { url: heartbeat.url.reveal() },
  }
}

/** Null where nobody is mailed, or nothing can be. */
export async function mailedOperators(config: Config): Promise<MailedOperators | null> {
  const { from, replyTo } = config.mail
  const { recipients } = config.alerts
  if (recipients.length === 0 || from === null) return null
  return { recipients, from, replyTo, render: await openNoticeMessage(TEMPLATES, ownFolder(config)) }
}

/** The machine that tells of it, and which installation it is. */
export function placeOf({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): string {
  return `${hostname()}, ${databaseUrl === null ? dataDir : nameOf(storePlaceOf({ dataDir, databaseUrl }))}`
}
