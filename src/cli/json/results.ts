/**
 * The contract of `--json`: the result of each command as a schema. `printJson` takes only what the schema of
 * its command has; the page on JSON output is generated from it, and a test parses what commands print.
 */
import type { z } from 'zod'
import { DATA_RESULTS } from './data.ts'
import { OPERATION_RESULTS } from './operations.ts'

export const RESULTS = { ...DATA_RESULTS, ...OPERATION_RESULTS }

export type ResultName = keyof typeof RESULTS
type Result<Name extends ResultName> = z.infer<(typeof RESULTS)[Name]>

/** The data of a result, and what describes a list as a whole. */
export type Printed<Name extends ResultName> =
  Result<Name> extends infer Each
    ? Each extends { data: infer Data; meta: infer Meta }
      ? [data: Given<Data>, meta: Given<Meta>]
      : Each extends { data: infer Data }
        ? [data: Given<Data>]
        : never
    : never

/** A value that may be read-only where the schema has it writable. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Given<T[Key]> }
    : T
