/**
 * The leads that meet a filter, found once for all the queries of a report: they stand in temporary tables of the
 * connection, which are called as the relations that the queries would otherwise find them with.
 */
import { sql } from 'kysely'
import type { Moment } from './moment.ts'
import { type FigureScope, type Query, runQuery, valuesOf, withRelations } from './query.ts'
import type { RelationName } from './relation-name.ts'

const CHOSEN: Query = { reads: ['chosen'], sql: 'INSERT INTO temp.chosen SELECT lead_id FROM chosen' }
const CHOSEN_COUNT: Query = {
  reads: ['chosen_count'],
  sql: `INSERT INTO temp.chosen_count SELECT pipeline_id, status, value_currency, leads, value_amount FROM chosen_count`,
}
const GIVEN: readonly RelationName[] = ['chosen', 'chosen_count']

/**
 * The tables hold the leads of one filter, until the next is asked for.
 * @returns the same moment with them in it; as it was where all leads meet the filter
 */
export async function giveChosen(moment: Moment, scope: FigureScope): Promise<Moment> {
  if (scope.filter.conditions.length === 0) return moment
  const { db } = moment
  await sql`CREATE TEMP TABLE IF NOT EXISTS chosen (lead_id TEXT PRIMARY KEY) WITHOUT ROWID`.execute(db)
  await sql`CREATE TEMP TABLE IF NOT EXISTS chosen_count (pipeline_id TEXT, status TEXT, value_currency TEXT, leads INTEGER, value_amount REAL)`.execute(
    db,
  )
  await sql`DELETE FROM temp.chosen`.execute(db)
  await sql`DELETE FROM temp.chosen_count`.execute(db)
  await runQuery(db, withRelations(CHOSEN, scope), valuesOf(scope))
  await runQuery(db, withRelations(CHOSEN_COUNT, scope, new Set(['chosen'])), valuesOf(scope))
  return { db, given: new Set(GIVEN) }
}
