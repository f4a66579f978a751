/** The settings as the program sees them: complete, checked, frozen. Paths are absolute, defaults filled in. */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { UnconfirmedPolicy, WebhookFormat } from '../domain/choices.ts'
import { addressOf, type ReportConfig, reportFrom } from './report-config.ts'
import { eventSecrets, type LogLevel, type Settings } from './schema.ts'
import { type ListenAddress, listenAddress } from './schema-web.ts'
import { Secret } from './secrets.ts'
import type { SettingPath } from './setting-path.ts'
import type { ProfileData } from './settings-file.ts'

export interface Config {
  /** The settings file; null when there is none. */
  readonly file: string | null
  readonly api: ApiConfig
  readonly dataDir: string
  /** postgres://; null for the file in `dataDir`. Secret, for it may hold a password. */
  readonly databaseUrl: Secret | null
  readonly allowNetworkFs: boolean
  readonly timeZone: string
  readonly logLevel: LogLevel
  readonly smtp: SmtpConfig
  readonly mail: MailConfig
  readonly web: WebConfig
  readonly alerts: AlertsConfig
  /** Secrets of webhooks that were registered by hand, one a line. */
  readonly events: { readonly secret: Secret | null }
  /** Addresses of those who get the reports that name none of their own. */
  readonly recipients: readonly string[]
  readonly locale: string
  /** Address with `{id}` in the place of a lead's id; null for no links. */
  readonly leadUrl: string | null
  /** Dates: `2026-12-25`. */
  readonly holidays: readonly string[]
  /** The folder may be missing. */
  readonly templatesDir: string
  /** Each due time begins up to so much later. */
  readonly jitterSeconds: number
  readonly sync: SyncConfig
  readonly enrichment: EnrichmentConfig
  readonly snapshot: SnapshotConfig
  readonly retention: RetentionConfig
  readonly reports: readonly ReportConfig[]
  /** Sentences about settings that are allowed but unwise. */
  readonly warnings: readonly string[]
  /** The origin of each setting that was given: `api.url` -> `leadsheet.yaml:3:8`. */
  readonly sources: Readonly<Record<string, string>>
}

export interface ApiConfig {
  readonly url: string | null
  readonly key: Secret | null
  /** The upstream's profile; null for the reference service. */
  readonly profile: ProfileData | null
  readonly pageSize: number
  readonly maxWaitSeconds: number
  readonly runMinutes: number
}

export interface SmtpConfig {
  /** smtp://, smtps:// or an absolute file: URL; secret, for it may hold a password. */
  readonly url: Secret | null
}

export interface MailConfig {
  readonly from: string | null
  readonly replyTo: string | null
  readonly unsubscribe: string | null
  /** The limit for a whole message, as it is sent. */
  readonly maxMb: number
  readonly perMinute: number
  readonly onUnconfirmed: UnconfirmedPolicy
  /** Issues in a row that are refused for good; 0 for never. */
  readonly suppressAfterBounces: number
  readonly dkim: DkimConfig | null
}

export interface DkimConfig {
  readonly domain: string
  readonly selector: string
  /** RSA, PEM. */
  readonly key: Secret
}

/** The recipients and channels of alerts, and when they are sent. */
export interface AlertsConfig {
  /** Addresses. */
  readonly recipients: readonly string[]
  /** Secret: whoever knows such an address can write there. */
  readonly webhook: { readonly url: Secret; readonly format: WebhookFormat } | null
  readonly heartbeat: { readonly url: Secret } | null
  readonly afterFailures: number
  readonly remindHours: number
}

export interface WebConfig {
  /** The address on which the daemon listens; null where it serves no pages. */
  readonly listen: ListenAddress | null
  /** `https://reports.example.com`; null where recipients have no pages. */
  readonly publicUrl: string | null
  /** Names to which the pages answer beside the usual ones. */
  readonly allowedHosts: readonly string[]
  /** Addresses, networks, or `loopback`, `linklocal`, `uniquelocal`. */
  readonly trustedProxies: readonly string[]
  /** The token with which operators sign in. */
  readonly token: Secret | null
}

export interface SyncConfig {
  /** Cron of five fields or words, in the top-level time zone. */
  readonly schedule: string
  readonly fullSchedule: string
  readonly overlapMinutes: number
  readonly pipelines: readonly string[]
}

export interface SnapshotConfig {
  /** `after_sync`, `never` or when by itself, in the top-level time zone. */
  readonly when: string
  readonly keep: number
}

/** Is null where no single leads are read. */
export type EnrichmentConfig = {
  /** The number of leads with the best scores that are read; null for all. */
  readonly top: number | null
  readonly perRun: number
  readonly concurrency: number
} | null

export interface RetentionConfig {
  readonly hourlyAfterDays: number
  readonly dailyAfterDays: number
  /** The years that past states are kept; null for ever. */
  readonly versionsYears: number | null
}

/**
 * Checked settings in the program's own terms.
 * @param baseOf the folder from which a setting's relative path counts
 * @param folder of the settings file
 */
