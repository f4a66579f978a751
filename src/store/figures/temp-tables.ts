/** Computes relations once for all queries of a report, in temporary tables of the same names. */
import { CompiledQuery } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { isPostgres } from '../db/postgres.ts'
import { refuseUnreadFields } from './lead-filter.ts'
import type { ReadTrx } from './query.ts'
import {
  type FigureScope,
  type QueryValues,
  runQuery,
  type TempTable,
  valuesOf,
  withRelations,
} from './query.ts'
import { LEVEL_STATE } from './relation.ts'
import type { RelationName } from './relation-bounds.ts'

/** Columns of lookups, which get an index in the temporary table. */
const LOOKED_UP: Partial<Readonly<Record<RelationName, readonly string[]>>> = {
  chosen: ['lead_id', 'lead_no'],
  touched: ['lead_id'],
}

/**
 * Overwrites an earlier table. Returns `trx` unchanged if the filter has no conditions.
 * @throws LeadsheetError report_no_data for a declared field that no sync has read yet
 */
export async function fillFilteredLeads(trx: ReadTrx, scope: FigureScope): Promise<ReadTrx> {
  if (scope.filter.conditions.length === 0) return trx
  await refuseUnreadFields(trx.db, scope.filter.conditions)
  return fillTempTable(trx, 'chosen', scope, 'SELECT * FROM chosen', {}, { since: '' })
}

/**
 * Fills the changes of each day for all periods since an instant. All earlier days become one, so that nothing
 * has to add them up again.
 */
export async function fillDays(trx: ReadTrx, scope: FigureScope, since: Instant): Promise<ReadTrx> {
  const first = since.slice(0, '2026-11-20'.length)
  const query = `SELECT '' AS day, ${LEVEL_STATE}, sum(leads) AS leads, sum(entered) AS entered, sum(value_amount) AS value_amount
    FROM day_count WHERE day < :first GROUP BY ${LEVEL_STATE}
    UNION ALL SELECT day, ${LEVEL_STATE}, leads, entered, value_amount FROM day_count WHERE day >= :first`
  return fillTempTable(trx, 'day_count', scope, query, { first }, { since })
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
  let filled = trx
  for (const name of names)
    filled = await fillTempTable(filled, name, scope, `SELECT * FROM ${name}`, values, scope)
  return filled
}

async function fillTempTable(
  { db, tempTables }: ReadTrx,
  name: RelationName,
  scope: FigureScope,
  sql: string,
  values: QueryValues,
  serves: TempTable,
): Promise<ReadTrx> {
  const others = new Map([...tempTables].filter(([other]) => other !== name))
  const text = withRelations({ reads: [name], sql }, scope, others)
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
  return { db, tempTables: others.set(name, serves) }
}
