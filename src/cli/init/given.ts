/** The answers that options and the environment give, with all that is wrong with them told at once. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { type ProfileData, readProfile } from '../../config/profile-file.ts'
import { settingFault } from '../../config/setting-fault.ts'
import type { SettingPath } from '../../config/setting-path.ts'
import { listenText } from '../../config/web-settings.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import { type Answer, addressesFault, addressesIn, type Given, NONE, said } from './answers.ts'

/** As commander gives them. */
export interface AnswerOptions {
  readonly apiUrl?: string
  readonly keyFile?: string
  readonly profile?: string
  readonly smtpUrl?: string
  readonly smtpUrlFile?: string
  readonly from?: string
  readonly recipients?: string
  readonly operators?: string
  readonly timeZone?: string
  readonly schedule?: string
  readonly listen?: string
  readonly testMail?: string
}

/**
 * @param environment the settings that the environment gives by itself
 * @throws LeadsheetError usage_invalid, with all that is wrong
 */
export function readGiven(options: AnswerOptions, environment: Config): Given {
  const problems: string[] = []
  const known = fromOptions(options, environment, problems)
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`
    const lines = problems.map((problem) => `  ${problem}`).join('\n')
    throw new LeadsheetError('usage_invalid', `${count} in the options:\n${lines}`, {
      hint: `${shellCommand('init --help')} shows all options.`,
    })
  }
  return { ...fromEnvironment(environment), ...dropAbsent(known) }
}

function fromEnvironment({ api, mail, operators, web, ...environment }: Config): Given {
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
    mailUrl: take('mail.url', mail.url?.reveal()),
    from: take('mail.from', mail.from),
    recipients: take('recipients', environment.recipients),
    operators: take('operators.recipients', operators.recipients),
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
    if (setting === 'operators.recipients' && value === NONE) return said<readonly string[]>([])
    const fault = addressesFault(value)
    if (fault !== null) problems.push(`${flag}: ${fault}`)
    return said<readonly string[]>(addressesIn(value))
  }
  const takeProfile = (name: string | undefined): Answer<ProfileData | null> | undefined => {
    if (name === undefined) return undefined
    refuseTwice('--profile', 'api.profile')
    const profile = readProfile(resolve(name), process.cwd())
    if (profile.problem !== null) problems.push(`--profile: ${profile.origin} ${profile.problem}`)
    return { value: profile, variable: null, file: resolve(name) }
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
      takeFile('--smtp-url-file', ['mail', 'url'], options.smtpUrlFile) ??
      take('--smtp-url', ['mail', 'url'], options.smtpUrl),
    from: take('--from', ['mail', 'from'], options.from),
    recipients: takeList('--recipients', 'recipients', options.recipients),
    operators: takeList('--operators', 'operators.recipients', options.operators),
    timeZone: take('--time-zone', ['time_zone'], options.timeZone),
    schedule: take('--schedule', ['sync', 'every'], options.schedule),
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

/** So that they do not hide what the environment gives. */
function dropAbsent(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, answer]) => answer !== undefined))
}
