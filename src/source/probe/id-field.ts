/** Which field identifies a record: one that every record has, and no two share. */
import { type FieldPath, pathText, readPath } from '../field-path.ts'
import { toText } from '../field-rule.ts'
import { fieldsOf } from './json-shape.ts'

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

export interface IdField {
  readonly path: FieldPath
  /** Whether its name speaks for it. */
  readonly isNamed: boolean
}

export function pickId(records: readonly unknown[]): IdField | null {
  const fields = [...fieldsOf(records[0])].filter(({ path }) => isUnique(records, path))
  const ranked = fields
    .map(({ path }) => ({ path, rank: rankOf(path) }))
    .filter(({ path, rank }) => rank < Number.POSITIVE_INFINITY || !looksLikeMeasure(records, path))
    .sort((a, b) => a.rank - b.rank || a.path.length - b.path.length)
  const [best] = ranked
  return best === undefined ? null : { path: best.path, isNamed: best.rank < 100 }
}

/** Whether every record has a value there, and no two the same. */
export function isUnique(records: readonly unknown[], path: FieldPath): boolean {
  const values = records.map((record) => toText(readPath(record, path)))
  return values.every((value) => value !== null) && new Set(values).size === values.length
}

function rankOf(path: FieldPath): number {
  const name = (path.at(-1) ?? '').toLowerCase().replace(/[^a-z]/g, '')
  const at = NAMES.indexOf(name)
  // The id of something else inside the record, such as company.id, only after one that ends the record's own.
  const depth = isOwnGroup(path) ? 0 : path.length - 1
  if (at >= 0) return at + depth * 20
  if (name.endsWith('id') || name.endsWith('uuid')) return 60 + depth
  const late = LATE_NAMES.indexOf(name)
  return late < 0 ? Number.POSITIVE_INFINITY : 100 + late + depth * 20
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
