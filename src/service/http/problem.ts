/**
 * The refusals of the service. They are thrown anywhere while a request is answered, and sent as
 * `application/problem+json` (RFC 9457).
 */
import { z } from 'zod'
import { PROBLEMS, type Problem, type ProblemCode } from '../../contract/api.ts'

type FieldErrors = NonNullable<Problem['errors']>

/** A refusal. The server turns it into an answer. */
export class ProblemError extends Error {
  readonly problem: Problem
  readonly headers: Readonly<Record<string, string>>

  /** @param detail a text that names the thing, the value and what is accepted */
  constructor(
    code: ProblemCode,
    detail: string,
    options: { readonly errors?: FieldErrors; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail)
    this.name = 'ProblemError'
    this.problem = problemOf(code, detail, options.errors)
    this.headers = options.headers ?? {}
  }
}

export function problemOf(code: ProblemCode, detail: string, errors?: FieldErrors): Problem {
  const { status, title } = PROBLEMS[code]
  const problem = { type: `urn:leadsheet:problem:${code}`, title, status, code, detail }
  return errors === undefined ? problem : { ...problem, errors }
}

/**
 * Checks input against its schema.
 * @param what the name of the input in the detail, such as `query`
 * @throws ProblemError invalid_request with every mistake
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.flatMap((issue) => fieldErrors(schema, value, issue))
  const first = errors[0]
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const place = first === undefined || first.path === '' ? '' : ` ${first.path}:`
  throw new ProblemError('invalid_request', `The ${what} is wrong:${place} ${first?.message}${more}.`, {
    errors,
  })
}

function fieldErrors(schema: z.ZodType, value: unknown, issue: z.core.$ZodIssue): FieldErrors {
  if (issue.code !== 'unrecognized_keys')
    return [{ path: pathOf(value, issue.path), message: explain(value, issue) }]
  const keys = acceptedKeys(schemaAt(schema, issue.path))
  const accepted = keys.length === 0 ? 'none is accepted' : `accepted are ${keys.join(', ')}`
  return issue.keys.map((key) => ({
    path: [...issue.path, key].join('.'),
    message: `there is no such name here; ${accepted}`,
  }))
}

/**
 * Returns the path as text. A query parameter that was given once is named without an index: `status`, not
 * `status.0`.
 */
function pathOf(value: unknown, path: readonly PropertyKey[]): string {
  const isLoneItem = path.at(-1) === 0 && typeof valueAt(value, path.slice(0, -1)) === 'string'
  return (isLoneItem ? path.slice(0, -1) : path).join('.')
}

function explain(value: unknown, issue: z.core.$ZodIssue): string {
  const given = JSON.stringify(valueAt(value, issue.path))?.slice(0, 80)
  const message = issue.message.replace('received undefined', 'it is missing')
  return given === undefined ? message : `${message}; got ${given}`
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => {
    if (typeof at === 'object' && at !== null) return (at as Record<PropertyKey, unknown>)[key]
    return key === 0 ? at : undefined
  }, value)
}

function schemaAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  return path.reduce<z.core.$ZodType | undefined>((at, key) => {
    const bare = at && unwrapped(at)
    return bare instanceof z.ZodObject ? bare.shape[String(key)] : undefined
  }, schema)
}

function acceptedKeys(schema: z.core.$ZodType | undefined): readonly string[] {
  const bare = schema && unwrapped(schema)
  return bare instanceof z.ZodObject ? Object.keys(bare.shape) : []
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? unwrapped(schema.unwrap())
    : schema
}
