/** Lists the fields of records that a found profile does not read, with the kind of their values. */
import type { FieldPath } from '../upstream/values/json.ts'
import { pathText } from '../upstream/values/json.ts'
import { toInstant } from '../upstream/values/scalar.ts'
import type { Gap } from './ask.ts'
import { columnsOf, type FoundField, isSmallNumber } from './field-probe.ts'

/** The fields that are named; a record may have hundreds. */
const NAMED_MAX = 20

/** Returns a gap that names the fields, without their values; none if every field is read. */
export function unreadFields(
  records: readonly unknown[],
  id: FieldPath,
  fields: readonly FoundField[],
): Gap[] {
  const read = new Set([pathText(id), ...fields.flatMap(({ rule }) => pathsOf(rule))])
  const unread = columnsOf(records).filter(
    ({ path, values }) => values.length > 0 && !read.has(pathText(path)),
  )
  if (unread.length === 0) return []
  const named = unread.slice(0, NAMED_MAX).map(({ path, values }) => `${pathText(path)} (${kindOf(values)})`)
  const more = unread.length > NAMED_MAX ? ` and ${unread.length - NAMED_MAX} more` : ''
  return [
    {
      place: 'mapping.lead',
      problem: `nothing reads these fields: ${named.join(', ')}${more}`,
      remedy: null,
    },
  ]
}

function pathsOf(rule: FoundField['rule']): string[] {
  if (typeof rule === 'string') return [rule]
  if (Array.isArray(rule)) return rule
  return 'all' in rule ? rule.all.flat() : [rule.from]
}

function kindOf(values: readonly unknown[]): string {
  const all = (test: (value: unknown) => boolean) => values.every(test)
  if (all((value) => typeof value === 'boolean')) return 'yes or no'
  if (all((value) => toInstant(value) !== null && !isSmallNumber(value))) return 'a time'
  if (all((value) => typeof value === 'number')) return 'a number'
  if (all((value) => typeof value === 'string' && /^[^@\s]+@[^@\s]+$/.test(value))) return 'an e-mail address'
  return all((value) => typeof value === 'string') ? 'a text' : all(Array.isArray) ? 'a list' : 'mixed values'
}
