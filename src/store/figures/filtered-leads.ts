/**
 * Finds the leads that match a filter once for all queries of a report. Temporary tables of the connection
 * hold these leads, and have the names of the relations that they replace.
 */
import { CompiledQuery } from 'kysely'
import { isPostgres } from '../db/postgres.ts'
import { type FigureScope, type Query, runQuery, valuesOf, withRelations } from './query.ts'
import type { Moment } from './read-transaction.ts'
import type { RelationName } from './relation-parts.ts'

const GIVEN: readonly RelationName[] = ['chosen', 'chosen_count']

/**
 * For each database: the schema of temporary tables, the statements that create the tables, and the
 * statements that update the planner's statistics of the tables.
 */
const IN_SQLITE = {
  place: 'temp',
  create: [
    'CREATE TEMP TABLE IF NOT EXISTS chosen (lead_id TEXT PRIMARY KEY) WITHOUT ROWID',
    `CREATE TEMP TABLE IF NOT EXISTS chosen_count
      (pipeline_id TEXT, status TEXT, value_currency TEXT, leads INTEGER, value_amount REAL)`,
  ],
  filled: [],
} as const
const IN_POSTGRES = {
  place: 'pg_temp',
  create: [
    'CREATE TEMP TABLE IF NOT EXISTS chosen ON COMMIT DROP AS SELECT id AS lead_id FROM lead WITH NO DATA',
    `CREATE TEMP TABLE IF NOT EXISTS chosen_count ON COMMIT DROP AS
      SELECT pipeline_id, status, value_currency, leads, value_amount FROM lead_count WITH NO DATA`,
    'CREATE UNIQUE INDEX IF NOT EXISTS chosen_by_lead ON pg_temp.chosen (lead_id)',
  ],
  filled: ['ANALYZE pg_temp.chosen', 'ANALYZE pg_temp.chosen_count'],
} as const

/**
 * Fills the temporary tables with the leads of one filter. The next call overwrites the tables.
 * @returns a moment that reads from the tables; the given moment if the filter has no conditions
 */
export async function giveChosen(moment: Moment, scope: FigureScope): Promise<Moment> {
  if (scope.filter.conditions.length === 0) return moment
  const { db } = moment
  const { place, create, filled } = isPostgres(db) ? IN_POSTGRES : IN_SQLITE
  const run = (statement: string) => db.executeQuery(CompiledQuery.raw(statement))
  for (const statement of create) await run(statement)
  for (const name of GIVEN) await run(`DELETE FROM ${place}.${name}`)
  const chosen: Query = {
    reads: ['chosen'],
    sql: `INSERT INTO ${place}.chosen SELECT lead_id FROM chosen`,
  }
  const counts: Query = {
    reads: ['chosen_count'],
    sql: `INSERT INTO ${place}.chosen_count
      SELECT pipeline_id, status, value_currency, leads, value_amount FROM chosen_count`,
  }
  await runQuery(db, withRelations(chosen, scope), valuesOf(scope))
  await runQuery(db, withRelations(counts, scope, new Set(['chosen'])), valuesOf(scope))
  for (const statement of filled) await run(statement)
  return { db, given: new Set(GIVEN) }
}
