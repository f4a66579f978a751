/**
 * Reads the settings from environment variables `LEADSHEET_*`. Each variable replaces one setting of the
 * settings file.
 */

import { isDecodable } from '../store/db/place.ts'
import { schemaAt, specialSettings } from './schema.ts'
import { Secret } from './secrets.ts'
import { nearest, pathText, type SettingPath } from './setting-path.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The variable that gives the path of the settings file. */
export const CONFIG_VARIABLE = 'LEADSHEET_CONFIG'

/**
 * Returns whether systemd started this process and expects a regular heartbeat from it:
 * sd_watchdog_enabled(3).
 */
export function isWatchedBySystemd(): boolean {
  return Boolean(process.env.NOTIFY_SOCKET && process.env.WATCHDOG_USEC)
}

const PREFIX = 'LEADSHEET_'

/**
 * Maps the name of each variable to the path of its setting. A variable such as `LEADSHEET_API_KEY_FILE`
 * belongs to the setting `api.key_file`.
 */
export const VARIABLES: Readonly<Record<string, SettingPath>> = Object.fromEntries(
  [...specialSettings()].flatMap(({ env, path, filePath }): [string, SettingPath][] =>
    env === null
      ? []
      : [[env, path], ...(filePath ? [[`${env}_FILE`, filePath] as [string, SettingPath]] : [])],
  ),
)

export type VariableSetting = ReturnType<typeof readEnvironment>[number]

/**
 * Returns the settings that the environment gives. An empty variable counts as not set.
 * @param problems receives a line for each unknown `LEADSHEET_*` variable
 * @param doubtful receives the setting that such a variable probably means
 */
export function readEnvironment(env: Environment, problems: string[], doubtful: SettingPath[]) {
  const known = [...Object.keys(VARIABLES), CONFIG_VARIABLE]
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || known.includes(name) || isServiceLink(name, value ?? '')) continue
    // The names are compared without their prefix, because the common prefix would make all names similar.
    const meant = nearest(
      name.slice(PREFIX.length),
      known.map((each) => each.slice(PREFIX.length)),
    )
    doubtful.push(VARIABLES[PREFIX + meant] ?? [])
    problems.push(
      `environment  ${name}: no such setting${meant === null ? '' : `; did you mean ${PREFIX}${meant}?`}`,
    )
  }
  return Object.entries(VARIABLES).flatMap(([variable, path]) => {
    const value = env[variable]?.trim()
    if (!value) return []
    const schema = schemaAt(path)
    const isList = [schema, ...(schema?.anyOf ?? [])].some((kind) => kind?.type === 'array')
    return [{ variable, path, value: isList ? splitList(value) : value }]
  })
}

/** Returns the variables that set this setting or its `_file` form. */
export function variablesFor(path: SettingPath): string[] {
  const names = [pathText(path), `${pathText(path)}_file`]
  return Object.entries(VARIABLES).flatMap(([variable, known]) =>
    names.includes(pathText(known)) ? [variable] : [],
  )
}

/** Splits a list at its commas, except those in quotes, as in `"Lopes, Ana" <ana@example.com>`. */
export function splitList(value: string): string[] {
  const items: readonly string[] = value.match(/(?:"(?:[^"\\]|\\.)*"|[^,])+/g) ?? []
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

/** The proxies of the environment, whose URLs may contain a login. */
export type EnvironmentProxy = ReturnType<typeof readProxy>

/**
 * Returns the proxies that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name, as undici reads them: a variable in
 * small letters goes first, and HTTP_PROXY holds for https:// too if there is no HTTPS_PROXY.
 * @param problems receives a line for each variable that is no URL
 * @param doubtful then receives `api`, because requests to it would take another way
 */
export function readProxy(env: Environment, problems: string[], doubtful: SettingPath[]) {
  const textOf = (name: string) => (env[name.toLowerCase()] ?? env[name])?.trim() ?? ''
  const proxyIn = (name: string): Secret | null => {
    const value = textOf(name)
    const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`)
    if (value === '') return null
    if (url !== null && /^https?:$/.test(url.protocol) && isDecodable(url.username + url.password))
      return new Secret(url.href)
    doubtful.push(['api'])
    problems.push(`environment  ${name}: expected the URL of a proxy, such as http://proxy.example.com:3128`)
    return null
  }
  const http = proxyIn('HTTP_PROXY')
  return {
    http,
    https: proxyIn('HTTPS_PROXY') ?? http,
    except: textOf('NO_PROXY')
      .split(/[,\s]+/)
      .filter(Boolean),
  }
}

/**
 * Returns whether Kubernetes set the variable. If a service is called leadsheet or leadsheet-something,
 * Kubernetes adds variables such as LEADSHEET_PORT to every pod.
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name) ||
    (name.endsWith('_PORT') && value.includes('://'))
  )
}

/** Returns the environment for a child process that works with the same proxies and certificates. */
export function environmentOfChild(): Environment {
  return process.env
}
