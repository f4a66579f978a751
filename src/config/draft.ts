/** Settings file and environment laid over each other, not yet judged, with the origin of every setting. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { VariableSetting } from './environment.ts'
import { mistakeLine, type Origin } from './mistakes.ts'
import { pathText, type SettingPath, type SettingTree, setValueAt, valueAt } from './setting-path.ts'
import { isWorldReadable, readFault, type SettingsFile } from './settings-file.ts'

export interface DraftOrigin extends Origin {
  /** The folder from which relative paths count. */
  readonly base: string
}

export interface Draft {
  readonly tree: SettingTree
  /** A part of the name is enough: an item of a list comes from where the list does. */
  findOrigin(path: SettingPath, part: 'value' | 'name'): DraftOrigin
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** Secrets, and the settings that name a file to read them from. */
const SECRET_FILES = [
  { path: ['api', 'key'], filePath: ['api', 'key_file'] },
  { path: ['mail', 'url'], filePath: ['mail', 'url_file'] },
] as const satisfies readonly { path: SettingPath; filePath: SettingPath }[]

/**
 * The environment wins. A secret and its file count as one setting: a key in the environment also replaces a
 * `key_file` of the settings file.
 */
export function draftSettings(
  file: SettingsFile | null,
  variables: readonly VariableSetting[],
  cwd: string,
): Draft {
  const tree: SettingTree = file?.tree ?? {}
  const origins = new Map<string, DraftOrigin>()
  layOver(tree, origins, variables, cwd)

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
  const warnings: string[] = []
  for (const { path, filePath } of SECRET_FILES) {
    const named = valueAt(tree, filePath)
    if (typeof named !== 'string') continue
    const origin = findOrigin(filePath, 'value')
    const other = valueAt(tree, path) === undefined ? null : findOrigin(path, 'value').name
    const secret =
      other === null
        ? readSecret(resolve(origin.base, named))
        : { problem: `${other} is set too; give only one of them` }
    if ('problem' in secret) {
      problems.push(mistakeLine(origin, secret.problem))
      continue
    }
    if (secret.warning) warnings.push(mistakeLine(origin, secret.warning))
    setValueAt(tree, path, secret.value)
    origins.set(pathText(path), { ...origin, place: secret.path })
  }
  return { tree, findOrigin, problems, warnings }
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

function readSecret(
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
