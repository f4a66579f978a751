/**
 * The settings as the program uses them: complete, checked, frozen. Paths are absolute, defaults filled in.
 */
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
  /** A postgres:// URL; null for the file in `dataDir`. It is secret, because it may hold a password. */
  readonly databaseUrl: Secret | null
  readonly allowNetworkFs: boolean
  readonly timeZone: string
  readonly logLevel: LogLevel
  readonly smtp: SmtpConfig
  readonly mail: MailConfig
  readonly web: WebConfig
  readonly alerts: AlertsConfig
  /** The secrets of webhooks that were registered by hand, one a line. */
  readonly events: { readonly secret: Secret | null }
  /** The addresses of the recipients of reports that name none of their own. */
  readonly recipients: readonly string[]
  readonly locale: string
  /** An address with `{id}` in place of a lead's id; null for no links. */
  readonly leadUrl: string | null
  /** Dates such as `2026-12-25`. */
  readonly holidays: readonly string[]
  /** The folder of templates, which may be missing. */
  readonly templatesDir: string
  /** The longest delay of a due time. */
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
  /** An smtp://, smtps:// or absolute file: URL. It is secret, because it may hold a password. */
  readonly url: Secret | null
}

export interface MailConfig {
  readonly from: string | null
  readonly replyTo: string | null
  readonly unsubscribe: string | null
  /** The limit of a whole message as sent, in MB. */
  readonly maxMb: number
  readonly perMinute: number
  readonly onUnconfirmed: UnconfirmedPolicy
  /** The number of issues in a row that are refused for good until a recipient is paused; 0 for never. */
  readonly suppressAfterBounces: number
  readonly dkim: DkimConfig | null
}

interface DkimConfig {
  readonly domain: string
  readonly selector: string
  /** The RSA key in PEM. */
  readonly key: Secret
}

/** The recipients and channels of alerts, and when they are sent. */
interface AlertsConfig {
  /** The addresses of operators. */
  readonly recipients: readonly string[]
  /** The webhook of alerts. Its URL is secret, because anyone who knows it can write there. */
  readonly webhook: { readonly url: Secret; readonly format: WebhookFormat } | null
  readonly heartbeat: { readonly url: Secret } | null
  readonly afterFailures: number
  readonly remindHours: number
}

interface WebConfig {
  /** The address on which the daemon listens; null where it serves no pages. */
  readonly listen: ListenAddress | null
  /** The public address, such as `https://reports.example.com`; null where recipients have no pages. */
  readonly publicUrl: string | null
  /** Further names to which the pages answer, beside the usual ones. */
  readonly allowedHosts: readonly string[]
  /** Addresses, networks, or `loopback`, `linklocal`, `uniquelocal`. */
  readonly trustedProxies: readonly string[]
  /** The token with which operators sign in. */
  readonly token: Secret | null
}

interface SyncConfig {
  /** A cron expression of five fields, or words, in the top-level time zone. */
  readonly schedule: string
  readonly fullSchedule: string
  readonly overlapMinutes: number
  readonly pipelines: readonly string[]
}

interface SnapshotConfig {
  /** `after_sync`, `never`, or a schedule in the top-level time zone. */
  readonly when: string
  readonly keep: number
}

/** The settings of enrichment; null where no single leads are read. */
type EnrichmentConfig = {
  /**
   * Details are requested only for this many leads with the best scores; null for no such limit (policy
   * `changed`).
   */
  readonly top: number | null
  readonly perRun: number
  readonly concurrency: number
} | null

interface RetentionConfig {
  readonly hourlyAfterDays: number
  readonly dailyAfterDays: number
  /** The years that past states are kept; null for ever. */
  readonly versionsYears: number | null
}

/**
 * Converts checked settings to the program's own terms.
 * @param baseOf the folder to which a setting's relative path belongs
 * @param folder the folder of the settings file
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

/** Whether the snapshot has a schedule of its own. */
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
 * Makes a file: URL absolute. `file:./outbox` names a folder in the data directory, which is always writable;
 * the URL standard would put it under the root.
 */
function absoluteFileUrl(url: string, dataDir: string): string {
  const relative = /^file:(?!\/\/)(.*)$/i.exec(url)?.[1]
  return relative === undefined ? url : pathToFileURL(resolve(dataDir, decodeURIComponent(relative))).href
}

/** The shortest part of an address that may be a secret; shorter parts are words. */
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

/** Finds the parts of an address that may be secret, because errors may quote parts of a path. */
function secretParts({ pathname, searchParams }: URL): string[] {
  return [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= SECRET_PART)
}
