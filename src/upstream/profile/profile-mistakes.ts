/** Formats each mistake in a profile as one line: the place, the value found, and the values accepted. */
import type { z } from 'zod'
import { readPath } from '../values/json.ts'

const SHOWN_CHARS = 60

/**
 * Returns the place and the name of a part of the profile, such as `profile.yaml:3:9 paging.kind`. Each line
 * of an error begins with this text.
 */
export type NamePlace = (path: readonly string[], part: 'value' | 'name') => string

/**
 * Writes the lines for one mistake that zod found.
 * @param schema the profile's JSON Schema, which gives the known names
 */
export function explainIssue(
  issue: z.core.$ZodIssue,
  data: unknown,
  nameOf: NamePlace,
  schema: unknown,
): string[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const known = [...new Set(namesAt(schema, data, path))].join(', ')
    return issue.keys.map(
      (key) => `${nameOf([...path, key], 'name')}: there is no such part; known here: ${known}`,
    )
  }
  if (issue.code === 'invalid_union') {
    const closest = closestBranch(issue.errors)
    if (closest.length > 0) {
      return closest.flatMap((inner) =>
        explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, data, nameOf, schema),
      )
    }
  }
  const found = readPath(data, path)
  const shown = found === undefined ? 'not set' : `found ${shortJson(found)}`
  return [`${nameOf(path, 'value')}: ${shown}, expected ${acceptedBy(issue)}`]
}

/**
 * Returns the names that a group of the profile may contain. If the group has several forms (such as one for
 * each `kind` of paging), these are the names of the chosen form, or of all forms if none is chosen.
 */
function namesAt(schema: unknown, data: unknown, path: readonly string[]): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const node = schema as { anyOf?: unknown[]; oneOf?: unknown[]; properties?: object; items?: unknown }
  const branches = [...(node.anyOf ?? []), ...(node.oneOf ?? [])]
  if (branches.length > 0) {
    const chosen = branches.filter((branch) => isChosen(branch, data))
    return (chosen.length > 0 ? chosen : branches).flatMap((branch) => namesAt(branch, data, path))
  }
  const [name, ...rest] = path
  if (name === undefined) return Object.keys(node.properties ?? {})
  const inner = /^\d+$/.test(name) ? node.items : readPath(node.properties, [name])
  return namesAt(inner, readPath(data, [name]), rest)
}

/** Returns whether the data has the constant that marks this form of the group, such as `kind: page`. */
function isChosen(branch: unknown, data: unknown): boolean {
  const properties = Object.entries(Object(readPath(branch, ['properties'])))
  const marks = properties.filter(([, property]) => readPath(property, ['const']) !== undefined)
  return (
    marks.length > 0 &&
    marks.every(([name, property]) => readPath(data, [name]) === readPath(property, ['const']))
  )
}

/** Chooses the form whose mistakes are nested deepest, because the author probably meant that form. */
function closestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] {
  const depthOf = (issues: readonly z.core.$ZodIssue[]): number =>
    Math.max(0, ...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)))
  return branches.reduce<readonly z.core.$ZodIssue[]>(
    (best, branch) => (depthOf(branch) > depthOf(best) || best.length === 0 ? branch : best),
    [],
  )
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of names with values',
}

function acceptedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_value':
      return listed(issue.values, 'or')
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? `one of ${listed(issue.options, 'and')}`
        : issue.message
    case 'invalid_type':
      return KINDS[issue.expected] ?? issue.expected
    case 'too_small':
      return issue.origin === 'string'
        ? 'a text that is not empty'
        : `${countOf(issue)} ${issue.minimum} or more`
    case 'too_big':
      return `${countOf(issue)} ${issue.maximum} or less`
    default:
      return issue.message
  }
}

function countOf({ origin }: { readonly origin: string }): string {
  return origin === 'array' ? 'a list of' : 'a number of'
}

function listed(values: readonly unknown[], last: 'and' | 'or'): string {
  return values
    .map(String)
    .join(', ')
    .replace(/, ([^,]+)$/, ` ${last} $1`)
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text
}
