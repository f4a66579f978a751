/**
 * Writes the answers to files: the settings, one file for each secret, and the profile if a probe made one.
 */

import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { Config } from '../../config/config.ts'
import { loadConfig } from '../../config/load.ts'
import type { Entry } from '../../config/starter-file.ts'
import { reportFor, settingsText } from '../../config/starter-file.ts'
import { faultText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { Answer, Given } from './answers.ts'
import type { Asked } from './questions.ts'
import { PROFILE_NAME } from './questions.ts'

// The paths of the files with secrets, relative to the folder of the settings file.
const SECRETS = {
  key: 'secrets/api-key',
  mailUrl: 'secrets/smtp-url',
  token: 'secrets/web-token',
} as const

export interface Written {
  readonly config: Config
  /** The absolute path and a description of each written file. The settings file comes first. */
  readonly files: readonly { readonly path: string; readonly what: string }[]
}

/** Maps a file that `init` would write to the option that uses an existing file instead. */
const OPTIONS: Readonly<Record<string, string>> = {
  [SECRETS.key]: '--key-file',
  [SECRETS.mailUrl]: '--smtp-url-file',
  [PROFILE_NAME]: '--profile',
}

/**
 * Throws if `file` (the settings) or another file that `init` would write exists. `init` writes no file for a
 * value that comes from an existing file or from the environment.
 * @throws LeadsheetError usage_invalid
 */
export function refuseTakenIn(file: string, { key, mailUrl, token, profile }: Given): void {
  const isKept = (answer: Pick<Answer, 'variable' | 'file'> | undefined) =>
    answer !== undefined && (answer.variable !== null || answer.file !== null)
  const names = [
    ...(key === undefined ? [SECRETS.key] : []),
    ...(isKept(mailUrl) ? [] : [SECRETS.mailUrl]),
    ...(isKept(token) ? [] : [SECRETS.token]),
    ...(profile === undefined ? [PROFILE_NAME] : []),
  ]
  refuseTaken([file], `Edit it and run ${shellCommand('doctor')}; `)
  const folder = dirname(file)
  for (const name of names) {
    const option = OPTIONS[name]
    const uses = option && `${option} ${pathFrom(process.cwd(), join(folder, name))} uses it as it is; `
    refuseTaken([join(folder, name)], uses)
  }
}

/**
 * Writes all files of the first settings. If a file cannot be written or the settings cannot be loaded, all
 * new files are removed.
 * @throws LeadsheetError usage_invalid, data_unwritable, config_invalid
 */
export function writeFirstSettings(
  file: string,
  { answers, probed }: Pick<Asked, 'answers' | 'probed'>,
  { keepsOld, now }: { readonly keepsOld: boolean; readonly now: Date },
): Written {
  const folder = dirname(file)
  const added: (NewFile & { readonly what: string })[] = []
  const add = (name: string, text: string, what: string, isSecret: boolean): string => {
    added.push({ path: join(folder, name), text: text.endsWith('\n') ? text : `${text}\n`, isSecret, what })
    return `./${name}`
  }
  /** Returns the settings entry for a secret: its environment variable, its existing file, or a new file. */
  const keep = ({ value, variable, file }: Answer, name: string, what: string): Entry => {
    if (variable !== null) return { variable }
    return { value: file === null ? add(name, value, what, true) : pathFrom(folder, file) }
  }
  const { apiUrl, key, profile, mailUrl, token, timeZone, schedule } = answers
  const hasPassword = mailUrl.file !== null || (mailUrl.variable === null && isSecret(mailUrl.value))
  const text = settingsText({
    today: now.toISOString().slice(0, 10),
    apiUrl: entryOf(apiUrl),
    keyFile: key.value === '' ? null : keep(key, SECRETS.key, 'the API key'),
    profile:
      probed !== null
        ? { value: add(PROFILE_NAME, probed, 'how the service is asked and read', false) }
        : profileEntry(profile, folder),
    timeZone: entryOf(timeZone),
    mail: hasPassword
      ? { name: 'url_file', entry: keep(mailUrl, SECRETS.mailUrl, 'the mail server with its password') }
      : { name: 'url', entry: entryOf(mailUrl) },
    from: entryOf(answers.from),
    recipients: entryOf(answers.recipients),
    alertRecipients: entryOf(answers.alertRecipients),
    report: {
      ...reportFor({ expression: schedule.value, timeZone: timeZone.value, holidays: [] }, now),
      schedule: schedule.value,
    },
    listen: entryOf(answers.listen),
    tokenFile:
      token.value === null
        ? null
        : keep({ ...token, value: token.value }, SECRETS.token, 'what to sign in to the dashboard with'),
  })
  // The settings are private too, because they name the recipients and the mail server.
  const settings = { path: file, text, isSecret: true, what: 'the settings' }
  const config = writeNewFiles([...added, settings], { keepsOld, check: () => loadConfig({ file }) })
  return { config, files: [settings, ...added] }
}

function entryOf<Value>({ value, variable }: Answer<Value>): Entry<Value> {
  return variable === null ? { value } : { variable }
}

function profileEntry({ value, variable, file }: Asked['answers']['profile'], folder: string): Entry | null {
  if (variable !== null) return { variable }
  return value === null || file === null ? null : { value: pathFrom(folder, file) }
}

/** Returns the path as the settings name it, relative to their folder. */
function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file).replaceAll(sep, '/')
  return path.startsWith('../') ? path : `./${path}`
}

