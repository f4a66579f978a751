/**
 * Sends many rows to PostgreSQL as one array for each column, in the binary format of the protocol. The
 * server reads arrays much faster than JSON, which also repeats the names of the columns in each row.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { storableText } from './postgres-driver.ts'

/** The binary format of a PostgreSQL type. The `id` of the type is the same in every database. */
interface Form {
  readonly id: number
  readonly array: RawBuilder<unknown>
  readonly sizeOf: (value: unknown) => number
  readonly write: (buffer: Buffer, value: unknown, at: number) => void
}

const FORMS: Readonly<Record<string, Form>> = {
  text: {
    id: 25,
    array: sql`text[]`,
    sizeOf: (value) => Buffer.byteLength(String(value)),
    write: (buffer, value, at) => buffer.write(String(value), at),
  },
  bigint: {
    id: 20,
    array: sql`bigint[]`,
    sizeOf: () => 8,
    write: (buffer, value, at) => buffer.writeBigInt64BE(BigInt(value as number | bigint), at),
  },
  'double precision': {
    id: 701,
    array: sql`double precision[]`,
    sizeOf: () => 8,
    write: (buffer, value, at) => buffer.writeDoubleBE(Number(value), at),
  },
  bytea: {
    id: 17,
    array: sql`bytea[]`,
    sizeOf: (value) => (value as Buffer).length,
    write: (buffer, value, at) => (value as Buffer).copy(buffer, at),
  },
}

/** The values of a column. */
export interface ColumnArray {
  readonly form: Form
  /** The array in the binary format. It has no elements if all values of the column are null. */
  readonly values: Buffer
}

/** The types of the columns of each table. They are the same in all schemas. */
const types = new Map<string, ReadonlyMap<string, string>>()

/** Returns the types of the columns of a table, which are read from the database only once. */
export async function typesOf(db: Kysely<Tables>, table: string): Promise<ReadonlyMap<string, string>> {
  const known = types.get(table)
  if (known !== undefined) return known
  const { rows } = await sql<{ name: string; type: string }>`
    SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
    WHERE attrelid = to_regclass(${table}) AND attnum > 0 AND NOT attisdropped`.execute(db)
  const found = new Map(rows.map(({ name, type }) => [name, type]))
  types.set(table, found)
  return found
}

/**
 * Turns some columns of rows into arrays. A column that has only nulls becomes an empty array. At least one
 * column must have a value, because otherwise {@link rowsOf} would return no rows.
 */
export function arraysOf(
  types: ReadonlyMap<string, string>,
  columns: readonly string[],
  rows: readonly object[],
): ColumnArray[] {
  return columns.map((column) => {
    const type = types.get(column) ?? ''
    const form = FORMS[type]
    if (form === undefined) throw new Error(`${column}: found the type ${type}, expected one of FORMS`)
    return {
      form,
      values: arrayOf(
        form,
        rows.map((row) => storedValue(Reflect.get(row, column))),
      ),
    }
  })
}

/** Turns arrays into a query that returns their rows. */
export function rowsOf(arrays: readonly ColumnArray[]): RawBuilder<unknown> {
  // PostgreSQL fills up the shorter arrays with nulls.
  const lists = arrays.map(({ form, values }) => sql`${values}::${form.array}`)
  return sql`SELECT * FROM unnest(${sql.join(lists)})`
}

function storedValue(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? storableText(value) : (value ?? null)
}

/**
 * The number of bytes before the values of an array: dimensions, flag for nulls, type, length and first
 * index.
 */
const HEAD = 20
/** The number of bytes of an array without values. */
const HEAD_OF_EMPTY = 12
/** The number of bytes of the length that comes before each value. */
const LENGTH = 4

function arrayOf(form: Form, values: readonly unknown[]): Buffer {
  let size = HEAD
  let hasValue = false
  for (const value of values) {
    size += LENGTH
    if (value === null) continue
    size += form.sizeOf(value)
    hasValue = true
  }
  const buffer = Buffer.alloc(hasValue ? size : HEAD_OF_EMPTY)
  buffer.writeInt32BE(form.id, 8)
  if (!hasValue) return buffer
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(1, 4)
  buffer.writeInt32BE(values.length, 12)
  buffer.writeInt32BE(1, 16)
  let at = HEAD
  for (const value of values) {
    const length = value === null ? -1 : form.sizeOf(value)
    buffer.writeInt32BE(length, at)
    at += LENGTH
    if (value === null) continue
    form.write(buffer, value, at)
    at += length
  }
  return buffer
}
