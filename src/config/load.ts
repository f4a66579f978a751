/**
 * Loads the settings file and the environment into one Config. An environment variable wins over the file.
 * One error reports all mistakes in both. Only this folder reads the environment of the process.
 */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { snakeCase } from '../domain/names.ts'
import { LeadsheetError } from '../errors.ts'
import { type Config, configFrom } from './config.ts'
import { conditionsIn, declaredTypesOf, filterFault } from './declared-types.ts'
import { CONFIG_VARIABLE, type Environment, readEnvironment, readProxy } from './environment.ts'
import { explainIssue, isSecret, mistakeLine } from './errors.ts'
import { type Draft, draftSettings } from './merge.ts'
import { type Settings, schemaAt, settingsIn, settingsSchema } from './schema.ts'
import { dashboardAccess, PROXY_REMEDY, TOKEN_REMEDY } from './schema-web.ts'
import { leavesOf, nearest, pathText, type SettingPath, type SettingTree } from './setting-path.ts'
import type { SettingsFile } from './settings-file.ts'
import { DEFAULT_FILE, EXAMPLE_FILE, readProfile, readSettingsFile } from './settings-file.ts'

interface LoadOptions {
  /**
   * The settings file that `--config` names, relative to `cwd`; null to read no file. If absent,
   * LEADSHEET_CONFIG or leadsheet.yaml is read.
   */
  readonly file?: string | null | undefined
  readonly env?: Environment
  readonly cwd?: string
  /**
   * For commands that only read: the settings that they need beside those that say where the data are. All
   * other wrong settings are left out with a warning. If absent, every wrong setting is an error.
   */
  readonly needed?: readonly NeededSetting[] | undefined
}

/** The settings that some of the commands need that only read. */
export type NeededSetting = 'api' | 'time_zone'
/** The settings that say where the data are. */
const DATA_SETTINGS = ['data_dir', 'database_url', 'database_url_file']

/** @throws LeadsheetError config_invalid, with a line for each mistake */
export function loadConfig(options: LoadOptions = {}): Config {
  const { file, env = process.env, cwd = process.cwd() } = options
  const needed = options.needed && [...DATA_SETTINGS, ...options.needed]
  const problems: string[] = []
  const doubtful: SettingPath[] = []
  const usual = existsSync(resolve(cwd, DEFAULT_FILE)) ? DEFAULT_FILE : null
  const name = file === undefined ? env[CONFIG_VARIABLE] || usual : file
  const read = (keepLine?: RegExp) => (name === null ? null : readSettingsFile(name, cwd, keepLine))
  const settingsFile = needed ? readPatiently(read, needed, problems) : read()
  const draft = draftSettings(settingsFile, readEnvironment(env, problems, doubtful), cwd)
  const proxy = readProxy(env, problems, doubtful)
  problems.push(...draft.problems)
  doubtful.push(...draft.unread)

  const parsed = settingsSchema.safeParse(draft.tree)
  const alreadyReported = draft.unread.map(pathText)
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.filter((key) => typeof key !== 'symbol')
    if (!alreadyReported.includes(pathText(path)))
      problems.push(...explainIssue(issue, draft.tree, draft.findOrigin))
  }
  const isRefused = !needed || doubtful.some(([first]) => needed.includes(String(first)))
  if ((!parsed.success || problems.length > 0) && isRefused) throw invalid(problems)
  const settings = parsed.success
    ? parsed.data
    : parseWithout(draft.tree, parsed.error, needed ?? [], problems)
  const baseOf = (name: string) => draft.findOrigin([snakeCase(name)], 'value').base
  const { profile: named } = settings.api
  const profile =
    named === null
      ? null
      : readProfile(resolve(draft.findOrigin(['api', 'profile'], 'value').base, named), cwd)
  const types = declaredTypesOf(profile)
  const isUnread = profile !== null && profile.problem !== null
  for (const { path, value } of isUnread ? [] : conditionsIn(draft.tree)) {
    const fault = filterFault(String(path.at(-1)), types, value)
    if (fault !== null) problems.push(mistakeLine(draft.findOrigin(path, 'name'), fault))
  }
  for (const [index, { columns }] of isUnread ? [] : settings.reports.entries()) {
    const unknown = columns.find((name) => !types.has(name))
    if (unknown === undefined) continue
    const origin = draft.findOrigin(['reports', index, 'columns'], 'value')
    problems.push(mistakeLine(origin, `the profile declares no field ${JSON.stringify(unknown)}`))
  }
  if (problems.length > 0 && !needed) throw invalid(problems)
  const config = configFrom(
    settings,
    profile,
    baseOf,
    settingsFile === null ? cwd : dirname(settingsFile.path),
  )

  return deepFreeze({
    file: settingsFile?.path ?? null,
    keyFile: draft.keyFile,
    proxy,
    ...config,
    mistakes: problems,
    warnings: [
      ...problems.map((mistake) => `${mistake} (left out)`),
      ...draft.warnings,
      ...warningsOf(settings, draft, settingsFile),
    ],
    sources: sourcesOf(draft),
  })
}

