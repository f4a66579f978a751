/** A line for each mistake in a profile: where, what was found, what is accepted. */
import type { z } from 'zod'
import { readPath } from './field-path.ts'

const SHOWN_CHARS = 60

export function explainIssue(issue: z.core.$ZodIssue, data: unknown, origin: string): string[] {
  const path = issue.path.map(String)
  const place = `${origin}  ${path.join('.') || 'the profile'}`
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${origin}  ${[...path, key].join('.')}: there is no such part`)
  }
  if (issue.code === 'invalid_union') {
    const closest = closestBranch(issue.errors)
    if (closest.length > 0) {
      return closest.flatMap((inner) =>
        explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, data, origin),
      )
    }
  }
  const found = readPath(data, path)
  const shown = found === undefined ? 'not set' : `found ${shortJson(found)}`
  return [`${place}: ${shown}, expected ${acceptedBy(issue)}`]
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
