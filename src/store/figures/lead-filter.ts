/** Turns the conditions of a filter into SQL on the columns of `lead`, which hold the present values. */
import { FILTER_COLUMNS } from '../../domain/choices.ts'
import type { FilterCondition, LeadFilter } from '../../domain/figures.ts'
import { LeadsheetError } from '../../errors.ts'

export const EVERY_LEAD: LeadFilter = { pipelineIds: null, conditions: [] }

/**
 * Joins all conditions by AND. The parameters of each condition are numbered by its position: `:only_1`,
 * `:least_2`, `:most_2`.
 * @throws LeadsheetError config_invalid for a column that filters do not have, or a condition that does not
 * fit its column
 */
export function chosenSql(conditions: readonly FilterCondition[]): string {
  return conditions.map((condition, index) => conditionSql(condition, index + 1)).join(' AND ')
}

/** Selects ids as `lead_id`. The ids of the pipelines are bound to `:pipelines`. */
export function chosenLeadsSql({ pipelineIds, conditions }: LeadFilter): string {
  const wanted = [
    ...(pipelineIds === null ? [] : ['pipeline_id IN (SELECT value FROM json_each(:pipelines))']),
    ...(conditions.length === 0 ? [] : [chosenSql(conditions)]),
  ]
  return `SELECT id AS lead_id FROM lead${wanted.length === 0 ? '' : ` WHERE ${wanted.join(' AND ')}`}`
}

export function chosenValues(conditions: readonly FilterCondition[]): Record<string, string | number | null> {
  return Object.assign({}, ...conditions.map((condition, index) => conditionValues(condition, index + 1)))
}

function conditionValues(condition: FilterCondition, place: number): Record<string, string | number | null> {
  return 'in' in condition
    ? { [`only_${place}`]: JSON.stringify(condition.in) }
    : { [`least_${place}`]: condition.min, [`most_${place}`]: condition.max }
}

function conditionSql(condition: FilterCondition, place: number): string {
  const { field } = condition
  const kind = kindOf(field)
  if ('in' in condition) {
    if (kind === 'number') throw misfit(field, 'a number', 'for bounds: min, max or both')
    const wanted = `(SELECT value FROM json_each(:only_${place}))`
    return kind === 'text'
      ? `${field} IN ${wanted}`
      : `EXISTS (SELECT 1 FROM json_each(${field}) WHERE value IN ${wanted})`
  }
  if (kind !== 'number') throw misfit(field, 'text', 'for a list of texts')
  const bounds = [
    ...(condition.min === null ? [] : [`${field} >= :least_${place}`]),
    ...(condition.max === null ? [] : [`${field} <= :most_${place}`]),
  ]
  return bounds.length === 0 ? `${field} IS NOT NULL` : bounds.join(' AND ')
}

function kindOf(field: string): 'text' | 'number' | 'list' {
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
