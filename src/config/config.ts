/**
 * The settings as the program uses them: complete, checked, frozen, with absolute paths. This file also lists
 * the settings with the place where each was given, and reports settings that a command needs but are
 * missing.
 */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { nameOf, placeOf } from '../store/db/place.ts'
import { declaredTypesOf } from './declared-types.ts'
import { type EnvironmentProxy, variablesFor } from './environment.ts'
import { addressOf, filterText, reportFrom } from './report-config.ts'
import { type Settings, schemaAt, settingsIn } from './schema.ts'
import { linesOf, listenText } from './schema-web.ts'
import { Secret, type SecretKind } from './secrets.ts'
import { pathText, type SettingPath, valueAt } from './setting-path.ts'
import { DEFAULT_FILE, type ProfileData } from './settings-file.ts'

export interface Config extends ReturnType<typeof configFrom> {
  /** The path of the settings file; null if there is none. */
  readonly file: string | null
  /** The path of the file that `api.key_file` names; null if there is none. */
  readonly keyFile: string | null
  /** The proxies of the environment. */
  readonly proxy: EnvironmentProxy
  /** The mistakes of settings that were left out. Commands that only read the data go on without them. */
  readonly mistakes: readonly string[]
  /** Sentences about settings that are allowed but unwise. */
  readonly warnings: readonly string[]
  /** The place where each setting was given, by its name: `api.url` -> `leadsheet.yaml:3:8`. */
  readonly sources: Readonly<Record<string, string>>
}

/**
 * Completes checked settings with derived values, such as absolute paths.
 * @param profile the settings that describe the upstream's API; null for the reference service
 * @param baseOf returns the folder from which the relative path in a setting is resolved
 * @param folder the folder of the settings file
 */
export function configFrom(
  settings: Settings,
  profile: ProfileData | null,
  baseOf: (name: 'dataDir' | 'templatesDir') => string,
  folder: string,
) {
  const { api, mail, recipients, templatesDir } = settings
  const dataDir = resolve(baseOf('dataDir'), settings.dataDir)
  const types = declaredTypesOf(profile)
  return {
    ...settings,
    api: { ...api, profile },
    dataDir,
    mail: {
      ...mail,
      url: absoluteFileUrl(mail.url, dataDir),
      bounces: { ...mail.bounces, url: absoluteFileUrl(mail.bounces.url, dataDir) },
    },
    /** If a report has no recipient list of its own, these addresses get the report. */
    recipients: recipients.map(addressOf),
    /** The folder with the templates of this installation. The folder may be missing. */
    templatesDir: resolve(baseOf('templatesDir'), templatesDir ?? join(folder, 'templates')),
    reports: settings.reports.map((report) => reportFrom(report, settings, types)),
  }
}

/**
 * Makes a `file:` URL absolute. A relative one, such as `file:./outbox`, is resolved from the data directory,
 * which is always writable. (The URL standard would resolve it from the root `/`.)
 */
function absoluteFileUrl(url: Secret | null, dataDir: string): Secret | null {
  const relative = /^file:(?!\/\/)(.*)$/i.exec(url?.reveal() ?? '')?.[1]
  if (relative === undefined) return url
  return new Secret(pathToFileURL(resolve(dataDir, decodeURIComponent(relative))).href)
}

/** Returns every text in the settings that must not appear in a log. */
export function secretsOf(config: Config): string[] {
  const found = [...settingsIn(config)].flatMap(([path, value]) =>
    value instanceof Secret ? SECRET_TEXTS[schemaAt(path)?.secret ?? 'whole'](value.reveal()) : [],
  )
  return [...found, ...proxySecretsOf(config)].filter((text) => text !== '')
}

/** Returns the passwords of the proxies. */
function proxySecretsOf({ proxy: { http, https } }: Pick<Config, 'proxy'>): string[] {
  return [http, https].flatMap((proxy) => (proxy === null ? [] : SECRET_TEXTS.login(proxy.reveal())))
}

/** The minimum length at which a part of a secret address is hidden too. Shorter parts are ordinary words. */
const SECRET_PART = 12

const SECRET_TEXTS: Readonly<Record<SecretKind, (value: string) => string[]>> = {
  whole: (value) => [value],
  lines: linesOf,
  login: (value) => {
    const { password } = new URL(value)
    return [password, decodeURIComponent(password)]
  },
  // The long parts are also hidden by themselves, because an error may quote only a part of the address.
  address: (value) => {
    const { pathname, searchParams } = new URL(value)
    const parts = [...pathname.split('/'), ...searchParams.values()]
    return [value, ...parts.filter((part) => part.length >= SECRET_PART)]
  },
}

