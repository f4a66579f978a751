/** What the rows of a table or view show of its columns: how many have no value, and some that do. */
import type Database from 'better-sqlite3'
import type { Relation } from './describe.ts'
import { WITHOUT_EXAMPLES } from './published.ts'

export interface Sample {
  /** Null of a view. */
  readonly rows: number | null
  /** By column, 0 to 1; none of views and empty tables. */
  readonly nullShares: ReadonlyMap<string, number>
  /** By column, JSON arrays. */
  readonly examples: ReadonlyMap<string, string>
}

const EXAMPLES = 3
const EXAMPLE_CHARACTERS = 40
const TABLE_ROWS = 200
/** Fewer: they may have to be computed for it. */
const VIEW_ROWS = 20

export function sampleRows(database: Database.Database, relation: Relation): Sample {
  const counts = relation.kind === 'table' ? countValues(database, relation) : null
  return {
    rows: counts?.rows ?? null,
    nullShares: new Map(
      counts?.nulls.map(([name, nulls]) => [name, Math.round((nulls / counts.rows) * 1e4) / 1e4]),
    ),
    examples: relation.kind === 'search' ? new Map() : findExamples(database, relation),
  }
}

/** One walk through the table. */
function countValues(database: Database.Database, { name: table, columns }: Relation) {
  const nullable = columns.filter(({ isNullable }) => isNullable)
  const counts = ['count(*)', ...nullable.map(({ name }) => `count(${quoted(name)})`)]
  const [rows = 0, ...values] =
    database
      .prepare<[], number[]>(`SELECT ${counts.join()} FROM ${quoted(table)}`)
      .raw()
      .get() ?? []
  if (rows === 0) return { rows, nulls: [] }
  const nulls = columns.map(({ name }): [string, number] => {
    const index = nullable.findIndex((each) => each.name === name)
    return [name, index < 0 ? 0 : rows - (values[index] ?? 0)]
  })
  return { rows, nulls }
}

/** Of a view only what it computes itself: the rest has the examples of the column that it comes from. */
function findExamples(database: Database.Database, relation: Relation): Map<string, string> {
  const wanted = relation.columns.filter(
    ({ name, origin }) => origin === null && !WITHOUT_EXAMPLES.includes(`${relation.name}.${name}`),
  )
  if (wanted.length === 0) return new Map()
  const rows = database
    .prepare<[number], Record<string, unknown>>(
      `SELECT ${wanted.map(({ name }) => quoted(name)).join()} FROM ${quoted(relation.name)} LIMIT ?`,
    )
    .all(relation.kind === 'view' ? VIEW_ROWS : TABLE_ROWS)
  const found = wanted.map(({ name }): [string, unknown[]] => {
    const values = new Set(rows.map((row) => row[name]).filter(isShown))
    return [name, [...values].slice(0, EXAMPLES)]
  })
  return new Map(
    found.filter(([, values]) => values.length > 0).map(([name, values]) => [name, JSON.stringify(values)]),
  )
}

function isShown(value: unknown): boolean {
  return value !== null && String(value).length <= EXAMPLE_CHARACTERS
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
