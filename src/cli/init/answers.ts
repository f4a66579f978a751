/**
 * Collects the answers of `leadsheet init`, from which the first settings file is made. Answers from
 * environment variables are not written to the file, because these variables override the file.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { needsKey, profileFrom } from '../../app/configured-upstream.ts'
import type { Config } from '../../config/config.ts'
import { splitList } from '../../config/environment.ts'
import { settingFault } from '../../config/errors.ts'
import { loadConfig } from '../../config/load.ts'
import { listenText } from '../../config/schema-web.ts'
import type { SettingPath } from '../../config/setting-path.ts'
import type { ProfileData } from '../../config/settings-file.ts'
import { readProfile } from '../../config/settings-file.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'

export interface Answer<Value = string> {
  readonly value: Value
  /** The environment variable that gives the value; null if none does. */
  readonly variable: string | null
  /** The absolute path of the file that already holds the value; null if there is none. */
  readonly file: string | null
}

export interface Answers {
  readonly apiUrl: Answer
  /** The API key; empty if the service needs no key. */
  readonly key: Answer
  /** The settings that describe the service's API (profile); null for those of the reference service. */
  readonly profile: Answer<ProfileData | null>
  /** The URL of the mail server, with its password. */
  readonly mailUrl: Answer
  readonly from: Answer
  readonly recipients: Answer<readonly string[]>
  /** The addresses of the operators who get alerts by mail; empty if there are none. */
  readonly alertRecipients: Answer<readonly string[]>
  readonly timeZone: Answer
  readonly schedule: Answer
  readonly listen: Answer
  /** The token to sign in to the dashboard; null if there is no dashboard. */
  readonly token: Answer<string | null>
}

/** The answers that are known already. `init` does not ask for these. */
export type Given = { readonly [Name in keyof Answers]?: Answers[Name] | undefined }

/** Stands for "no addresses" or "no dashboard" in an answer. */
export const NONE = 'none'
export const STANDARD = { schedule: 'every weekday at 07:00', listen: '127.0.0.1:8080' } as const

export function said<Value>(value: Value): Answer<Value> {
  return { value, variable: null, file: null }
}

/** Returns the fault of the first invalid address, or null if all addresses are valid. */
export function addressesFault(text: string): string | null {
  const addresses = splitList(text)
  if (addresses.length === 0) return 'expected addresses with commas between them'
  for (const address of addresses) {
    const fault = settingFault(['alerts', 'recipients'], [address])
    if (fault !== null) return `${address}: ${fault}`
  }
  return settingFault(['alerts', 'recipients'], addresses)
}

/**
 * Fills in the defaults of all answers that are not given.
 * @throws LeadsheetError usage_invalid, naming all missing answers that have no default
 */
export function completed(given: Given): Answers {
  const { apiUrl, mailUrl, from, recipients } = given
  const profile = given.profile ?? said(null)
  const isOpen = profile.value !== null && !needsKey(profileFrom(profile.value))
  const key = given.key ?? (isOpen ? said('') : undefined)
  if (!apiUrl || !key || !mailUrl || !from || !recipients) {
    const missing = [
      apiUrl ? '' : '--api-url (or LEADSHEET_API_URL)',
      key ? '' : '--key-file (or LEADSHEET_API_KEY)',
      mailUrl ? '' : '--smtp-url or --smtp-url-file (or LEADSHEET_SMTP_URL)',
      from ? '' : '--from (or LEADSHEET_FROM)',
      recipients ? '' : '--recipients (or LEADSHEET_RECIPIENTS)',
    ].filter((name) => name !== '')
    const lines = missing.map((name) => `  ${name}`).join('\n')
    throw new LeadsheetError('usage_invalid', `answers are missing, and nobody is asked here:\n${lines}`, {
      hint: `${shellCommand('init')} in a terminal asks for them; ${shellCommand('init --help')} shows all options.`,
    })
  }
  return {
    ...{ apiUrl, key, profile, mailUrl, from, recipients },
    alertRecipients: given.alertRecipients ?? said(recipients.value.slice(0, 1)),
    timeZone: given.timeZone ?? said(detectedZone()),
    schedule: given.schedule ?? said(STANDARD.schedule),
    ...dashboardOf(given.listen ?? said(STANDARD.listen), given.token),
  }
}

