/**
 * The dictionary of a snapshot: two tables that explain each table, view and column. The meanings come from
 * the comments of the schema, the examples from the rows. A column without a comment gets the meaning of the
 * column that it comes from or points to.
 */
import type Database from 'better-sqlite3'
import type { Relation } from '../schema/describe.ts'
import { describeSchema, quoted } from '../schema/describe.ts'
import { PERSONAL } from '../schema/published.ts'

export interface TableEntry {
  readonly table_name: string
  readonly kind: Relation['kind']
  readonly meaning: string
  /** The number of rows; null for a view. */
  readonly rows: number | null
}

export interface ColumnEntry {
  readonly table_name: string
  readonly column_name: string
  readonly position: number
  readonly type: string | null
  readonly unit: string | null
  readonly meaning: string
  readonly source_path: string
  readonly first_seen: string | null
  readonly last_seen: string | null
  readonly null_share: number | null
  readonly examples: string | null
}

export interface Dictionary {
  readonly tables: readonly TableEntry[]
  readonly columns: readonly ColumnEntry[]
}

const STATEMENTS = `
  CREATE TABLE dictionary_table ( -- one row per table or view of this file: what it contains
    table_name TEXT PRIMARY KEY, -- as in SELECT … FROM
    kind TEXT NOT NULL CHECK (kind IN ('table', 'view', 'search')), -- table, view, or search: a full-text index, read through lead_search
    meaning TEXT NOT NULL, -- what one row of it stands for
    rows INTEGER -- number of rows; null for a view, which is computed when it is read
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE dictionary ( -- one row per column of each table and view of this file: what it means
    table_name TEXT NOT NULL REFERENCES dictionary_table (table_name),
    column_name TEXT NOT NULL, -- as in SELECT
    position INTEGER NOT NULL, -- order in the table, from 1
    type TEXT, -- TEXT, INTEGER or REAL; null: computed
    unit TEXT, -- unit of the values; UTC: a time such as 2026-11-21T06:00:00.000Z, which sorts by time; null: none
    meaning TEXT NOT NULL, -- what a value means, and by whose clock
    source_path TEXT NOT NULL, -- path in the records of the upstream; ours: kept by leadsheet; computed: derived from other columns
    first_seen TEXT, -- UTC, by our clock: when a record of the upstream first had it
    last_seen TEXT, -- UTC, by our clock: when a record of the upstream last had it
    null_share REAL, -- share of the rows without a value, 0 to 1; null for views and empty tables
    examples TEXT, -- JSON array of up to three values; null for personal data, long texts, and columns that are empty or computed by a view
    PRIMARY KEY (table_name, position),
    UNIQUE (table_name, column_name)
  ) STRICT, WITHOUT ROWID`

const LEAD_TABLES = ['lead', 'lead_history']

export function createDictionary(database: Database.Database): void {
  database.exec(STATEMENTS)
}

/** Describes all tables and views of the snapshot, including the dictionary itself. */
export function fillDictionary(
  database: Database.Database,
  sourcePaths: Readonly<Record<string, string>>,
): void {
  const fields = readFields(database)
  const insertTable = database.prepare<TableEntry>(
    'INSERT INTO dictionary_table VALUES (:table_name, :kind, :meaning, :rows)',
  )
  const insertColumn = database.prepare<ColumnEntry>(
    `INSERT INTO dictionary VALUES (:table_name, :column_name, :position, :type, :unit, :meaning, :source_path,
       :first_seen, :last_seen, :null_share, :examples)`,
  )
  const done = new Map<string, ColumnEntry>()
  for (const relation of describeSchema(database)) {
    const isTable = relation.kind === 'table'
    const counts = isTable ? countTable(database, relation) : null
    const examples = isTable ? findExamples(database, relation) : null
    insertTable.run({
      table_name: relation.name,
      kind: relation.kind,
      meaning: relation.meaning,
      rows: counts?.rows ?? null,
    })
    for (const [index, column] of relation.columns.entries()) {
      const name = `${relation.name}.${column.name}`
      const origin = done.get(column.origin ?? '')
      const source = sourcePaths[name] ?? origin?.source_path ?? (column.isComputed ? 'computed' : 'ours')
      const field = origin ?? (LEAD_TABLES.includes(relation.name) ? fields.get(source) : undefined)
      const entry: ColumnEntry = {
        table_name: relation.name,
        column_name: column.name,
        position: index + 1,
        type: column.type,
        unit: column.unit,
        meaning: column.meaning,
        source_path: source,
        first_seen: field?.first_seen ?? null,
        last_seen: field?.last_seen ?? null,
        null_share: counts?.rows ? (counts.nulls.get(column.name) ?? 0) / counts.rows : null,
        examples: origin?.examples ?? examples?.get(column.name) ?? null,
      }
      done.set(name, entry)
      insertColumn.run(entry)
    }
  }
  // Counts the rows of these two tables again, because they were counted before all their rows were inserted.
  for (const table of ['dictionary', 'dictionary_table']) {
    database.exec(
      `UPDATE dictionary_table SET rows = (SELECT count(*) FROM ${table}) WHERE table_name = '${table}'`,
    )
  }
}

export function readDictionary(database: Database.Database): Dictionary {
  return {
    tables: database.prepare<[], TableEntry>('SELECT * FROM dictionary_table').all(),
    columns: database.prepare<[], ColumnEntry>('SELECT * FROM dictionary').all(),
  }
}

function readFields(database: Database.Database) {
  const rows = database
    .prepare<[], { path: string; first_seen: string; last_seen: string }>(
      'SELECT path, first_seen_at AS first_seen, last_seen_at AS last_seen FROM field_seen',
    )
    .all()
  return new Map(rows.map((row) => [row.path, row]))
}

interface Counts {
  readonly rows: number
  /** A column without an entry has a value in every row. */
  readonly nulls: ReadonlyMap<string, number>
}

function countTable(database: Database.Database, { name: table, columns }: Relation): Counts {
  const nullable = columns.filter(({ isNullable }) => isNullable).map(({ name }) => name)
  const counted = ['*', ...nullable.map(quoted)].map((column) => `count(${column})`).join()
  const [rows = 0, ...values] =
    database
      .prepare<[], number[]>(`SELECT ${counted} FROM ${quoted(table)}`)
      .raw()
      .get() ?? []
  return { rows, nulls: new Map(nullable.map((name, index) => [name, rows - (values[index] ?? 0)])) }
}

const EXAMPLES = 3
const EXAMPLE_CHARACTERS = 40
/** The number of rows that are read for examples. */
const SAMPLE_ROWS = 200

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

/** Returns the columns to sort by, so that the examples do not depend on the order of insertion. */
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
