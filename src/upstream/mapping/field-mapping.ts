/**
 * Reads the declared fields of a record. A value that does not fit the type of its field is kept as null and
 * counted, so that no column ever has a value of another type.
 */
import type { DeclaredType, FieldCell, FieldValues } from '../../domain/declared-fields.ts'
import type { FieldDeclaration } from '../profile/declared-field.ts'
import { readField, toText } from '../profile/field-rule.ts'
import { readPath } from '../values/json.ts'
import { type DecimalSign, isPlaceholderTime, toInstant, toNumber } from '../values/scalar.ts'

/** Stands for a value that does not fit its type. */
const UNFIT = Symbol('unfit')

/** Null if the profile declares no fields. */
export function mapFields(record: unknown, fields: readonly FieldDeclaration[]): FieldValues | null {
  if (fields.length === 0) return null
  const unfit: number[] = []
  // Most declared fields stand in one group, such as `custom`, which is looked up once.
  let groupName = ''
  let group: unknown = null
  const cells = fields.map(({ rule, member, type }, place): FieldCell => {
    if (member !== null && member.group !== groupName) {
      groupName = member.group
      group = readPath(record, [groupName])
    }
    const value = member === null ? readField(record, rule) : (readPath(group, member.path) ?? null)
    if (value === null || value === '') return null
    const cell = CONVERT[type](value, rule.decimal)
    if (cell !== UNFIT) return cell
    unfit.push(place)
    return null
  })
  return { fields, cells, unfit }
}

type Convert = (value: unknown, decimal: DecimalSign | undefined) => FieldCell | typeof UNFIT

const TRUE = /^(true|yes|y|on|1)$/i
const FALSE = /^(false|no|n|off|0)$/i
const DAY = /^\d{4}-\d\d-\d\d/
/** A day of at most 28 is certainly valid, and needs no further check, which would take most of the time. */
const CANONICAL_DAY = /^(?:197[1-9]|19[89]\d|20\d\d)-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/

const CONVERT: Readonly<Record<DeclaredType, Convert>> = {
  text: (value) => toText(value) ?? orNothing(value),
  number: (value, decimal) => toNumber(value, decimal) ?? orNothing(value),
  integer(value, decimal) {
    const number = toNumber(value, decimal)
    if (number === null) return orNothing(value)
    return Number.isSafeInteger(number) ? number : UNFIT
  },
  boolean(value) {
    if (typeof value === 'boolean') return value ? 1 : 0
    const text = toText(value)?.trim() ?? ''
    if (TRUE.test(text)) return 1
    return FALSE.test(text) ? 0 : orNothing(value)
  },
  time: (value) => toInstant(value) ?? orNoTime(value),
  // The day as it is written, because a time zone that shifts it would make another day of it.
  date(value) {
    if (typeof value === 'string' && CANONICAL_DAY.test(value)) return value
    const at = toInstant(value)
    if (at === null) return orNoTime(value)
    return typeof value === 'string' && DAY.test(value.trim()) ? value.trim().slice(0, 10) : at.slice(0, 10)
  },
  json: (value) => (value === Number.POSITIVE_INFINITY ? UNFIT : JSON.stringify(value)),
}

/** Some upstreams send false, 0 or 0000-00-00 in place of a time. */
function orNoTime(value: unknown): null | typeof UNFIT {
  return value === false || isPlaceholderTime(value) ? null : orNothing(value)
}

/** A text in which nothing can be seen is no value. */
function orNothing(value: unknown): null | typeof UNFIT {
  return typeof value === 'string' && toText(value) === null ? null : UNFIT
}
