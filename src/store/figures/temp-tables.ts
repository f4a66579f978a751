/** Computes relations once for all queries of a report, in temporary tables of the same names. */
import { CompiledQuery } from 'kysely'
import { isPostgres } from '../db/postgres.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, type Query, type QueryValues, runQuery, valuesOf, withRelations } from './query.ts'
import type { RelationName } from './relation-bounds.ts'

/** Columns of lookups, which get an index in the temporary table. */
const LOOKED_UP: Partial<Readonly<Record<RelationName, readonly string[]>>> = {
  chosen: ['lead_id', 'lead_no'],
  touched: ['lead_id'],
}

/** Relations that are the same for any period of the same filter. */
const OF_ANY_PERIOD: readonly RelationName[] = ['chosen', 'chosen_day']

/** Overwrites earlier tables. Returns `trx` unchanged if the filter has no conditions. */
export async function fillFilteredLeads(trx: ReadTrx, scope: FigureScope): Promise<ReadTrx> {
  return scope.filter.conditions.length === 0 ? trx : fillTempTables(trx, scope, OF_ANY_PERIOD)
}

/**
 * Fills the temporary tables of some relations, one after another. Each relation reads the tables that are
 * filled already. A later call overwrites the tables.
 * @param values the parameters that the scope does not have
 * @returns the transaction; its queries read the tables if their period has the same end
 */
export async function fillTempTables(
  trx: ReadTrx,
  scope: FigureScope,
  names: readonly RelationName[],
  values: QueryValues = {},
): Promise<ReadTrx> {
  let once = trx
  for (const name of names) {
    const query: Query = { reads: [name], sql: `SELECT * FROM ${name}` }
    once = await fillTempTable(once, name, scope, withRelations(query, scope, once.tempTables), values)
  }
  return once
}

async function fillTempTable(
  { db, tempTables }: ReadTrx,
  name: RelationName,
  scope: FigureScope,
  text: string,
  values: QueryValues,
): Promise<ReadTrx> {
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
  return {
    db,
    tempTables: new Map(tempTables).set(name, OF_ANY_PERIOD.includes(name) ? null : { to, filter }),
  }
}
