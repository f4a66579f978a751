/**
 * Checks the settings that a command needs. Loading the settings requires no setting, so that each command
 * can name the settings that it misses.
 */
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { Config } from './config.ts'
import { variablesFor } from './environment.ts'
import type { Secret } from './secrets.ts'
import { pathText, type SettingPath, valueAt } from './setting-path.ts'
import { DEFAULT_FILE } from './settings-file.ts'

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
