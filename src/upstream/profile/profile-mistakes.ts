/** Formats each mistake in a profile as one line: the place, the value found, and the values accepted. */
import { z } from 'zod'
import { readPath } from '../values/json.ts'

const SHOWN_CHARS = 60

/** The place and the name of a part, such as `profile.yaml:3:9 paging.kind`, begin each line of an error. */
export type NamePlace = (path: readonly string[], part: 'value' | 'name') => string

/** The shape of a group of parts. It accepts no other names, and its mistakes name those that it has. */
export function group<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ')
  const error = ({ code }: { readonly code: string }) => (code === 'unrecognized_keys' ? known : undefined)
  return z.strictObject(shape, { error })
}

export function explainIssue(issue: z.core.$ZodIssue, data: unknown, nameOf: NamePlace): string[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      (key) => `${nameOf([...path, key], 'name')}: there is no such part; known here: ${issue.message}`,
    )
  }
  if (issue.code === 'invalid_union') {
    const closest = closestBranch(issue.errors)
    if (closest.length > 0) {
      return closest.flatMap((inner) =>
        explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, data, nameOf),
      )
    }
  }
  const found = readPath(data, path)
  const shown = found === undefined ? 'not set' : `found ${shortJson(found)}`
  return [`${nameOf(path, 'value')}: ${shown}, expected ${acceptedBy(issue)}`]
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

/** Shortens the text of zod, such as `Invalid input: expected string, received number`. */
function acceptedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options))
    return `one of ${issue.options.join(', ')}`
  return issue.message.replace(/^[^:]*: expected /, '').replace(/, received .*$/, '')
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text
}
