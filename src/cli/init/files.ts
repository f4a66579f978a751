/**
 * Writes the answers to files: the settings, one file for each secret, and the profile if a probe made one.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { Config } from '../../config/config.ts'
import { loadConfig } from '../../config/load.ts'
import type { Entry } from '../../config/starter-file.ts'
import { reportFor, settingsText } from '../../config/starter-file.ts'
import { faultText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { Answer, Answers, Given } from './answers.ts'
import { listIn } from './answers.ts'

/** The paths of the files, relative to the folder of the settings file. */
const FILES = {
  key: 'secrets/api-key',
  mailUrl: 'secrets/smtp-url',
  token: 'secrets/web-token',
  profile: 'profile.yaml',
} as const

/** The options that use an existing file instead. */
const OPTIONS: Readonly<Record<string, string>> = {
  key: '--key-file',
  mailUrl: '--smtp-url-file',
  profile: '--profile',
}

export interface Written {
  readonly config: Config
  /** The absolute path and a description of each written file. The settings file comes first. */
  readonly files: readonly { readonly path: string; readonly what: string }[]
}

interface NewFile {
  /** The absolute path. */
  readonly path: string
  readonly what: string
  readonly text: string
  /** True if only the owner may read the file and its folder. */
  readonly isSecret: boolean
}

/**
 * Throws if `file` (the settings) or another file that `init` would write exists. `init` writes no file for a
 * value that comes from an existing file or from the environment.
 * @throws LeadsheetError usage_invalid
 */
export function refuseTaken(file: string, { known, profileAnswer }: Given): void {
  const refuse = (path: string, hint: string): void => {
    if (!existsSync(path)) return
    throw new LeadsheetError('usage_invalid', `${path} is there already`, {
      hint: `${hint}--force puts it aside as .bak and writes a new one.`,
    })
  }
  refuse(file, `Edit it and run ${shellCommand('doctor')}; `)
  const answers: Readonly<Record<string, Answer | undefined>> = { ...known, profile: profileAnswer }
  for (const [name, path] of Object.entries(FILES)) {
    const { variable = null, file: kept = null } = answers[name] ?? {}
    if (variable !== null || kept !== null) continue
    const taken = join(dirname(file), path)
    const option = OPTIONS[name]
    refuse(taken, option ? `${option} ${pathFrom(process.cwd(), taken)} uses it as it is; ` : '')
  }
}

/**
 * Writes all files of the first settings. An existing file is renamed to `.bak`.
 * @param probed the text of a profile that a probe of the service made; null if there is none
 * @throws LeadsheetError data_unwritable, config_invalid
 */
export function writeFirstSettings(
  file: string,
  answers: Answers,
  probed: string | null,
  now: Date,
): Written {
  const folder = dirname(file)
  const added: NewFile[] = []
  const add = (path: string, text: string, what: string, isSecret: boolean): Entry => {
    added.push({ path: join(folder, path), text: text.endsWith('\n') ? text : `${text}\n`, isSecret, what })
    return { value: `./${path}` }
  }
  /** Returns the settings entry for a file: its environment variable, the existing file, or a new file. */
  const keep = (answer: Answer, path: string, what: string, isSecret = true): Entry => {
    if (answer.variable !== null) return { variable: answer.variable }
    if (answer.file !== null) return { value: pathFrom(folder, answer.file) }
    return add(path, answer.value, what, isSecret)
  }
  const { apiUrl, key, profile, profileAnswer, mailUrl, token, timeZone, schedule } = answers
  const hasPassword =
    mailUrl.file !== null || (mailUrl.variable === null && new URL(mailUrl.value).password !== '')
  const text = settingsText({
    today: now.toISOString().slice(0, 10),
    apiUrl: entryOf(apiUrl),
    keyFile: key.value === '' ? null : keep(key, FILES.key, 'the API key'),
    profile:
      probed !== null
        ? add(FILES.profile, probed, 'how the service is asked and read', false)
        : profile === null
          ? null
          : keep(profileAnswer, FILES.profile, 'how the service is asked and read', false),
    timeZone: entryOf(timeZone),
    mail: hasPassword
      ? { name: 'url_file', entry: keep(mailUrl, FILES.mailUrl, 'the mail server with its password') }
      : { name: 'url', entry: entryOf(mailUrl) },
    from: entryOf(answers.from),
    recipients: listEntryOf(answers.recipients),
    alertRecipients: listEntryOf(answers.alertRecipients),
    report: {
      ...reportFor({ expression: schedule.value, timeZone: timeZone.value, holidays: [] }, now),
      schedule: schedule.value,
    },
    listen: entryOf(answers.listen),
    tokenFile: token.value === '' ? null : keep(token, FILES.token, 'what to sign in to the dashboard with'),
  })
  // The settings are private too, because they name the recipients and the mail server. They are written last,
  // because they refer to the other files.
  const settings = { path: file, text, isSecret: true, what: 'the settings' }
  for (const each of [...added, settings]) write(each)
  const files = [settings, ...added].map(({ path, what }) => ({ path, what }))
  return { config: loadConfig({ file }), files }
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
  try {
    mkdirSync(dirname(path), { recursive: true, mode: isSecret ? 0o700 : 0o755 })
    if (existsSync(path)) renameSync(path, freeName(`${path}.bak`))
    writeFileSync(path, text, { flag: 'wx', mode: isSecret ? 0o600 : 0o644, flush: true })
  } catch (cause) {
    throw new LeadsheetError('data_unwritable', `${path} cannot be written: ${faultText(cause)}`, {
      hint: 'Name a file in a folder that this user may write to with --config.',
      cause,
    })
  }
}

function freeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}${number}`
    if (!existsSync(name)) return name
  }
}