/**
 * Returns each setting by its name as in the settings file, such as `api.page_size`, with its value, in which secrets
 * are redacted: null if it is not set and has no default. `source` is the place where the value was given. For a value
 * that was not given, this is `default` or `not set`. If a report uses the value of a top-level setting, this is a text
 * such as `as recipients`.
 */
export function effectiveSettings(config: Config) {
  const {
    file: _file,
    keyFile: _keyFile,
    proxy: _proxy,
    mistakes: _mistakes,
    warnings: _warnings,
    sources,
    api,
    enrichment,
    web,
    reports,
    ...rest
  } = config
  // Shows only the place of the profile, because the profile is a separate document.
  const settings = {
    api: { ...api, profile: api.profile?.origin ?? null },
    ...rest,
    enrichment: enrichment === null ? { policy: 'none' } : { policy: 'changed', ...enrichment },
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
      source: sources[setting] ?? (value === null ? 'not set' : inheritedFrom(path)),
    }
  })
}

/**
 * Hides a secret. In the address of a database or mail server, only the login is hidden, because operators
 * need the host to find a fault.
 */
function redacted(path: SettingPath, secret: Secret): string {
  if (schemaAt(path)?.secret !== 'login') return secret.toString()
  const url = new URL(secret.reveal())
  if (url.protocol.startsWith('postgres')) return nameOf(placeOf(secret.reveal()))
  if (url.protocol === 'file:') return url.href
  return `${url.protocol}//${url.username ? `${secret}@` : ''}${url.host}`
}

function inheritedFrom(path: SettingPath): string {
  const name = path.slice(-1)
  const isInherited = path[0] === 'reports' && schemaAt(name) !== undefined
  return isInherited ? `as ${pathText(name)}` : 'default'
}

/**
 * Returns the settings of the API, or throws if the URL or a needed key is missing.
 * @param needsKey false if the profile says that the upstream needs no key
 * @throws LeadsheetError config_missing
 */
export function requireApi(config: Config, needsKey: boolean) {
  const { url } = config.api
  const lacking = missingApi(config, needsKey)
  if (url === null || lacking.length > 0) throw missing(lacking, config)
  return { ...config.api, url }
}

/**
 * Returns the settings for sending mail, or throws if one of them is missing.
 * @throws LeadsheetError config_missing
 */
export function requireMail(config: Config) {
  const { url, from } = config.mail
  if (url === null || from === null) throw missing(missingIn(config, MAIL), config)
  return { ...config.mail, url, from }
}

/**
 * Throws one error for all missing settings that the daemon needs. Without reports and recipients of alerts, the
 * daemon sends no mail and needs no mail settings.
 * @throws LeadsheetError config_missing
 */
export function requireDaemon(config: Config, needsKey: boolean): void {
  const lacking = missingForDaemon(config, needsKey)
  if (lacking.length > 0) throw missing(lacking, config)
}

/**
 * Throws if there are no settings at all. A command in a wrong folder then reports this before other
 * mistakes.
 * @throws LeadsheetError config_missing
 */
export function requireSettings(config: Config): void {
  if (config.file === null && config.api.url === null) throw missing(missingForDaemon(config, true), config)
}

/** Names the missing settings that `leadsheet run` needs; null if none is missing. */
export function lackOfDaemon(config: Config, needsKey: boolean): string | null {
  const lacking = missingForDaemon(config, needsKey)
  return lacking.length === 0 ? null : notSet(lacking)
}

function isMailed({ reports, alerts }: Config): boolean {
  return reports.length + alerts.recipients.length > 0
}

const MAIL: readonly SettingPath[] = [
  ['mail', 'url'],
  ['mail', 'from'],
]

function missingForDaemon(config: Config, needsKey: boolean): SettingPath[] {
  const isWithoutReaders = config.reports.some((report) => report.recipients.length === 0)
  return [
    ...missingApi(config, needsKey),
    ...(isMailed(config) ? missingIn(config, MAIL) : []),
    ...(isWithoutReaders ? [['recipients']] : []),
  ]
}

function missingApi(config: Config, needsKey: boolean): SettingPath[] {
  const { oauth, keyCommand } = config.api
  const isKeyLacking = needsKey && oauth === null && keyCommand === null
  return missingIn(config, isKeyLacking ? [API_URL, ['api', 'key']] : [API_URL])
}

const API_URL = ['api', 'url']

function missingIn(config: Config, paths: readonly SettingPath[]): SettingPath[] {
  return paths.filter((path) => valueAt(config, path) === null)
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
