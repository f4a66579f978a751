/**
 * Finds the records in an answer of unknown form, and the values around the records. All functions are pure.
 */
import type { FieldPath } from './field-path.ts'

const DEPTH_MAX = 4
const LEAF_DEPTH_MAX = 5

/** The usual names of lists that hold records, and of lists that hold other things. */
const GOOD_NAMES =
  /^(data|items?|results?|records?|rows|entries|values?|list|content|objects|docs|hits|elements|leads?|contacts?|people|persons?|companies|deals|prospects|customers|members|users|issues)$/i
const BAD_NAMES =
  /^(included|errors?|warnings?|links?|meta|facets?|columns|fields|filters?|schema|aggregations?|messages?|breadcrumbs|sorts?)$/i
const ID_NAMES = /^(_?id|uuid|guid|key|slug|objectid|sys_id)$|[_a-z]id$|Id$|ID$|Uuid$/

interface RecordList {
  readonly path: FieldPath
  readonly records: readonly object[]
}

/**
 * Finds the list that looks most like a list of records, by its name, ids, size and depth; null if there is
 * none.
 */
export function findRecords(body: unknown): RecordList | null {
  let best: (RecordList & { points: number }) | null = null
  for (const list of listsOf(body, [])) {
    const points = pointsOf(list)
    if (best === null || points > best.points) best = { ...list, points }
  }
  return best
}

/** Returns whether an answer has an empty list that would hold records. */
export function isEmptyList(body: unknown, depth = 0): boolean {
  if (Array.isArray(body)) return body.length === 0
  if (typeof body !== 'object' || body === null || depth >= DEPTH_MAX) return false
  return Object.entries(body).some(
    ([name, value]) => (GOOD_NAMES.test(name) || !Array.isArray(value)) && isEmptyList(value, depth + 1),
  )
}

/** Lists every single value outside the records, with its path. */
export function* leavesAround(body: unknown, records: FieldPath, path: FieldPath = []): Generator<Leaf> {
  if (path.length > LEAF_DEPTH_MAX || (path.length === records.length && isPrefix(records, path))) return
  if (Array.isArray(body)) {
    yield* linksIn(body, path)
    return
  }
  if (typeof body !== 'object' || body === null) {
    yield { path, value: body }
    return
  }
  for (const [name, value] of Object.entries(body)) yield* leavesAround(value, records, [...path, name])
}

/** Lists the values in a list of links, each found by its relation: `links[rel=next].href`. */
function* linksIn(list: readonly unknown[], path: FieldPath): Generator<Leaf> {
  for (const item of list) {
    const [sign, relation] = Object.entries(Object(item)).find(([name]) => /^rel(ation)?$/i.test(name)) ?? []
    if (typeof relation !== 'string') continue
    const found = [...path.slice(0, -1), `${path.at(-1) ?? ''}[${sign}=${relation}]`]
    for (const [name, value] of Object.entries(Object(item)))
      if (typeof value === 'string' && name !== sign) yield { path: [...found, name], value }
  }
}

export interface Leaf {
  readonly path: FieldPath
  readonly value: unknown
}

/** Lists every single value and every list inside a record, with its path. */
export function* fieldsOf(record: unknown, path: FieldPath = []): Generator<Leaf> {
  if (typeof record === 'object' && record !== null && !Array.isArray(record) && path.length < DEPTH_MAX) {
    for (const [name, value] of Object.entries(record)) yield* fieldsOf(value, [...path, name])
  } else if (path.length > 0) {
    yield { path, value: record }
  }
}

function* listsOf(value: unknown, path: FieldPath): Generator<RecordList> {
  if (Array.isArray(value)) {
    const records = value.filter(
      (item): item is object => typeof item === 'object' && item !== null && !Array.isArray(item),
    )
    if (records.length > 0 && records.length === value.length) yield { path, records }
    return
  }
  if (typeof value !== 'object' || value === null || path.length >= DEPTH_MAX) return
  for (const [name, inner] of Object.entries(value)) yield* listsOf(inner, [...path, name])
}

function pointsOf({ path, records }: RecordList): number {
  const name = path.at(-1) ?? ''
  const hasIds = [...fieldsOf(records[0])].some(({ path: field }) => ID_NAMES.test(field.at(-1) ?? ''))
  return (
    (hasIds ? 6 : 0) +
    (path.length === 0 || GOOD_NAMES.test(name) ? 3 : 0) -
    (path.some((each) => BAD_NAMES.test(each)) ? 8 : 0) -
    path.length / 2 +
    Math.log10(records.length)
  )
}

function isPrefix(whole: FieldPath, start: FieldPath): boolean {
  return start.every((name, index) => whole[index] === name)
}
