/**
 * Reads values at paths in JSON. Profiles write a path as `paging.next.after`, with `\.` for a dot in a name,
 * or as a list of names (`['@odata.nextLink']`). An empty path is the value itself, and a number is an index.
 * `links[rel=next].href` takes the first item of `links` whose `rel` is `next`.
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

/** Writes a path as text. `splitPath` does the opposite. */
export function pathText(path: FieldPath): string {
  return path.map((name) => name.replace(/[.\\]/g, '\\$&')).join('.')
}

/** Returns the value at a path; undefined if there is none. Only an object's own properties count. */
export function readPath(value: unknown, path: FieldPath): unknown {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = Object.hasOwn(at, name) ? (at as Readonly<Record<string, unknown>>)[name] : findItem(at, name)
  }
  return at
}

/** Finds an item by one of its fields: `link[relation=next]` is the first item whose `relation` is `next`. */
function findItem(group: object, name: string): unknown {
  const [, list = '', field = '', wanted] = /^(.+)\[([^=[\]]+)=([^[\]]*)\]$/.exec(name) ?? []
  const items: unknown = wanted !== undefined && Object.hasOwn(group, list) ? Reflect.get(group, list) : null
  return Array.isArray(items) ? items.find((item) => readPath(item, [field]) === wanted) : undefined
}
