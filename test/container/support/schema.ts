/** Checks files for operators with published JSON Schemas: see schemas/, where each names its source. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'

type Check = (value: unknown) => string[]

/** @param part the name of a schema under `kinds`; by default the whole schema */
export function schemaCheck(name: 'compose' | 'kubernetes', part?: string): Check {
  const file = join(import.meta.dirname, '../schemas', `${name}.json`)
  const { $schema: _, kinds = {}, ...schema } = JSON.parse(readFileSync(file, 'utf8'))
  if (part !== undefined && kinds[part] === undefined) return () => [`${part} is not among the kinds`]
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  const validate = ajv.compile({ ...schema, ...(part !== undefined && kinds[part]) })
  return (value) => {
    validate(value)
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath, message, JSON.stringify(params)].join(' '),
    )
  }
}
