/**
 * The settings as the program uses them: complete, checked, frozen. The schema gives names and defaults; here
 * paths become absolute, and reports take what the top level says.
 */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { addressOf, reportFrom } from './report-config.ts'
import { type Settings, schemaAt, settingsIn } from './schema.ts'
import { linesOf } from './schema-web.ts'
import { Secret, type SecretKind } from './secrets.ts'
import type { ProfileData } from './settings-file.ts'

export interface Config extends ReturnType<typeof configFrom> {
  /** The settings file; null when there is none. */
  readonly file: string | null
  /** Sentences about settings that are allowed but unwise. */
  readonly warnings: readonly string[]
  /** The origin of each setting that was given: `api.url` -> `leadsheet.yaml:3:8`. */
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
    /** The addresses of the recipients of reports that name none of their own. */
    recipients: recipients.map(addressOf),
    /** The folder of templates, which may be missing. */
    templatesDir: resolve(baseOf('templatesDir'), templatesDir ?? join(folder, 'templates')),
    reports: settings.reports.map((report) => reportFrom(report, settings)),
  }
}

/** Whether the snapshot has a schedule of its own. */
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

/** Every text of a configuration that must not get into a log. */
export function secretsOf(config: Config): string[] {
  const found = [...settingsIn(config)].flatMap(([path, value]) =>
    value instanceof Secret ? SECRET_TEXTS[schemaAt(path)?.secret ?? 'whole'](value.reveal()) : [],
  )
  return found.filter((text) => text !== '')
}

/** The shortest part of an address that may be a secret; shorter parts are words. */
const SECRET_PART = 12

const SECRET_TEXTS: Readonly<Record<SecretKind, (value: string) => string[]>> = {
  whole: (value) => [value],
  lines: linesOf,
  login: (value) => {
    const { password } = new URL(value)
    return [password, decodeURIComponent(password)]
  },
  // Because errors may quote parts of a path.
  address: (value) => {
    const { pathname, searchParams } = new URL(value)
    const parts = [...pathname.split('/'), ...searchParams.values()]
    return [value, ...parts.filter((part) => part.length >= SECRET_PART)]
  },
}
