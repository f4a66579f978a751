/** Which field identifies a record: one that every record has, and no two share. */

import { toText } from '../upstream/profile/field-rule.ts'
import { type FieldPath, pathText, readPath } from '../upstream/values/field-path.ts'
import { fieldsOf } from '../upstream/values/json-shape.ts'

/** The last name of the path in lower case, without signs; the best first. */
const NAMES = [
  'id',
  'uuid',
  'guid',
  'objectid',
  'sysid',
  'leadid',
  'contactid',
  'recordid',
  'hsobjectid',
  'gid',
]
const LATE_NAMES = ['key', 'slug', 'number', 'ref', 'reference', 'code', 'externalid', 'email']
/** Where records have nothing else, and many of them were seen, none with the same. */
const NAMES_OF_RECORDS = ['name', 'login', 'username', 'handle']
const NAMED_RECORDS_MIN = 10

export interface IdField {
  readonly path: FieldPath
}

export function pickId(records: readonly unknown[]): IdField | null {
  const fields = [...fieldsOf(records[0])].filter(({ path }) => isUnique(records, path))
  const [best] = fields
    .map(({ path }) => ({ path, rank: rankOf(path) }))
    .filter(({ path, rank }) => rank < Number.POSITIVE_INFINITY || mayBeId(records, path))
    .sort(
      (a, b) =>
        a.rank - b.rank || Number(isName(b.path)) - Number(isName(a.path)) || a.path.length - b.path.length,
    )
  return best ?? null
}

/** Whether records are told apart by what they are called, which others may be called too. */
export function isName(path: FieldPath): boolean {
  return path.length === 1 && NAMES_OF_RECORDS.includes(plainNameOf(path))
}

/** Whether every record has a value there, and no two the same. */
export function isUnique(records: readonly unknown[], path: FieldPath): boolean {
  const values = records.map((record) => toText(readPath(record, path)))
  return values.every((value) => value !== null) && new Set(values).size === values.length
}

function rankOf(path: FieldPath): number {
  const name = plainNameOf(path)
  const at = NAMES.indexOf(name)
  // The id of something else inside the record, such as company.id, only after one that ends the record's own.
  const depth = isOwnGroup(path) ? 0 : path.length - 1
  if (at >= 0) return at + depth * 20
  if (name.endsWith('id') || name.endsWith('uuid')) return 60 + depth
  const late = LATE_NAMES.indexOf(name)
  return late < 0 ? Number.POSITIVE_INFINITY : 100 + late + depth * 20
}

function plainNameOf(path: FieldPath): string {
  return (path.at(-1) ?? '').toLowerCase().replace(/[^a-z]/g, '')
}

/** A field whose name does not speak for it: one record alone says nothing, as whatever it has is unique. */
function mayBeId(records: readonly unknown[], path: FieldPath): boolean {
  if (isName(path)) return records.length >= NAMED_RECORDS_MIN
  return records.length > 1 && !looksLikeMeasure(records, path)
}

function isOwnGroup(path: FieldPath): boolean {
  return path.length <= 2 && /^(attributes|fields|properties|data|node)$/i.test(path[0] ?? '')
}

/** Times and amounts may differ in every record by chance. */
function looksLikeMeasure(records: readonly unknown[], path: FieldPath): boolean {
  const values = records.map((record) => readPath(record, path))
  const text = pathText(path)
  return (
    /(at|date|time|amount|value|score|name|title|description|text|count|total|price)$/i.test(text) ||
    values.some(
      (value) => typeof value === 'string' && (value.length > 64 || /\s|^\d{4}-\d\d-\d\d/.test(value)),
    )
  )
}
