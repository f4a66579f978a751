/**
 * The dictionary of a snapshot: two tables that explain each table, view and column. The meanings come from
 * the comments of the schema. A column without a comment gets the meaning of the column that it comes from or
 * points to.
 */
import type Database from 'better-sqlite3'
import { describeSchema } from '../schema/describe.ts'

const STATEMENTS = `
  CREATE TABLE dictionary_table ( -- one row per table or view of this file: what it contains
    table_name TEXT PRIMARY KEY, -- as in SELECT … FROM
    kind TEXT NOT NULL, -- table or view
    meaning TEXT NOT NULL -- what one row of it stands for
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE dictionary ( -- one row per column of each table and view of this file: what it means
    table_name TEXT NOT NULL REFERENCES dictionary_table (table_name),
    column_name TEXT NOT NULL, -- as in SELECT
    position INTEGER NOT NULL, -- order in the table, from 1
    type TEXT, -- TEXT, INTEGER or REAL; null: computed
    meaning TEXT NOT NULL, -- what a value means, its unit, and by whose clock; UTC: a time such as 2026-11-21T06:00:00.000Z, which sorts by time
    source_path TEXT NOT NULL, -- path in the records of the upstream; ours: kept by leadsheet; computed: derived from other columns
    PRIMARY KEY (table_name, position),
    UNIQUE (table_name, column_name)
  ) STRICT, WITHOUT ROWID`

/** Describes all tables and views of the snapshot, including the dictionary itself. */
export function writeDictionary(
  database: Database.Database,
  sourcePaths: Readonly<Record<string, string>>,
): void {
  database.exec(STATEMENTS)
  const insertTable = database.prepare('INSERT INTO dictionary_table VALUES (?, ?, ?)')
  const insertColumn = database.prepare('INSERT INTO dictionary VALUES (?, ?, ?, ?, ?, ?)')
  const sources = new Map<string, string>()
  for (const { name: table, kind, meaning: about, columns } of describeSchema(database)) {
    insertTable.run(table, kind, about)
    for (const [index, { name, type, meaning, origin, isComputed }] of columns.entries()) {
      const column = `${table}.${name}`
      const source = sourcePaths[column] ?? sources.get(origin ?? '') ?? (isComputed ? 'computed' : 'ours')
      sources.set(column, source)
      insertColumn.run(table, name, index + 1, type, meaning, source)
    }
  }
}
