/**
 * Formats each mistake in the settings as one line: the place, the setting, the value found, the values
 * accepted.
 */
import type { z } from 'zod'
import { schemaAt, settingsSchema, specialSettings } from './schema.ts'
import { nearest, pathText, type SettingPath, type SettingTree, setValueAt, valueAt } from './setting-path.ts'

/** The place where a setting was given, and the name that it has there. */
export interface Origin {
  /** A place such as `leadsheet.yaml:4:14`, `environment`, or the file that a secret was read from. */
  readonly place: string
  /** A name such as `api.url` or `LEADSHEET_API_URL`. */
  readonly name: string
}

type FindOrigin = (path: SettingPath, part: 'value' | 'name') => Origin

/** The paths of the settings whose values are never shown. */
const SECRET_PATHS: readonly SettingPath[] = [...specialSettings()].flatMap(({ path, secret }) =>
  secret === null ? [] : [path],
)

export function isSecret(path: SettingPath): boolean {
  return SECRET_PATHS.some((secret) => pathText(secret) === pathText(path))
}

export function mistakeLine({ place, name }: Origin, problem: string): string {
  return `${place}  ${name}: ${problem}`
}

/** Turns a validation issue of zod into lines for the error message. */
export function explainIssue(issue: z.core.$ZodIssue, tree: SettingTree, findOrigin: FindOrigin): string[] {
  const path = issue.path.filter((key) => typeof key !== 'symbol')
  const meant = issue.code === 'invalid_union' ? issue.errors.find(isOfRightKind) : undefined
  if (meant)
    return meant.flatMap((inner) =>
      explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, tree, findOrigin),
    )
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => mistakeLine(findOrigin([...path, key], 'name'), unknownName(path, key)))
  }
  // A text may stand for a group, such as `Ana <ana@example.com>` for a recipient with a name.
  while (typeof valueAt(tree, path.slice(0, -1)) === 'string') path.pop()
  const value = valueAt(tree, path)
  const found = value === undefined ? 'not set, ' : mayHoldSecret(path) ? '' : `found ${shown(value)}, `
  return [mistakeLine(findOrigin(path, 'value'), `${found}expected ${issue.message}`)]
}

/**
 * A setting may accept several types, such as a text or a group. Returns true if all issues of one type are
 * about details inside the value. In this case, the user meant this type.
 */
function isOfRightKind(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys')
}

function unknownName(group: SettingPath, name: string): string {
  const schema = schemaAt(group)
  const known = [schema, ...(schema?.anyOf ?? [])].flatMap((kind) => Object.keys(kind?.properties ?? {}))
  const meant = nearest(name, known)
  return `no such setting; ${meant === null ? `known here: ${known.join(', ')}` : `did you mean ${meant}?`}`
}

/**
 * Returns whether the value at the path may contain a secret. The path of a group that has a secret setting
 * counts too, because a user may have written the secret in place of the whole group.
 */
function mayHoldSecret(path: SettingPath): boolean {
  return SECRET_PATHS.some((secret) => path.every((key, index) => secret[index] === key))
}

const SHOWN_CHARACTERS = 60

/** Formats a value for an error: cut to 60 characters, and without the login of a URL. */
function shown(value: unknown): string {
  const text = JSON.stringify(value).replace(/\/\/[^/@]*@/g, '//[redacted]@')
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`
}

/**
 * Checks a value for one setting. Returns null if the value is valid, otherwise a text such as `expected a
 * whole number`.
 */
export function settingFault(path: SettingPath, value: unknown): string | null {
  const tree: SettingTree = {}
  setValueAt(tree, path, value)
  const issues = settingsSchema.safeParse(tree).error?.issues ?? []
  const issue = issues.find((each) =>
    pathText(each.path.filter((key) => typeof key !== 'symbol')).startsWith(pathText(path)),
  )
  return issue === undefined ? null : `expected ${issue.message}`
}
