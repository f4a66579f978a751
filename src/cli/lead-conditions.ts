/** Conditions on leads as the command line has them: `--where company_country=Germany --where 'score>=60'`. */
import { InvalidArgumentError } from 'commander'
import { nearest } from '../config/nearest.ts'
import { FILTER_COLUMNS } from '../domain/choices.ts'
import type { FilterCondition } from '../domain/figures.ts'

export interface GivenCondition {
  readonly field: string
  readonly operator: '=' | '>=' | '<='
  readonly value: string
}

/** Of one option, as commander calls it for each; gathers those before it. */
export function condition(text: string, before: readonly GivenCondition[] = []): readonly GivenCondition[] {
  const [, field = '', operator = '', value = ''] = /^\s*(\w+)\s*(>=|<=|=)\s*(.*?)\s*$/s.exec(text) ?? []
  const kind = new Map<string, string>(Object.entries(FILTER_COLUMNS)).get(field)
  if (operator !== '=' && operator !== '>=' && operator !== '<=') {
    throw new InvalidArgumentError(
      'Expected a column of lead and a value: company_country=Germany, or score>=60.',
    )
  }
  if (kind === undefined) throw new InvalidArgumentError(unknownColumn(field))
  if (kind === 'number' && !Number.isFinite(value === '' ? Number.NaN : Number(value))) {
    throw new InvalidArgumentError(`Expected a number for ${field}, not ${JSON.stringify(value)}.`)
  }
  if (kind !== 'number' && operator !== '=') {
    throw new InvalidArgumentError(`${field} is text: ${field}=VALUE.`)
  }
  return [...before, { field, operator, value }]
}

/** Several values of one column: one of them; several bounds: all of them. */
export function conditionsOf(given: readonly GivenCondition[]): FilterCondition[] {
  return [...Map.groupBy(given, ({ field }) => field)].map(([field, ofField]) => {
    if (FILTER_COLUMNS[field as keyof typeof FILTER_COLUMNS] !== 'number') {
      return { field, in: ofField.map(({ value }) => value) }
    }
    const bounds = (...operators: string[]) =>
      ofField.filter(({ operator }) => operators.includes(operator)).map(({ value }) => Number(value))
    const [least, most] = [bounds('>=', '='), bounds('<=', '=')]
    return {
      field,
      min: least.length > 0 ? Math.max(...least) : null,
      max: most.length > 0 ? Math.min(...most) : null,
    }
  })
}

function unknownColumn(field: string): string {
  const near = nearest(field, Object.keys(FILTER_COLUMNS))
  const known =
    near === null ? `There are ${Object.keys(FILTER_COLUMNS).join(', ')}.` : `Did you mean ${near}?`
  return `Leads cannot be chosen by ${JSON.stringify(field)}. ${known}`
}