/** Returns the answers about the dashboard, with a new token if one is needed and none is given. */
export function dashboardOf(
  listen: Answer,
  token: Answer<string | null> | undefined,
): Pick<Answers, 'listen' | 'token'> {
  return { listen, token: token ?? said(listen.value === NONE ? null : newToken()) }
}

function newToken(): string {
  return randomBytes(24).toString('base64url')
}

/** Returns the time zone of this machine, or UTC if its name is not valid. */
export function detectedZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return settingFault(['time_zone'], timeZone) === null ? timeZone : 'UTC'
}

/** The options of `leadsheet init` as commander returns them. */
export interface AnswerOptions {
  readonly apiUrl?: string
  readonly keyFile?: string
  readonly profile?: string
  readonly smtpUrl?: string
  readonly smtpUrlFile?: string
  readonly from?: string
  readonly recipients?: string
  readonly alertRecipients?: string
  readonly timeZone?: string
  readonly schedule?: string
  readonly listen?: string
  readonly testMail?: string
}

/**
 * Reads the answers from the options and the environment.
 * @param environment the settings that come from the environment alone
 * @throws LeadsheetError usage_invalid, with all mistakes at once
 */
export function readGiven(options: AnswerOptions, environment: Config): Given {
  const problems: string[] = []
  const known = fromOptions(options, environment, problems)
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`
    const lines = problems.map((problem) => `  ${problem}`).join('\n')
    throw new LeadsheetError('usage_invalid', `${count} in the options:\n${lines}`, {
      mistakes: problems,
      hint: `${shellCommand('init --help')} shows all options.`,
    })
  }
  return { ...fromEnvironment(environment), ...dropAbsent(known) }
}

function fromEnvironment({ api, smtp, mail, alerts, web, ...environment }: Config): Given {
  const { sources } = environment
  const take = <Value>(setting: string, value: Value | null | undefined): Answer<Value> | undefined => {
    const variable = sources[setting]?.split(' ').at(-1)
    return variable === undefined || value === null || value === undefined
      ? undefined
      : { value, variable, file: null }
  }
  return {
    apiUrl: take('api.url', api.url),
    key: take('api.key', api.key?.reveal()),
    profile: take<ProfileData | null>('api.profile', api.profile),
    mailUrl: take('smtp.url', smtp.url?.reveal()),
    from: take('mail.from', mail.from),
    recipients: take('recipients', environment.recipients),
    alertRecipients: take('alerts.recipients', alerts.recipients),
    timeZone: take('time_zone', environment.timeZone),
    listen: take('web.listen', listenText(web.listen)),
    token: take<string | null>('web.token', web.token?.reveal()),
  }
}

function fromOptions(options: AnswerOptions, { sources }: Config, problems: string[]) {
  const refuseTwice = (flag: string, setting: string): void => {
    const variable = sources[setting]?.split(' ').at(-1)
    if (variable !== undefined) problems.push(`${flag}: ${variable} is set too and would win; leave out one`)
  }
  const take = (flag: string, path: SettingPath, value: string | undefined): Answer | undefined => {
    if (value === undefined) return undefined
    refuseTwice(flag, path.join('.'))
    const fault = settingFault(path, value)
    if (fault !== null) problems.push(`${flag}: ${fault}`)
    return said(value)
  }
  const takeFile = (flag: string, path: SettingPath, name: string | undefined): Answer | undefined => {
    if (name === undefined) return undefined
    const answer = take(flag, path, readNamed(flag, name, problems))
    return answer && { ...answer, file: resolve(name) }
  }
  const takeList = (flag: string, setting: string, value: string | undefined) => {
    if (value === undefined) return undefined
    refuseTwice(flag, setting)
    if (setting === 'alerts.recipients' && value === NONE) return said<readonly string[]>([])
    const fault = addressesFault(value)
    if (fault !== null) problems.push(`${flag}: ${fault}`)
    return said<readonly string[]>(splitList(value))
  }
  const takeProfile = (name: string | undefined): Answer<ProfileData | null> | undefined => {
    if (name === undefined) return undefined
    refuseTwice('--profile', 'api.profile')
    return readNamedProfile('--profile', name, problems)
  }
  const testMailFault = options.testMail === undefined ? null : addressesFault(options.testMail)
  if (testMailFault !== null) problems.push(`--test-mail: ${testMailFault}`)
  if (options.smtpUrl !== undefined && URL.parse(options.smtpUrl)?.password)
    problems.push('--smtp-url: others can see a password there; give a file that holds it by --smtp-url-file')
  if (options.smtpUrl !== undefined && options.smtpUrlFile !== undefined)
    problems.push('--smtp-url: leave it out, or --smtp-url-file')
  return {
    apiUrl: take('--api-url', ['api', 'url'], options.apiUrl),
    key: takeFile('--key-file', ['api', 'key'], options.keyFile),
    profile: takeProfile(options.profile),
    mailUrl:
      takeFile('--smtp-url-file', ['smtp', 'url'], options.smtpUrlFile) ??
      take('--smtp-url', ['smtp', 'url'], options.smtpUrl),
    from: take('--from', ['mail', 'from'], options.from),
    recipients: takeList('--recipients', 'recipients', options.recipients),
    alertRecipients: takeList('--alert-recipients', 'alerts.recipients', options.alertRecipients),
    timeZone: take('--time-zone', ['time_zone'], options.timeZone),
    schedule: take('--schedule', ['sync', 'schedule'], options.schedule),
    listen: take('--listen', ['web', 'listen'], options.listen),
  }
}

function readNamed(flag: string, name: string, problems: string[]): string | undefined {
  try {
    const text = readFileSync(name, 'utf8').trim()
    if (text === '') problems.push(`${flag}: ${name} is empty`)
    return text || undefined
  } catch (thrown) {
    problems.push(`${flag}: cannot read ${name}: ${errorText(thrown)}`)
    return undefined
  }
}

/**
 * Reads the files of the answers again, because the user may have corrected the files. Returns only answers
 * from files and from the environment, so that the user is asked for all other answers again.
 * @returns the answers, and the mistakes in their files
 */
export function readAgain({ key, mailUrl, profile, ...others }: Given): {
  readonly given: Given
  readonly problems: readonly string[]
} {
  const problems: string[] = []
  const text = (flag: string, path: SettingPath, answer: Answer | undefined): Answer | undefined => {
    if (!answer?.file) return answer
    const value = readNamed(flag, answer.file, problems)
    const fault = value === undefined ? null : settingFault(path, value)
    if (fault !== null) problems.push(`${flag}: ${fault}`)
    return value === undefined || fault !== null ? undefined : { ...answer, value }
  }
  const environment = readEnvironmentAgain(problems)
  const known = {
    ...others,
    key: text('--key-file', ['api', 'key'], key),
    mailUrl: text('--smtp-url-file', ['smtp', 'url'], mailUrl),
    profile: profile?.file ? readNamedProfile('--profile', profile.file, problems) : profile,
    ...environment,
  }
  const kept = Object.entries(known).filter(([, answer]) => answer?.variable || answer?.file)
  return { given: Object.fromEntries(kept), problems }
}

/** Reads the environment again. If there is a mistake, adds it to `problems` and returns no answers. */
function readEnvironmentAgain(problems: string[]): Given {
  try {
    return dropAbsent(fromEnvironment(loadConfig({ file: null })))
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    problems.push(...(thrown.mistakes ?? [thrown.message]))
    return {}
  }
}

function readNamedProfile(
  flag: string,
  name: string,
  problems: string[],
): Answer<ProfileData | null> | undefined {
  const file = resolve(name)
  const profile = readProfile(file, process.cwd())
  if (profile.problem === null) return { value: profile, variable: null, file }
  problems.push(`${flag}: ${profile.origin} ${profile.problem}`)
  return undefined
}

/** Returns where the user finds the value: the variable or the path of the file; null if neither holds it. */
export function placeOfAnswer({ variable, file }: Pick<Answer, 'variable' | 'file'>): string | null {
  return variable ?? (file === null ? null : relative('', file))
}

/** Removes absent options, so that they do not hide answers from the environment. */
function dropAbsent(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, answer]) => answer !== undefined))
}
