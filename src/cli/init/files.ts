/**
 * Writes the answers to files: the settings, one file for each secret, and the profile if a probe made one.
 */
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { SettingPath } from '../../config/setting-path.ts'
import { type Entry, reportFor, settingsText } from '../../config/starter-file.ts'
import { faultText, LeadsheetError, shellCommand } from '../../errors.ts'
import { makeFolders } from '../../folder.ts'
import { type Answer, type Answers, listIn, QUESTIONS } from './answers.ts'
import type { LoginAnswers } from './login-answers.ts'

/** The paths of the files, relative to the folder of the settings file. */
const FILES = {
  key: 'secrets/api-key',
  mailUrl: 'secrets/mail-url',
  token: 'secrets/web-token',
  clientSecret: 'secrets/client-secret',
  refreshToken: 'secrets/refresh-token',
  mailClientSecret: 'secrets/mail-client-secret',
  mailRefreshToken: 'secrets/mail-refresh-token',
  profile: 'profile.yaml',
} as const

/** The contents of the files to which some answers of a login are written. */
const SECRETS: Readonly<Record<string, string>> = {
  client_secret: 'the client secret',
  refresh_token: 'the first refresh token',
}

const ABOUT_HOLIDAYS =
  'The country of the time zone. One of its regions can stand in its place, such as DE-BY, and dates beside it: 2026-12-24.'

/** The answers that are written to files of their own. */
type WrittenName = 'key' | 'mailUrl' | 'token' | 'profile'

interface NewFile {
  /** The absolute path. */
  readonly path: string
  readonly what: string
  readonly text: string
  /** True if only the owner may read the file and its folder. */
  readonly isSecret: boolean
}

/**
 * Throws if `file` (the settings) or another file that `init` would write exists, or if their folder cannot be
 * written. `init` writes no file for a value that comes from an existing file or from the environment.
 * @throws LeadsheetError usage_invalid, data_unwritable
 */
export function refuseTaken(file: string, given: { readonly [Name in WrittenName]?: Answer }): void {
  if (existsSync(file)) {
    throw new LeadsheetError('usage_invalid', `${file} is there already`, {
      hint: `Edit it and run ${shellCommand('doctor')}, or move it and its secrets away to begin anew.`,
    })
  }
  for (const name of Object.keys(FILES) as (keyof typeof FILES)[]) {
    const path = join(dirname(file), FILES[name])
    const row = name in QUESTIONS ? (name as WrittenName) : null
    if ((row !== null && given[row] !== undefined) || !existsSync(path)) continue
    const fileFlag = row === null ? undefined : QUESTIONS[row].fileFlag
    const use = fileFlag ? `${fileFlag} ${pathFrom(process.cwd(), path)} uses it as it is, or ` : ''
    throw new LeadsheetError('usage_invalid', `${path} is there already`, {
      hint: `${use}move it away to have a new one.`,
    })
  }
  let folder = dirname(file)
  while (!existsSync(folder)) folder = dirname(folder)
  writing(folder, () => accessSync(folder, constants.W_OK))
}

/**
 * Writes all files of the first settings, and returns their absolute paths. The settings come first.
 * @throws LeadsheetError data_unwritable
 */
export function writeFirstSettings(file: string, answers: Answers, now: Date) {
  const folder = dirname(file)
  const added: NewFile[] = []
  const add = (path: string, text: string, what: string, isSecret: boolean): Entry => {
    added.push({ path: join(folder, path), text: text.endsWith('\n') ? text : `${text}\n`, isSecret, what })
    return { value: `./${path}` }
  }
  /** Returns the settings entry for a file: its environment variable, the existing file, or a new file. */
  const keep = (name: WrittenName, what: string): Entry | null => {
    const { value, variable, file: existing } = answers[name]
    if (variable !== null) return { variable }
    if (existing !== null) return { value: pathFrom(folder, existing) }
    return value === '' ? null : add(FILES[name], value, what, true)
  }
  const { mailUrl, timeZone, holidays, schedule, login, mailLogin, probed } = answers
  const entriesOf = (owner: 'api' | 'mail', answered: LoginAnswers | null) =>
    Object.entries(answered ?? {}).map(([name, value]): readonly [SettingPath, Entry] => {
      const what = SECRETS[name]
      const path: SettingPath = [owner, 'oauth', what === undefined ? name : `${name}_file`]
      if (what === undefined)
        return [path, { value: name === 'private_key_file' ? pathFrom(folder, value) : value }]
      const file = `secrets/${owner === 'mail' ? 'mail-' : ''}${name.replace('_', '-')}`
      return [path, add(file, value, owner === 'mail' ? `${what} of mail` : what, true)]
    })
  const hasPassword =
    mailUrl.file !== null || (mailUrl.variable === null && new URL(mailUrl.value).password !== '')
  const mailFile = hasPassword ? keep('mailUrl', 'the mail server with its password') : null
  const profile =
    probed === null
      ? keep('profile', 'how the service is asked and read')
      : add(FILES.profile, probed, 'how the service is asked and read', false)
  const text = settingsText({
    today: now.toISOString().slice(0, 10),
    entries: [
      [['api', 'url'], entryOf(answers.apiUrl)],
      [['api', 'key_file'], keep('key', 'the API key')],
      ...entriesOf('api', login),
      [['api', 'profile'], profile],
      [['time_zone'], entryOf(timeZone)],
      [['holidays'], { comment: ABOUT_HOLIDAYS, ...listEntryOf(holidays) }],
      mailFile ? [['mail', 'url_file'], mailFile] : [['mail', 'url'], entryOf(mailUrl)],
      ...entriesOf('mail', mailLogin),
      [['mail', 'from'], entryOf(answers.from)],
      [['alerts', 'recipients'], listEntryOf(answers.alertRecipients)],
      [['web', 'listen'], entryOf(answers.listen)],
      [['web', 'token_file'], keep('token', 'what to sign in to the dashboard with')],
      [['recipients'], listEntryOf(answers.recipients)],
    ],
    report: {
      ...reportFor({ expression: schedule.value, timeZone: timeZone.value, holidays: listIn(holidays) }, now),
      schedule: schedule.value,
    },
  })
  // The settings are private too, because they name the recipients and the mail server. They are written last,
  // because they refer to the other files.
  const settings = { path: file, text, isSecret: true, what: 'the settings' }
  for (const each of [...added, settings]) writing(each.path, () => write(each))
  return [settings, ...added].map(({ path, what }) => ({ path, what }))
}

function entryOf({ value, variable }: Answer): Entry {
  return variable === null ? { value } : { variable }
}

function listEntryOf(answer: Answer): Entry<readonly string[]> {
  return answer.variable === null ? { value: listIn(answer) } : { variable: answer.variable }
}

/** Returns the path as the settings name it, relative to their folder. */
function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file).replaceAll(sep, '/')
  return path.startsWith('../') ? path : `./${path}`
}

function write({ path, text, isSecret }: NewFile): void {
  makeFolders(dirname(path), isSecret ? 0o700 : 0o755)
  writeFileSync(path, text, { flag: 'wx', mode: isSecret ? 0o600 : 0o644, flush: true })
}

function writing(path: string, work: () => void): void {
  try {
    work()
  } catch (cause) {
    throw new LeadsheetError('data_unwritable', `${path} cannot be written: ${faultText(cause)}`, {
      hint: 'Name a file in a folder that this user may write to with --config.',
      cause,
    })
  }
}
