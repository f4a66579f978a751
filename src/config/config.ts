/**
 * The settings as the program uses them: complete, checked, frozen, with absolute paths. Describes them for
 * people with their origins, and names those that a command needs and that are not set.
 */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { nameOf, placeOf } from '../store/db/place.ts'
import { variablesFor } from './environment.ts'
import { addressOf, filterText, reportFrom } from './report-config.ts'
import type { Settings } from './schema.ts'
import { schemaAt, settingsIn } from './schema.ts'
import { linesOf, listenText } from './schema-web.ts'
import type { SecretKind } from './secrets.ts'
import { Secret } from './secrets.ts'
import type { SettingPath } from './setting-path.ts'
import { pathText, valueAt } from './setting-path.ts'
import type { ProfileData } from './settings-file.ts'
import { DEFAULT_FILE } from './settings-file.ts'

export interface Config extends ReturnType<typeof configFrom> {
  /** The settings file; null when there is none. */
  readonly file: string | null
  /** Sentences about settings that are allowed but unwise. */
  readonly warnings: readonly string[]
  /** The place of each setting that was given, by its name: `api.url` -> `leadsheet.yaml:3:8`. */
  readonly sources: Readonly<Record<string, string>>
}

/**
 * Completes checked settings.
 * @param profile the upstream's profile; null for the reference service
 * @param baseOf the folder to which the relative path in a setting belongs
 * @param folder the folder of the settings file
 */
export function configFrom(
  settings: Settings,
  profile: ProfileData | null,
  baseOf: (name: 'dataDir' | 'templatesDir') => string,
  folder: string,
) {
  const { api, smtp, recipients, templatesDir } = settings
  const dataDir = resolve(baseOf('dataDir'), settings.dataDir)
  return {
    ...settings,
    api: { ...api, profile },
    dataDir,
    smtp: { url: smtp.url && new Secret(absoluteFileUrl(smtp.url.reveal(), dataDir)) },
    /** The addresses that get the reports without recipients of their own. */
    recipients: recipients.map(addressOf),
    /** The installation's folder of templates. The folder may not exist. */
    templatesDir: resolve(baseOf('templatesDir'), templatesDir ?? join(folder, 'templates')),
    reports: settings.reports.map((report) => reportFrom(report, settings)),
  }
}

/** Returns whether the snapshot has its own schedule. */
export function hasDueTimes({ when }: Config['snapshot']): boolean {
  return when !== 'after_sync' && when !== 'never'
}

/**
 * Makes a file: URL absolute. `file:./outbox` names a folder in the data directory, which is always writable;
 * the URL standard would put it under the root.
 */
function absoluteFileUrl(url: string, dataDir: string): string {
  const relative = /^file:(?!\/\/)(.*)$/i.exec(url)?.[1]
  return relative === undefined ? url : pathToFileURL(resolve(dataDir, decodeURIComponent(relative))).href
}

/** Returns every text in the settings that must not appear in a log. */
export function secretsOf(config: Config): string[] {
  const found = [...settingsIn(config)].flatMap(([path, value]) =>
    value instanceof Secret ? SECRET_TEXTS[schemaAt(path)?.secret ?? 'whole'](value.reveal()) : [],
  )
  return found.filter((text) => text !== '')
}

/**
 * The least number of characters that makes a part of an address a secret. Shorter parts are ordinary words.
 */
const SECRET_PART = 12

const SECRET_TEXTS: Readonly<Record<SecretKind, (value: string) => string[]>> = {
  whole: (value) => [value],
  lines: linesOf,
  login: (value) => {
    const { password } = new URL(value)
    return [password, decodeURIComponent(password)]
  },
  // The parts are hidden one by one, because errors may quote only a part of an address.
  address: (value) => {
    const { pathname, searchParams } = new URL(value)
    const parts = [...pathname.split('/'), ...searchParams.values()]
    return [value, ...parts.filter((part) => part.length >= SECRET_PART)]
  },
}

interface EffectiveSetting {
  /** The name as in the settings file, such as `api.page_size`. */
  readonly setting: string
  /** The value, with secrets redacted; null if the setting is not set and has no default. */
  readonly value: unknown
  /**
   * The place where the value was given, or `default`, `not set`, or a text such as `as recipients` if a
   * report uses the top-level setting.
   */
  readonly source: string
}

export function effectiveSettings(config: Config): EffectiveSetting[] {
  const { file: _file, warnings: _warnings, sources, api, enrichment, web, reports, ...rest } = config
  // The profile is a document of its own, so only its place is shown.
  const settings = {
    api: { ...api, profile: api.profile?.origin ?? null },
    ...rest,
    enrichment: shownEnrichment(enrichment),
    web: { ...web, listen: listenText(web.listen) },
    reports: reports.map(({ recipients, filter, ...report }) => ({
      ...report,
      filter: filterText(filter),
      recipients: recipients.map(({ address }) => address),
    })),
  }
  return [...settingsIn(settings)].map(([path, value]) => {
    const setting = pathText(path)
    return {
      setting,
      value: value instanceof Secret ? redacted(path, value) : value,
      source:
        sources[setting] ?? sources[olderName(path)] ?? (value === null ? 'not set' : inheritedFrom(path)),
    }
  })
}

function shownEnrichment(enrichment: Config['enrichment']) {
  if (enrichment === null) return { policy: 'none' }
  return { policy: enrichment.top === null ? 'changed' : 'top', ...enrichment }
}

