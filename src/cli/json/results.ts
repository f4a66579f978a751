/**
 * The contract of `--json`: a schema for the result of each command. `printJson` accepts only results that
 * fit the schema of their command. The documentation of the output is generated from the schemas, and a test
 * parses the printed output with them.
 */
import type { z } from 'zod'
import { DATA_RESULTS } from './data.ts'
import { OPERATION_RESULTS } from './operations.ts'
import { REPORT_RESULTS } from './reports.ts'

export const RESULTS = { ...DATA_RESULTS, ...REPORT_RESULTS, ...OPERATION_RESULTS }

export type ResultName = keyof typeof RESULTS
type Result<Name extends ResultName> = z.infer<(typeof RESULTS)[Name]>

/**
 * The arguments of `printJson`: the data of a result, and for some lists `meta`, which describes the whole
 * list.
 */
export type Printed<Name extends ResultName> =
  Result<Name> extends infer Each
    ? Each extends { data: infer Data; meta: infer Meta }
      ? [data: Given<Data>, meta: Given<Meta>]
      : Each extends { data: infer Data }
        ? [data: Given<Data>]
        : never
    : never

/** The type `T` with all its lists and fields read-only, so that read-only values are accepted. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Given<T[Key]> }
    : T
