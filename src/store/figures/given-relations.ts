/**
 * Computes relations once for all queries of a report. Temporary tables of the connection hold them, and have
 * the names of the relations that they replace.
 */
import { CompiledQuery } from 'kysely'
import { isPostgres } from '../db/postgres.ts'
import type { Moment } from './query.ts'
import { type FigureScope, type Query, type QueryValues, runQuery, valuesOf, withRelations } from './query.ts'
import type { RelationName } from './relation-parts.ts'

/** The relations in which single leads are looked up, and by which columns. */
const LOOKED_UP: Partial<Readonly<Record<RelationName, readonly string[]>>> = {
  chosen: ['lead_id', 'lead_no'],
  changed: ['lead_id'],
}

/** Relations that are the same for any period of the same filter. */
const OF_ANY_PERIOD: readonly RelationName[] = ['chosen', 'chosen_count']

/**
 * Fills the temporary tables with the leads of one filter. The next call overwrites the tables.
 * @returns a moment that reads from the tables; the given moment if the filter has no conditions
 */
export async function giveChosen(moment: Moment, scope: FigureScope): Promise<Moment> {
  return scope.filter.conditions.length === 0 ? moment : giveRelations(moment, scope, OF_ANY_PERIOD)
}

/**
 * Computes relations of a scope, each from those before it. A later call for another scope overwrites them.
 * @param values the parameters that the scope does not have
 * @returns a moment that reads from the tables in queries with the same end of the period
 */
export async function giveRelations(
  moment: Moment,
  scope: FigureScope,
  names: readonly RelationName[],
  values: QueryValues = {},
): Promise<Moment> {
  let once = moment
  for (const name of names) {
    const query: Query = { reads: [name], sql: `SELECT * FROM ${name}` }
    once = await giveQuery(once, name, scope, withRelations(query, scope, once.given), values)
  }
  return once
}

/**
 * Computes the levels at the end of an earlier period from those at the end of a later one, which have to be
 * given, and from what has changed in between.
 */
export async function giveEarlierLevel(
  moment: Moment,
  earlier: FigureScope,
  later: FigureScope,
): Promise<Moment> {
  if (later.asKnownAt !== null || earlier.to > later.to) return giveRelations(moment, earlier, ['level'])
  const base = await giveQuery(moment, 'level_now', earlier, 'SELECT * FROM level_stored', {})
  return giveRelations(base, earlier, ['level'], { until: later.to })
}

/** Writes the rows of a query into the temporary table of a relation. */
async function giveQuery(
  { db, given }: Moment,
  name: RelationName,
  scope: FigureScope,
  text: string,
  values: QueryValues,
): Promise<Moment> {
  const isShared = isPostgres(db)
  const place = isShared ? 'pg_temp' : 'temp'
  const run = (statement: string) => db.executeQuery(CompiledQuery.raw(statement))
  const all = { ...valuesOf(scope), ...values }
  const dropped = isShared ? 'ON COMMIT DROP ' : ''
  await runQuery(db, `CREATE TEMP TABLE IF NOT EXISTS ${name} ${dropped}AS ${text} LIMIT 0`, all)
  for (const column of LOOKED_UP[name] ?? [])
    await run(`CREATE INDEX IF NOT EXISTS ${isShared ? '' : 'temp.'}${name}_${column} ON ${name} (${column})`)
  await run(`DELETE FROM ${place}.${name}`)
  await runQuery(db, `INSERT INTO ${place}.${name} ${text}`, all)
  if (isShared) await run(`ANALYZE ${place}.${name}`)
  const { to, filter } = scope
  const table = `${place}.${name}`
  return { db, given: new Map(given).set(name, OF_ANY_PERIOD.includes(name) ? null : { to, filter, table }) }
}
