/** What a command cannot do without. Loading asks for nothing, so that each command can name what it lacks. */
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { ApiConfig, Config, MailConfig } from './config.ts'
import { variablesFor } from './environment.ts'
import type { Secret } from './secret.ts'
import { pathText, type SettingPath, valueAt } from './setting-path.ts'

export interface ReadyApi extends ApiConfig {
  readonly url: string
  /** Null only where the upstream wants none. */
  readonly key: Secret | null
}

export interface ReadyMail extends MailConfig {
  readonly url: Secret
  readonly from: string
}

/**
 * @param needsKey false where the profile says that the upstream asks for none
 * @throws LeadsheetError config_missing
 */
export function requireApi(config: Config, needsKey = true): ReadyApi {
  const { url } = config.api
  const lacking = missingApi(config, needsKey)
  if (url === null || lacking.length > 0) throw missing(lacking)
  return { ...config.api, url }
}

/** @throws LeadsheetError config_missing */
export function requireMail(config: Config): ReadyMail {
  const { url, from } = config.mail
  if (url === null || from === null) throw missing(missingMail(config))
  return { ...config.mail, url, from }
}

/**
 * All that the daemon needs, named at once. Without reports, and operators to be mailed, it only keeps the copy, and
 * needs no mail.
 * @throws LeadsheetError config_missing
 */
export function requireDaemon(
  config: Config,
  needsKey = true,
): { readonly api: ReadyApi; readonly mail: ReadyMail | null } {
  const { reports, operators } = config
  const isMailed = reports.length + operators.recipients.length > 0
  const lacking = [
    ...missingApi(config, needsKey),
    ...(isMailed ? missingMail(config) : []),
    ...(reports.some((report) => report.recipients.length === 0) ? [['recipients']] : []),
  ]
  if (lacking.length > 0) throw missing(lacking)
  return { api: requireApi(config, needsKey), mail: isMailed ? requireMail(config) : null }
}

function missingApi({ api }: Config, needsKey: boolean): SettingPath[] {
  return (needsKey ? ['url', 'key'] : ['url'])
    .filter((name) => valueAt(api, [name]) === null)
    .map((name) => ['api', name])
}

function missingMail({ mail }: Config): SettingPath[] {
  return ['url', 'from'].filter((name) => valueAt(mail, [name]) === null).map((name) => ['mail', name])
}

function missing(paths: readonly SettingPath[]): LeadsheetError {
  const names = paths.map((path) => `${pathText(path)} (${variablesFor(path).join(' or ')})`)
  const verb = names.length === 1 ? 'is' : 'are'
  const list = new Intl.ListFormat('en').format(names)
  return new LeadsheetError('config_missing', `${list} ${verb} not set`, {
    hint: `${shellCommand('init')} asks for them; or set them in leadsheet.yaml or the environment, or try it without a service of your own: ${shellCommand('demo')} or ${shellCommand('serve')}.`,
  })
}
