/** What the rows of a table show of its columns: how many have no value, and some that do. */
import type Database from 'better-sqlite3'
import { quoted } from '../db/quoted.ts'
import type { Relation } from '../schema/describe.ts'
import { PERSONAL } from '../schema/published.ts'

export interface Sample {
  readonly rows: number
  /** By column, 0 to 1; none of an empty table. */
  readonly nullShares: ReadonlyMap<string, number>
  /** By column, JSON arrays. */
  readonly examples: ReadonlyMap<string, string>
}

const EXAMPLES = 3
const EXAMPLE_CHARACTERS = 40
/** Looked at for examples. */
const SAMPLE_ROWS = 200

export function sampleRows(database: Database.Database, table: Relation): Sample {
  const { rows, values } = countValues(database, table)
  const shares = [...values].map(([name, count]): [string, number] => [name, shareOf(rows - count, rows)])
  return {
    rows,
    nullShares: new Map(rows === 0 ? [] : shares),
    examples: findExamples(database, table),
  }
}

/** One walk through the table. */
function countValues(database: Database.Database, { name: table, columns }: Relation) {
  const counts = columns.map(({ name, isNullable }) => `count(${isNullable ? quoted(name) : '*'})`)
  const [rows = 0, ...values] =
    database
      .prepare<[], number[]>(`SELECT count(*), ${counts.join()} FROM ${quoted(table)}`)
      .raw()
      .get() ?? []
  return { rows, values: new Map(columns.map(({ name }, index) => [name, values[index] ?? 0])) }
}

function shareOf(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 10_000
}

function findExamples(database: Database.Database, { name: table, columns }: Relation): Map<string, string> {
  const rows = database
    .prepare<[number], Record<string, unknown>>(
      `SELECT * FROM ${quoted(table)} ORDER BY ${keyOf(database, table)} LIMIT ?`,
    )
    .all(SAMPLE_ROWS)
  const shown = columns.filter(({ name }) => !PERSONAL.includes(`${table}.${name}`))
  const found = shown.map(({ name }): [string, unknown[]] => {
    const values = new Set(rows.map((row) => row[name]).filter(isShown))
    return [name, [...values].slice(0, EXAMPLES)]
  })
  return new Map(
    found.filter(([, values]) => values.length > 0).map(([name, values]) => [name, JSON.stringify(values)]),
  )
}

/** So that the examples are the same wherever the rows come from. */
function keyOf(database: Database.Database, table: string): string {
  const key = database
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .pluck()
    .all(table)
  return key.length === 0 ? 'rowid' : key.map(quoted).join()
}

function isShown(value: unknown): boolean {
  return value !== null && String(value).length <= EXAMPLE_CHARACTERS
}
