/**
 * Paths into JSON, as profiles write them: `paging.next.after`, with `\.` for a dot in a name, or a list of
 * names for anything else (`['@odata.nextLink']`). An empty path is the value itself; a number an index;
 * `links[rel=next].href` the first of a list whose `rel` is `next`.
 */
import { z } from 'zod'

export type FieldPath = readonly string[]

export const fieldPathSchema = z
  .union([z.string(), z.array(z.string().min(1))])
  .transform((path): FieldPath => (typeof path === 'string' ? splitPath(path) : path))

export function splitPath(text: string): FieldPath {
  if (text === '') return []
  return [...text.matchAll(/((?:\\.|[^.\\])*)(?:\.|$)/g)]
    .map((match) => (match[1] ?? '').replace(/\\(.)/g, '$1'))
    .slice(0, text.endsWith('.') ? undefined : -1)
}

/** The other way round, so that a path can be shown and written down. */
export function pathText(path: FieldPath): string {
  return path.map((name) => name.replace(/[.\\]/g, '\\$&')).join('.')
}

/** Undefined where the path leads nowhere. Only own properties count. */
export function readPath(value: unknown, path: FieldPath): unknown {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = Object.hasOwn(at, name) ? (at as Readonly<Record<string, unknown>>)[name] : findItem(at, name)
  }
  return at
}

/** `link[relation=next]`: the first item of a list that says so of itself. */
function findItem(group: object, name: string): unknown {
  const [, list = '', field = '', wanted] = /^(.+)\[([^=[\]]+)=([^[\]]*)\]$/.exec(name) ?? []
  const items: unknown = wanted !== undefined && Object.hasOwn(group, list) ? Reflect.get(group, list) : null
  return Array.isArray(items) ? items.find((item) => readPath(item, [field]) === wanted) : undefined
}