function isSecret(mailUrl: string): boolean {
  return new URL(mailUrl).password !== ''
}

/* Writes several new files. If a file cannot be written completely, all new files are removed. */

interface NewFile {
  /** The absolute path. */
  readonly path: string
  readonly text: string
  /** True if only the owner may read the file. A folder made for the file is protected in the same way. */
  readonly isSecret: boolean
}

/**
 * Writes the files in the given order. A file must come before the files that refer to it.
 * @param keepsOld true renames existing files to `.bak`; otherwise an existing file is an error
 * @param check inspects the result; if `check` throws, everything is undone
 * @returns the result of `check`
 * @throws LeadsheetError usage_invalid if a file exists, data_unwritable, and whatever `check` throws
 */
export function writeNewFiles<T>(
  files: readonly NewFile[],
  { keepsOld, check }: { readonly keepsOld: boolean; readonly check: () => T },
): T {
  if (!keepsOld) refuseTaken(files.map(({ path }) => path))
  const undo: (() => unknown)[] = []
  try {
    for (const file of files) write(file, undo)
    return check()
  } catch (thrown) {
    for (const step of undo.reverse()) step()
    throw thrown
  }
}

/** @throws LeadsheetError usage_invalid if one of the files exists */
function refuseTaken(paths: readonly string[], hint = ''): void {
  const taken = paths.find((path) => existsSync(path))
  if (taken === undefined) return
  throw new LeadsheetError('usage_invalid', `${taken} is there already`, {
    hint: `${hint}--force puts it aside as .bak and writes a new one.`,
  })
}

/** @param undo receives the steps that undo the writing */
function write({ path, text, isSecret }: NewFile, undo: (() => unknown)[]): void {
  const unfinished = `${path}.${randomUUID()}.part`
  try {
    makeFolder(dirname(path), isSecret, undo)
    undo.push(() => existsSync(unfinished) && rmSync(unfinished))
    writeFileSync(unfinished, text, { flag: 'wx', mode: isSecret ? 0o600 : 0o644, flush: true })
    if (existsSync(path)) {
      const aside = freeName(`${path}.bak`)
      renameSync(path, aside)
      undo.push(() => renameSync(aside, path))
    }
    renameSync(unfinished, path)
    undo.push(() => rmSync(path))
  } catch (cause) {
    throw new LeadsheetError('data_unwritable', `${path} cannot be written: ${faultText(cause)}`, {
      hint: 'Name a file in a folder that this user may write to with --config.',
      cause,
    })
  }
}

function makeFolder(folder: string, isSecret: boolean, undo: (() => unknown)[]): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder), false, undo)
  mkdirSync(folder, { mode: isSecret ? 0o700 : 0o755 })
  undo.push(() => rmdirSync(folder))
}

function freeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}${number}`
    if (!existsSync(name)) return name
  }
}
