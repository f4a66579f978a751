/**
 * Turns the conditions of a filter into SQL on the columns of `lead`, which hold the present values. The values
 * of declared fields are in `lead_values` in a store, and columns of `lead_field` in a snapshot.
 */
import { FILTER_COLUMNS } from '../../domain/choices.ts'
import { type DeclaredType, FIELD_NAME, filterKindOf } from '../../domain/declared-fields.ts'
import type { FilterCondition, LeadFilter } from '../../domain/figures.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Db } from '../db/store.ts'
import { listFields } from '../leads/declared-fields.ts'
import { quoted } from '../schema/describe.ts'

export const EVERY_LEAD: LeadFilter = { pipelineIds: null, conditions: [] }

/**
 * Joins all conditions by AND. The parameters of each condition are numbered by its position: `:only_1`,
 * `:least_2`, `:most_2`.
 * @throws LeadsheetError config_invalid for a column that filters do not have, or a condition that does not
 * fit its column
 */
export function chosenSql(
  conditions: readonly FilterCondition[],
  where: 'store' | 'snapshot' = 'store',
): string {
  return conditions
    .map((condition, index) => {
      const { type, field } = condition
      if (type === undefined) return conditionSql(condition, index + 1)
      const [table, value] =
        where === 'snapshot' ? ['lead_field', quoted(field)] : ['lead_values', storedValueSql(field, type)]
      return `no IN (SELECT lead_no FROM ${table} WHERE ${conditionSql(condition, index + 1, value)})`
    })
    .join(' AND ')
}

/** The place of a field belongs to its name and type, so that all values there can be cast. */
function storedValueSql(field: string, type: DeclaredType): string {
  const place = `(SELECT CAST(place AS integer) FROM declared_field WHERE name = '${field}' AND type = '${type}')`
  const value = `(cells ->> ${place})`
  return filterKindOf(type) === 'number' || type === 'boolean' ? `CAST(${value} AS double precision)` : value
}

/** Selects ids as `lead_id`, from a snapshot. The ids of the pipelines are bound to `:pipelines`. */
export function chosenLeadsSql({ pipelineIds, conditions }: LeadFilter): string {
  const wanted = [
    ...(pipelineIds === null ? [] : ['pipeline_id IN (SELECT value FROM json_each(:pipelines))']),
    ...(conditions.length === 0 ? [] : [chosenSql(conditions, 'snapshot')]),
  ]
  return `SELECT id AS lead_id FROM lead${wanted.length === 0 ? '' : ` WHERE ${wanted.join(' AND ')}`}`
}

/**
 * A field that was declared after the last sync would have no values, so that its filter would take no lead.
 * @throws LeadsheetError report_no_data
 */
export async function refuseUnreadFields(db: Db, conditions: readonly FilterCondition[]): Promise<void> {
  if (conditions.every(({ type }) => type === undefined)) return
  const read = await listFields(db)
  const unread = conditions.find(
    ({ field, type }) =>
      type !== undefined && !read.some((known) => known.name === field && known.type === type),
  )
  if (unread === undefined) return
  throw new LeadsheetError('report_no_data', `no sync has read the field ${unread.field} yet`, {
    hint: `Run ${shellCommand('sync')} first.`,
  })
}

export function chosenValues(conditions: readonly FilterCondition[]): Record<string, string | number | null> {
  return Object.assign({}, ...conditions.map((condition, index) => conditionValues(condition, index + 1)))
}

function conditionValues(condition: FilterCondition, place: number): Record<string, string | number | null> {
  return 'in' in condition
    ? { [`only_${place}`]: JSON.stringify(condition.in) }
    : { [`least_${place}`]: condition.min, [`most_${place}`]: condition.max }
}

/** @param value the SQL of the value; by default the column itself */
function conditionSql(condition: FilterCondition, place: number, value: string = condition.field): string {
  const { field } = condition
  const kind = kindOf(condition)
  if ('in' in condition) {
    if (kind === 'number') throw misfit(field, 'a number', 'for bounds: min, max or both')
    const wanted = `(SELECT value FROM json_each(:only_${place}))`
    if (condition.type === 'boolean')
      return `iif(${value} = 1, 'true', 'false') IN ${wanted} AND ${value} IS NOT NULL`
    return kind === 'text'
      ? `${value} IN ${wanted}`
      : `EXISTS (SELECT 1 FROM json_each(${field}) WHERE value IN ${wanted})`
  }
  if (kind !== 'number') throw misfit(field, 'text', 'for a list of texts')
  const bounds = [
    ...(condition.min === null ? [] : [`${value} >= :least_${place}`]),
    ...(condition.max === null ? [] : [`${value} <= :most_${place}`]),
  ]
  return bounds.length === 0 ? `${value} IS NOT NULL` : bounds.join(' AND ')
}

function kindOf({ field, type }: FilterCondition): 'text' | 'number' | 'list' {
  const declared = type !== undefined && FIELD_NAME.test(field) ? filterKindOf(type) : null
  if (declared !== null) return declared
  const kinds = new Map<string, 'text' | 'number' | 'list'>(Object.entries(FILTER_COLUMNS))
  const kind = kinds.get(field)
  if (kind !== undefined) return kind
  throw new LeadsheetError('config_invalid', `a filter cannot ask for ${JSON.stringify(field)}`, {
    hint: `It can ask for ${[...kinds.keys()].join(', ')}.`,
  })
}

function misfit(field: string, kind: string, expected: string): LeadsheetError {
  return new LeadsheetError('config_invalid', `a filter asks for ${field} as if it were not ${kind}`, {
    hint: `Ask ${expected}.`,
  })
}
