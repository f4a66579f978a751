/**
 * Merges the settings file and the environment variables before the values are checked, and remembers where
 * each setting was given.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { VariableSetting } from './environment.ts'
import { mistakeLine, type Origin } from './errors.ts'
import { specialSettings } from './schema.ts'
import { pathText, type SettingPath, type SettingTree, setValueAt, valueAt } from './setting-path.ts'
import { isWorldReadable, readFault, type SettingsFile } from './settings-file.ts'

interface DraftOrigin extends Origin {
  /** The folder from which a relative path in the setting is resolved. */
  readonly base: string
}

export type Draft = ReturnType<typeof draftSettings>

/** The paths of all secrets, each with the path of the setting that names a file with the secret. */
const SECRET_FILES = [...specialSettings()].flatMap(({ path, filePath, secret }) =>
  secret === null || filePath === null ? [] : [{ path, filePath }],
)

/**
 * Merges the settings file and the environment variables; a variable wins. A setting and its `_file` form
 * count as one setting: the variable for `api.key` also replaces `api.key_file` of the settings file.
 */
export function draftSettings(file: SettingsFile | null, variables: readonly VariableSetting[], cwd: string) {
  const tree: SettingTree = file?.tree ?? {}
  const origins = new Map<string, DraftOrigin>()
  layOver(tree, origins, variables, cwd)

  /**
   * Finds the place where a setting was given. For a list item without a place of its own, returns the place
   * of the list.
   */
  const findOrigin = (path: SettingPath, part: 'value' | 'name'): DraftOrigin => {
    for (let length = path.length; length > 0; length--) {
      const origin = origins.get(pathText(path.slice(0, length)))
      if (origin) return origin
    }
    const name = pathText(path)
    return file === null || valueAt(tree, path.slice(0, 1)) === undefined
      ? { place: 'default', name, base: cwd }
      : { place: file.locate(path, part), name, base: dirname(file.path) }
  }
  const problems: string[] = []
  /** The secrets that are given twice or whose file could not be read, of which `problems` has a line each. */
  const unread: SettingPath[] = []
  const warnings: string[] = []
  /** The absolute path of the file that holds the API key; null if the key is given otherwise. */
  let keyFile: string | null = null
  for (const { path, filePath } of SECRET_FILES) {
    const named = valueAt(tree, filePath)
    if (typeof named !== 'string') continue
    const origin = findOrigin(filePath, 'value')
    const isGivenTwice = valueAt(tree, path) !== undefined
    const secret = isGivenTwice
      ? { problem: `${findOrigin(path, 'value').name} is set too; give only one of them` }
      : readSecret(resolve(origin.base, named))
    if ('problem' in secret) {
      problems.push(mistakeLine(origin, secret.problem))
      unread.push(path)
      continue
    }
    if (secret.warning) warnings.push(mistakeLine(origin, secret.warning))
    setValueAt(tree, path, secret.value)
    if (pathText(path) === 'api.key') keyFile = secret.path
    origins.set(pathText(path), { ...origin, place: secret.path })
  }
  return { tree, findOrigin, problems, unread, warnings, keyFile }
}

function layOver(
  tree: SettingTree,
  origins: Map<string, DraftOrigin>,
  variables: readonly VariableSetting[],
  cwd: string,
): void {
  const given = variables.map(({ path }) => pathText(path))
  for (const { path, filePath } of SECRET_FILES) {
    if (!given.includes(pathText(path)) && !given.includes(pathText(filePath))) continue
    for (const replaced of [path, filePath]) setValueAt(tree, replaced, undefined)
  }
  for (const { variable, path, value } of variables) {
    setValueAt(tree, path, value)
    origins.set(pathText(path), { place: 'environment', name: variable, base: cwd })
  }
}

/** Reads a file with a secret, which may have been written anew since the settings were loaded. */
export function readSecret(
  path: string,
): { path: string; value: string; warning: string | null } | { problem: string } {
  try {
    const value = readFileSync(path, 'utf8').trim()
    if (value === '') return { problem: `${path} is empty` }
    const warning = isWorldReadable(path) ? `every user of this machine can read ${path}; chmod 600 it` : null
    return { path, value, warning }
  } catch (error) {
    return { problem: `cannot read ${path}: ${readFault(error)}` }
  }
}
