/**
 * The settings as the program uses them: complete, checked, frozen. The schema gives names and defaults; here
 * paths become absolute, and a report gets the top-level value of each setting that it does not set.
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
