/** The targeting criteria of a new pipeline, from options or from a file. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type PipelineCreate, pipelineCreateSchema } from '../contract/pipeline.ts'
import { errorText, LeadsheetError } from '../errors.ts'

export interface CriteriaOptions {
  readonly name: string
  readonly industry?: readonly string[]
  readonly region?: readonly string[]
  readonly country?: readonly string[]
  readonly keyword?: readonly string[]
  readonly employeesMin?: number
  readonly employeesMax?: number
  readonly limit?: number
  readonly file?: string
}

/** @throws LeadsheetError usage_invalid, with a line for each mistake */
export function pipelineFrom({ name, file, ...options }: CriteriaOptions): PipelineCreate {
  const given = Object.keys(options).filter((option) => option !== 'idempotencyKey')
  if (file !== undefined && given.length > 0) {
    throw new LeadsheetError(
      'usage_invalid',
      '--file holds all criteria; no option for them may stand beside it',
    )
  }
  const criteria = file === undefined ? criteriaOf(options) : readCriteria(file)
  const parsed = pipelineCreateSchema.safeParse({ name, criteria })
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`)
  throw new LeadsheetError('usage_invalid', `this is no pipeline:\n${lines.join('\n')}`, {
    hint: 'Criteria are industries, regions, countries, keywords (lists), employees (min, max) and limit.',
  })
}

function criteriaOf(options: Omit<CriteriaOptions, 'name' | 'file'>): object {
  const { employeesMin: min, employeesMax: max } = options
  return {
    industries: options.industry,
    regions: options.region,
    countries: options.country,
    keywords: options.keyword,
    employees: min === undefined && max === undefined ? undefined : { min, max },
    limit: options.limit,
  }
}

function readCriteria(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new LeadsheetError('usage_invalid', `cannot read criteria from ${file}: ${errorText(error)}`, {
      cause: error,
    })
  }
}