/**
 * Returns the names of the settings whose values differ. Secrets are compared too. A setting with parts, such
 * as a filter, counts as one setting.
 */
export function changedSettings(before: Config, after: Config): string[] {
  const [old, anew] = [comparable(before), comparable(after)]
  return [...new Set([...old.keys(), ...anew.keys()])].filter((name) => old.get(name) !== anew.get(name))
}

/**
 * Returns the values as texts, by the names of the settings. The texts hold secrets and must never be shown.
 */
function comparable({ file: _file, warnings: _warnings, sources: _sources, ...settings }: Config) {
  const asText = (value: unknown) => (value instanceof Secret ? value.reveal() : JSON.stringify(value))
  return new Map([...settingsIn(settings)].map(([path, value]) => [pathText(path), asText(value)]))
}

/**
 * Hides a secret. Addresses of the database and the mail server lose only their login, because operators need
 * the rest to find a fault.
 */
function redacted(path: SettingPath, secret: Secret): string {
  if (schemaAt(path)?.secret !== 'login') return secret.toString()
  const url = new URL(secret.reveal())
  if (url.protocol.startsWith('postgres')) return nameOf(placeOf(secret.reveal()))
  if (url.protocol === 'file:') return url.href
  return `${url.protocol}//${url.username ? `${secret}@` : ''}${url.host}`
}

/**
 * Returns the name of the older setting `pipelines`, in which a report's filter may have been given; empty
 * for other settings.
 */
function olderName(path: SettingPath): string {
  return path.at(-1) === 'filter' ? pathText([...path.slice(0, -1), 'pipelines']) : ''
}

function inheritedFrom(path: SettingPath): string {
  const name = path.slice(-1)
  const isInherited = path[0] === 'reports' && schemaAt(name) !== undefined
  return isInherited ? `as ${pathText(name)}` : 'default'
}

type ReadyApi = Config['api'] & {
  readonly url: string
  /** The API key; null only if the upstream needs no key. */
  readonly key: Secret | null
}

export type ReadyMail = Config['mail'] & {
  readonly url: Secret
  readonly from: string
}

/**
 * @param needsKey false if the profile says that the upstream needs no key
 * @throws LeadsheetError config_missing
 */
export function requireApi(config: Config, needsKey = true): ReadyApi {
  const { url } = config.api
  const lacking = missingApi(config, needsKey)
  if (url === null || lacking.length > 0) throw missing(lacking, config)
  return { ...config.api, url }
}

/** @throws LeadsheetError config_missing */
export function requireMail(config: Config): ReadyMail {
  const { url } = config.smtp
  const { from } = config.mail
  if (url === null || from === null) throw missing(missingMail(config), config)
  return { ...config.mail, url, from }
}

/**
 * Requires all settings of the daemon at once. Without reports and without recipients of alerts, the daemon
 * only keeps the local copy up to date and needs no mail settings.
 * @throws LeadsheetError config_missing
 */
export function requireDaemon(
  config: Config,
  needsKey = true,
): { readonly api: ReadyApi; readonly mail: ReadyMail | null } {
  const lacking = missingForDaemon(config, needsKey)
  if (lacking.length > 0) throw missing(lacking, config)
  return { api: requireApi(config, needsKey), mail: isMailed(config) ? requireMail(config) : null }
}

/**
 * Refuses an installation without any settings, so that a command in a wrong folder reports only that.
 * @throws LeadsheetError config_missing
 */
export function requireSettings(config: Config, needsKey = true): void {
  if (config.file === null && config.api.url === null)
    throw missing(missingForDaemon(config, needsKey), config)
}

/** Names the settings that `leadsheet run` misses; null if none is missing. */
export function lackOfDaemon(config: Config, needsKey = true): string | null {
  const lacking = missingForDaemon(config, needsKey)
  return lacking.length === 0 ? null : notSet(lacking)
}

function isMailed({ reports, alerts }: Config): boolean {
  return reports.length + alerts.recipients.length > 0
}

const MAIL_PATHS: readonly SettingPath[] = [
  ['smtp', 'url'],
  ['mail', 'from'],
]

function missingForDaemon(config: Config, needsKey: boolean): SettingPath[] {
  return [
    ...missingApi(config, needsKey),
    ...(isMailed(config) ? missingMail(config) : []),
    ...(config.reports.some((report) => report.recipients.length === 0) ? [['recipients']] : []),
  ]
}

function missingApi({ api }: Config, needsKey: boolean): SettingPath[] {
  return (needsKey ? ['url', 'key'] : ['url'])
    .filter((name) => valueAt(api, [name]) === null)
    .map((name) => ['api', name])
}

function missingMail(config: Config): SettingPath[] {
  return MAIL_PATHS.filter((path) => valueAt(config, path) === null)
}

function notSet(paths: readonly SettingPath[]): string {
  const names = paths.map((path) => `${pathText(path)} (${variablesFor(path).join(' or ')})`)
  const verb = names.length === 1 ? 'is' : 'are'
  return `${new Intl.ListFormat('en').format(names)} ${verb} not set`
}

function missing(paths: readonly SettingPath[], { file }: Config): LeadsheetError {
  const nowhere = file === null ? `there is no ${DEFAULT_FILE} in ${process.cwd()}, and ` : ''
  return new LeadsheetError('config_missing', `${nowhere}${notSet(paths)}`, {
    hint: `${shellCommand('init')} asks for them; or set them in leadsheet.yaml or the environment, or try it without a service of your own: ${shellCommand('demo')} or ${shellCommand('service run')}.`,
  })
}
