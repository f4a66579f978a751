/**
 * The tables of a store as they are copied to another, whichever database either is: those that hold what cannot be
 * made anew, each after those that it refers to.
 */
import type Database from 'better-sqlite3'
import { NUMBERED, tablesInOrder } from '../postgres/schema-from-sqlite.ts'
import { listObjects, openEmptyDatabase } from '../schema/empty-database.ts'
import type { Tables } from '../tables/tables.ts'

export interface CopiedTable {
  readonly name: keyof Tables & string
  /** In their order; computed ones compute themselves. With `rowid` where the order of arrival is asked for. */
  readonly columns: readonly CopiedColumn[]
  /** By these its rows stand in the same order in both databases. */
  readonly key: readonly string[]
  /** Its rows follow from those of others, or are counted as these are written. */
  readonly isCounted: boolean
}

export interface CopiedColumn {
  readonly name: string
  readonly isNumber: boolean
}

/** What is about the database or its processes of this minute, and not about what it holds. */
const LEFT_BEHIND: readonly string[] = ['installation', 'lease', 'sync_dropped_index', 'mail_turn']
/** Kept by triggers, also of rows that are gone since, so that they are copied last and whole. */
const COUNTED: readonly string[] = ['lead_count', 'event_count']

export async function listCopiedTables(): Promise<CopiedTable[]> {
  const database = await openEmptyDatabase()
  try {
    return tablesInOrder(listObjects(database))
      .filter(({ name }) => !LEFT_BEHIND.includes(name))
      .map(({ name }) => describeTable(database, name))
  } finally {
    database.close()
  }
}

function describeTable(database: Database.Database, table: string): CopiedTable {
  const all = database
    .prepare<[string], { name: string; type: string; pk: number; hidden: number }>(
      'SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)',
    )
    .all(table)
  const columns = all
    .filter(({ hidden }) => hidden === 0)
    .map(({ name, type }) => ({ name, isNumber: type !== 'TEXT' && type !== 'BLOB' }))
  const key = all
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => name)
  const isNumbered = NUMBERED.has(table)
  return {
    // The schema has no tables but those.
    name: table as keyof Tables & string,
    columns: isNumbered ? [{ name: 'rowid', isNumber: true }, ...columns] : columns,
    key: isNumbered ? ['rowid'] : key,
    isCounted: COUNTED.includes(table),
  }
}