/** Reads the settings file; if it is no YAML, reads only the lines of the needed settings. */
function readPatiently(
  read: (keepLine?: RegExp) => SettingsFile | null,
  needed: readonly string[],
  problems: string[],
): SettingsFile | null {
  try {
    return read()
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    const file = read(new RegExp(`^(${needed.join('|')}) *:`))
    problems.push(thrown.message.replaceAll(/\s*\n\s*/g, ' '))
    return file
  }
}

/**
 * Parses the settings without the top-level ones that have mistakes.
 * @throws LeadsheetError config_invalid if a mistake is in the needed settings, or its name is like one of them
 */
function parseWithout(
  tree: SettingTree,
  { issues }: z.ZodError,
  needed: readonly string[],
  problems: readonly string[],
): Settings {
  const wrong = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [String(issue.path[0])],
  )
  if (wrong.some((name) => nearest(name, needed) !== null)) throw invalid(problems)
  for (const name of wrong) delete tree[name]
  // Without this list there would be a report that the settings do not have.
  if (wrong.includes('reports')) tree.reports = []
  return settingsSchema.parse(tree)
}

/**
 * Returns the path of the settings file that `--config` or the environment names, or the default path. The
 * file may be missing.
 */
export function settingsPath(file: string | undefined): string {
  return resolve(file ?? (process.env[CONFIG_VARIABLE] || DEFAULT_FILE))
}

function invalid(problems: readonly string[]): LeadsheetError {
  const count = problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`
  return new LeadsheetError(
    'config_invalid',
    `${count} in the settings:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    {
      mistakes: problems,
      hint: `${EXAMPLE_FILE} shows every setting.`,
    },
  )
}

/** Maps the name of each given setting to the place where it was given. */
function sourcesOf(draft: Draft): Record<string, string> {
  const given = [...settingsIn(draft.tree)].filter(([, value]) => value !== undefined)
  const sources = given.map(([path]) => {
    const { place, name } = draft.findOrigin(path, 'value')
    return [pathText(path), name === pathText(path) ? place : `${place} ${name}`]
  })
  return Object.fromEntries(sources)
}

function deepFreeze<T extends object>(value: T): T {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) deepFreeze(item)
  return Object.freeze(value)
}

/** Returns what is allowed but unwise, each at the place of its setting. */
export function warningsOf(settings: Settings, draft: Draft, file: SettingsFile | null): string[] {
  const { api, mail, web, databaseUrl } = settings
  const { token, listen, publicUrl, trustedProxies } = web
  const rows: readonly (readonly [SettingPath, string | null])[] = [
    [['api', 'url'], api.url && plainHttp(new URL(api.url))],
    [['mail', 'dkim', 'domain'], foreignSignature(mail)],
    [
      ['web', 'token'],
      listen !== null && dashboardAccess({ ...web, listen, hasToken: token !== null }) === 'closed'
        ? `the dashboard can be reached from outside, and is closed. ${TOKEN_REMEDY}`
        : null,
    ],
    [
      // TLS ends at a proxy, so that all visitors of an https address without a known proxy seem to be one.
      ['web', 'public_url'],
      publicUrl?.startsWith('https:') && trustedProxies.length === 0
        ? `all visitors seem to come from the proxy, and share its limits. ${PROXY_REMEDY}`
        : null,
    ],
    [
      // Several machines may share a database in PostgreSQL.
      ['mail', 'url'],
      databaseUrl !== null && mail.url !== null && new URL(mail.url.reveal()).protocol === 'file:'
        ? 'each machine puts the mails that it sends into a folder of its own'
        : null,
    ],
  ]
  const found = rows.flatMap(([path, warning]) =>
    warning === null ? [] : [mistakeLine(draft.findOrigin(path, 'value'), warning)],
  )
  return [...found, ...readableSecrets(draft, file)]
}

function plainHttp({ protocol, hostname, host }: URL): string | null {
  if (protocol !== 'http:' || /^(localhost|127\..*|\[::1\])$/.test(hostname)) return null
  return `the API key travels unencrypted to ${host}; use https:// if it can`
}

/**
 * Warns of a DKIM domain that does not match the sender's domain. DMARC (RFC 7489, 3.1.1) accepts a signature
 * only if both domains are the same or one is a subdomain of the other.
 */
function foreignSignature({ from, dkim }: Settings['mail']): string | null {
  if (from === null || dkim === null) return null
  const domain = dkim.domain.toLowerCase()
  const [, sender = ''] = /@([^@>]*)>?$/.exec(from.toLowerCase()) ?? []
  if (`.${sender}`.endsWith(`.${domain}`) || domain.endsWith(`.${sender}`)) return null
  return `a signature of ${domain} proves nothing about a sender at ${sender}`
}

/** Warns of secrets in a settings file that everyone can read. */
function readableSecrets(draft: Draft, file: SettingsFile | null): string[] {
  if (!file?.isWorldReadable) return []
  return [...leavesOf(draft.tree)].flatMap(([path, value]) => {
    const origin = draft.findOrigin(path, 'value')
    const stands =
      value !== undefined &&
      isSecret(path) &&
      origin.name === pathText(path) &&
      (schemaAt(path)?.secret !== 'login' || URL.parse(String(value))?.password !== '')
    if (!stands) return []
    return [mistakeLine(origin, `every user of this machine can read ${file.path}; chmod 600 it`)]
  })
}
