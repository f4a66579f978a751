/**
 * Reads the settings file: parses the YAML, and finds the line of each setting. Reads profiles of upstreams
 * too. The values are checked later by the schema.
 */
import { readFileSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Document, YAMLError } from 'yaml'
import { errorText, faultText, LeadsheetError, shellCommand } from '../errors.ts'
import { loadPackage } from '../packages.ts'
import { isTree, type SettingPath, type SettingTree } from './setting-path.ts'

export const DEFAULT_FILE = 'leadsheet.yaml'
/** The absolute path of the file that shows every setting. */
export const EXAMPLE_FILE = fileURLToPath(new URL('../../leadsheet.example.yaml', import.meta.url))

export type SettingsFile = ReturnType<typeof readSettingsFile>

/**
 * @param name the path as the user gave it, relative to `cwd`; error messages use it
 * @param keepLine matches the only lines to read; by default all lines are read
 * @throws LeadsheetError config_invalid if the file cannot be read or is not YAML
 */
export function readSettingsFile(name: string, cwd: string, keepLine?: RegExp) {
  const path = resolve(cwd, name)
  const text = readText(path)
  // Other lines become empty, so that the numbers of the lines stay.
  const source = keepLine ? text.replaceAll(/^.*$/gm, (line) => (keepLine.test(line) ? line : '')) : text
  const { LineCounter, parseDocument } = loadPackage('yaml')
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false })
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  return {
    path,
    tree: toTree(document, name, place),
    /** Returns the place of a setting's value or name, such as `leadsheet.yaml:4:14`. */
    locate: (setting: SettingPath, part: 'value' | 'name') => place(offsetOf(document, setting, part)),
    isWorldReadable: isWorldReadable(path),
  }
}

/**
 * Returns whether all users of the machine may read a file. On Windows, which has no such file mode, the
 * result is always false.
 */
export function isWorldReadable(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o004) !== 0
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const fault = readFault(error)
    const remedy = /^E(ACCES|PERM)/.test(fault)
      ? 'Run the command as the user who may read it, such as by `sudo -u leadsheet`'
      : `${shellCommand('init')} writes one`
    throw new LeadsheetError('config_invalid', `cannot read the settings file ${path}: ${fault}`, {
      hint: `${remedy}; --config or LEADSHEET_CONFIG names another file.`,
      cause: error,
    })
  }
}

/** Returns the reason why a file could not be read. The reason does not contain the name of the file. */
export function readFault(error: unknown): string {
  const text = faultText(error)
  return text.startsWith('ENOENT') ? 'there is no such file' : text
}

function toTree(document: Document.Parsed, name: string, place: (offset: number) => string): SettingTree {
  const invalid = (problem: string) =>
    new LeadsheetError('config_invalid', `the settings file ${name} is not valid YAML:\n${problem}`, {
      hint: 'Colons need a space after them, and groups the same indentation throughout; no tabs. A value that ends with a colon needs quotes: url: "graph:".',
    })
  if (document.errors.length > 0) {
    throw invalid(
      document.errors.map((error: YAMLError) => `  ${place(error.pos[0])}  ${error.message}`).join('\n'),
    )
  }
  let value: unknown
  try {
    value = document.toJS()
  } catch (error) {
    // The document uses an alias that has no anchor, or too many aliases. The error does not quote the name
    // of the alias, because a secret that begins with * looks like an alias.
    const [text] = errorText(error).split(/: /)
    throw invalid(`  ${place(0)}  ${text}; what begins with * or & stands in quotes`)
  }
  const tree = withoutNulls(value ?? {})
  if (isTree(tree)) return tree
  const found = Array.isArray(tree) ? 'a list' : 'one value'
  throw new LeadsheetError(
    'config_invalid',
    `the settings file ${name} has no settings:\n  ${place(0)}  found ${found}, expected settings, each as "name: value"`,
  )
}

/**
 * Drops settings without a value, which YAML reads as null. A group whose settings are all commented out is
 * also null in YAML.
 */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isTree(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, withoutNulls(item)]),
  )
}

/**
 * Returns the offset of a setting in the text of the file. If the setting is absent, the offset of the
 * nearest group above it is returned.
 */
export function offsetOf(document: Document.Parsed, setting: SettingPath, part: 'value' | 'name'): number {
  const { isMap, isNode, isScalar } = loadPackage('yaml')
  for (let length = setting.length; length > 0; length--) {
    const parent = length === 1 ? document.contents : document.getIn(setting.slice(0, length - 1), true)
    const key = setting[length - 1]
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && item.key.value === key)
      : undefined
    const node =
      pair && (part === 'name' || length < setting.length)
        ? pair.key
        : document.getIn(setting.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

/** The unchecked data of a profile, which `parseProfile` checks later. */
export interface ProfileData {
  readonly data: unknown
  /** The path of the profile's file, for error messages. */
  readonly origin: string
  /**
   * Returns the place and the name of a part, with which an error begins: `profile.yaml:3:9  paging.kind`.
   */
  readonly nameOf: (path: SettingPath, part: 'value' | 'name') => string
  /**
   * The reason why the profile could not be read; null if it was read. The reason is reported only when the
   * profile is needed, because `probe` may be about to write the file.
   */
  readonly problem: string | null
}

/** @param path the absolute path of the profile */
export function readProfile(path: string, cwd: string): ProfileData {
  const origin = relative(cwd, path) || path
  const { LineCounter, parseDocument } = loadPackage('yaml')
  const lines = new LineCounter()
  try {
    const document = parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines })
    if (document.errors[0]) throw document.errors[0]
    const data: unknown = document.toJS()
    const nameOf: ProfileData['nameOf'] = (part, what) => {
      const { line, col } = lines.linePos(offsetOf(document, part, what))
      return `${origin}:${line}:${col}  ${part.join('.') || 'the profile'}`
    }
    const problem = isTree(data) ? null : 'is empty, or no mapping of names to values'
    return { data, origin, nameOf, problem }
  } catch (error) {
    const isUnread = error instanceof Error && 'syscall' in error
    const problem = isUnread
      ? `cannot be read: ${readFault(error)}`
      : `is not valid YAML: ${errorText(error).split('\n')[0]}`
    return { data: null, origin, nameOf: () => origin, problem }
  }
}
