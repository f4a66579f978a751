/** A line for each mistake in a profile: where, what was found, what is accepted. */
import type { z } from 'zod'
import { readPath } from './field-path.ts'

const SHOWN_CHARS = 60

/** @param schema what a profile may hold, as JSON Schema: for the names that are known */
export function explainIssue(
  issue: z.core.$ZodIssue,
  data: unknown,
  origin: string,
  schema: unknown,
): string[] {
  const path = issue.path.map(String)
  const place = `${origin}  ${path.join('.') || 'the profile'}`
  if (issue.code === 'unrecognized_keys') {
    const known = [...new Set(namesAt(schema, path))].join(', ')
    return issue.keys.map(
      (key) => `${origin}  ${[...path, key].join('.')}: there is no such part; known here: ${known}`,
    )
  }
  if (issue.code === 'invalid_union') {
    const closest = closestBranch(issue.errors)
    if (closest.length > 0) {
      return closest.flatMap((inner) =>
        explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, data, origin, schema),
      )
    }
  }
  const found = readPath(data, path)
  const shown = found === undefined ? 'not set' : `found ${shortJson(found)}`
  return [`${place}: ${shown}, expected ${acceptedBy(issue)}`]
}

/** The names that a group may hold; of a choice those of all its branches. */
function namesAt(schema: unknown, path: readonly string[]): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const node = schema as { anyOf?: unknown[]; oneOf?: unknown[]; properties?: object; items?: unknown }
  const branches = [...(node.anyOf ?? []), ...(node.oneOf ?? [])]
  if (branches.length > 0) return branches.flatMap((branch) => namesAt(branch, path))
  const [name, ...rest] = path
  if (name === undefined) return Object.keys(node.properties ?? {})
  return namesAt(/^\d+$/.test(name) ? node.items : readPath(node.properties, [name]), rest)
}

/** The branch whose mistakes lie deepest is the one that was meant. */
function closestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] {
  const depthOf = (issues: readonly z.core.$ZodIssue[]): number =>
    Math.max(0, ...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)))
  return branches.reduce<readonly z.core.$ZodIssue[]>(
    (best, branch) => (depthOf(branch) > depthOf(best) || best.length === 0 ? branch : best),
    [],
  )
}

function acceptedBy(issue: z.core.$ZodIssue): string {
  const path = issue.path
  if (issue.code === 'invalid_value')
    return issue.values
      .map(String)
      .join(', ')
      .replace(/, ([^,]+)$/, ' or $1')
  if (issue.code === 'invalid_union' && path.at(-1) === 'kind')
    return 'one of cursor, page, offset, next_url, link, range, last_id and none'
  if (issue.code === 'invalid_type') return issue.expected
  return issue.message
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text
}