export function configFrom(
  settings: Settings,
  profile: ProfileData | null,
  baseOf: (path: SettingPath) => string,
  folder: string,
): Omit<Config, 'file' | 'warnings' | 'sources'> {
  const { api, smtp, mail, sync } = settings
  const dataDir = resolve(baseOf(['data_dir']), settings.data_dir)
  return {
    api: {
      url: api.url ?? null,
      key: secret(api.key),
      profile,
      pageSize: api.page_size,
      maxWaitSeconds: api.max_wait_seconds,
      runMinutes: api.run_minutes,
    },
    dataDir,
    databaseUrl: secret(settings.database_url),
    allowNetworkFs: settings.allow_network_fs,
    timeZone: settings.time_zone,
    logLevel: settings.log_level,
    smtp: { url: secret(smtp.url && absoluteFileUrl(smtp.url, dataDir)) },
    mail: {
      from: mail.from ?? null,
      replyTo: mail.reply_to ?? null,
      unsubscribe: mail.unsubscribe ?? null,
      maxMb: mail.max_mb,
      perMinute: mail.per_minute,
      onUnconfirmed: mail.on_unconfirmed,
      suppressAfterBounces: mail.suppress_after_bounces,
      dkim: dkimFrom(mail.dkim),
    },
    alerts: alertsFrom(settings.alerts),
    web: webFrom(settings.web),
    events: { secret: secret(settings.events.secret) },
    recipients: settings.recipients.map(addressOf),
    locale: settings.locale,
    leadUrl: settings.lead_url ?? null,
    holidays: settings.holidays,
    templatesDir: resolve(baseOf(['templates_dir']), settings.templates_dir ?? join(folder, 'templates')),
    jitterSeconds: settings.jitter_seconds,
    sync: {
      schedule: sync.schedule,
      fullSchedule: sync.full_schedule,
      overlapMinutes: sync.overlap_minutes,
      pipelines: sync.pipelines,
    },
    enrichment: enrichmentFrom(settings.enrichment),
    snapshot: settings.snapshot,
    retention: {
      hourlyAfterDays: settings.retention.hourly_after_days,
      dailyAfterDays: settings.retention.daily_after_days,
      versionsYears: settings.retention.versions_years ?? null,
    },
    reports: settings.reports.map((report) => reportFrom(report, settings)),
  }
}

/** Says whether `when` is a schedule of its own. */
export function hasDueTimes({ when }: SnapshotConfig): boolean {
  return when !== 'after_sync' && when !== 'never'
}

function enrichmentFrom({ policy, top, per_run, concurrency }: Settings['enrichment']): EnrichmentConfig {
  if (policy === 'none') return null
  return { top: policy === 'top' ? top : null, perRun: per_run, concurrency }
}

function dkimFrom(dkim: Settings['mail']['dkim']): DkimConfig | null {
  return dkim === undefined
    ? null
    : { domain: dkim.domain, selector: dkim.selector, key: new Secret(dkim.key) }
}

function alertsFrom({ webhook, heartbeat, ...rest }: Settings['alerts']): AlertsConfig {
  return {
    recipients: rest.recipients,
    webhook: webhook.url === undefined ? null : { url: new Secret(webhook.url), format: webhook.format },
    heartbeat: heartbeat.url === undefined ? null : { url: new Secret(heartbeat.url) },
    afterFailures: rest.after_failures,
    remindHours: rest.remind_hours,
  }
}

function webFrom({ listen, public_url, allowed_hosts, trusted_proxies, token }: Settings['web']): WebConfig {
  return {
    listen: listenAddress(listen),
    publicUrl: public_url === undefined ? null : new URL(public_url).origin,
    allowedHosts: allowed_hosts,
    trustedProxies: trusted_proxies,
    token: secret(token),
  }
}

function secret(value: string | undefined): Secret | null {
  return value === undefined ? null : new Secret(value)
}

/**
 * `file:./outbox` names a folder in the data directory, which is always writable, as the folder of the settings need not
 * be. The URL standard would put it under the root.
 */
function absoluteFileUrl(url: string, dataDir: string): string {
  const relative = /^file:(?!\/\/)(.*)$/i.exec(url)?.[1]
  return relative === undefined ? url : pathToFileURL(resolve(dataDir, decodeURIComponent(relative))).href
}

/** The shortest part of an address that may be a secret; shorter ones are words. */
const SECRET_PART = 12

/** Every text of a configuration that must not get into a log. */
export function secretsOf({ api, databaseUrl, smtp, mail, alerts, web, events }: Config): string[] {
  const passwords = [databaseUrl, smtp.url].flatMap((url) => (url ? new URL(url.reveal()).password : []))
  const { webhook, heartbeat } = alerts
  const keys = [api.key, mail.dkim?.key, webhook?.url, heartbeat?.url, web.token].map(
    (key) => key?.reveal() ?? '',
  )
  const parts = [webhook?.url, heartbeat?.url].flatMap((url) =>
    url ? secretParts(new URL(url.reveal())) : [],
  )
  const found = [...keys, ...parts, ...eventSecrets(events.secret)]
  found.push(...passwords, ...passwords.map(decodeURIComponent))
  return found.filter((text) => text !== '')
}

/** Finds the parts of an address that may be secret, since errors name paths, or a part of them. */
function secretParts({ pathname, searchParams }: URL): string[] {
  return [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= SECRET_PART)
}
