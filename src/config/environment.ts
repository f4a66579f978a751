/** Reads the settings that the environment gives, `LEADSHEET_*`. Each stands for one of the settings file. */

import { schemaAt, specialSettings } from './schema.ts'
import { nearest, pathText, type SettingPath } from './setting-path.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The variable that names the settings file itself. */
export const CONFIG_VARIABLE = 'LEADSHEET_CONFIG'

/** Whether systemd started this process and waits for its heartbeat: sd_watchdog_enabled(3). */
export function isWatchedBySystemd(env: Environment = process.env): boolean {
  return Boolean(env.NOTIFY_SOCKET && env.WATCHDOG_USEC)
}

const PREFIX = 'LEADSHEET_'

/** The settings that a variable gives, or that name a file with the setting, by the name of the variable. */
export const VARIABLES: Readonly<Record<string, SettingPath>> = Object.fromEntries(
  [...specialSettings()].flatMap(({ env, path, filePath }): [string, SettingPath][] =>
    env === null
      ? []
      : [[env, path], ...(filePath ? [[`${env}_FILE`, filePath] as [string, SettingPath]] : [])],
  ),
)

export interface VariableSetting {
  readonly variable: string
  readonly path: SettingPath
  readonly value: string | readonly string[]
}

/**
 * The settings given by the environment. An empty variable counts as not set.
 * @param problems receives a line for each unknown `LEADSHEET_*` variable
 */
export function readEnvironment(env: Environment, problems: string[]): VariableSetting[] {
  const known = [...Object.keys(VARIABLES), CONFIG_VARIABLE]
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || known.includes(name) || isServiceLink(name, value ?? '')) continue
    // The common prefix would make any two names look alike.
    const meant = nearest(
      name.slice(PREFIX.length),
      known.map((each) => each.slice(PREFIX.length)),
    )
    problems.push(
      `environment  ${name}: no such setting${meant === null ? '' : `; did you mean ${PREFIX}${meant}?`}`,
    )
  }
  return Object.entries(VARIABLES).flatMap(([variable, path]) => {
    const value = env[variable]?.trim()
    if (!value) return []
    return [{ variable, path, value: schemaAt(path)?.type === 'array' ? splitList(value) : value }]
  })
}

/** The variables that give a setting of the file, or name a file that holds it. */
export function variablesFor(path: SettingPath): string[] {
  const names = [pathText(path), `${pathText(path)}_file`]
  return Object.entries(VARIABLES).flatMap(([variable, known]) =>
    names.includes(pathText(known)) ? [variable] : [],
  )
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/**
 * Whether Kubernetes set the variable, which it does in every pod beside a service called leadsheet or
 * leadsheet-something.
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name) ||
    (name.endsWith('_PORT') && value.includes('://'))
  )
}
