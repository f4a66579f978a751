/**
 * Builds the queries of figures from their definitions and relations (named subqueries), and runs them or
 * prints them with their values. All queries in one read transaction see the same state, although a sync may
 * be writing meanwhile.
 */
import { CompiledQuery, sql } from 'kysely'
import type { LeadFilter } from '../../domain/figures.ts'
import type { Instant } from '../../domain/model.ts'
import { localDaysEarlier } from '../../domain/period.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db } from '../db/store.ts'
import type { FigureDefinition, FigureName } from './definition.ts'
import { FIGURES } from './definition.ts'
import { chosenValues } from './lead-filter.ts'
import { relationsOf } from './relation.ts'
import { RELATION_NAMES, type RelationName } from './relation-bounds.ts'

export interface FigureScope {
  readonly from: Instant
  readonly to: Instant
  /** The time zone of the days over which win rates and stays are counted; UTC if absent. */
  readonly timeZone?: string
  readonly filter: LeadFilter
  readonly stalledDays: number
}

export interface FigureRow {
  /** A currency or a status; null where a figure is one number. */
  readonly of: string | null
  /** The value of the figure; null where it has none. */
  readonly value: number | null
  /** The numerator and the denominator of a share; null for other figures. */
  readonly part: number | null
  readonly whole: number | null
}

/** The SQL of a figure or list, and the relations that it reads. */
export type Query = Pick<FigureDefinition, 'reads' | 'sql'>

type Value = string | number | null
export type QueryValues = Readonly<Record<string, Value>>

const PARAMETER = /:([a-z][a-z0-9_]*)\b/g

const NO_TEMP_TABLES: ReadTrx['tempTables'] = new Map()

/**
 * If a query reads a relation twice, PostgreSQL computes the whole relation first, unless the SQL has
 * these words. SQLite gets the words only in printed queries, because with them it computes the relation
 * twice.
 */
const INLINE = 'NOT MATERIALIZED '

export async function readFigure(db: Db, name: FigureName, scope: FigureScope): Promise<FigureRow[]> {
  return readFigureAt({ db, tempTables: NO_TEMP_TABLES }, name, scope)
}

export async function readFigureAt(trx: ReadTrx, name: FigureName, scope: FigureScope): Promise<FigureRow[]> {
  const rows = await readRows<Partial<FigureRow>>(trx, findFigure(name), scope)
  return rows.map(({ of = null, value = null, part = null, whole = null }) => ({ of, value, part, whole }))
}

export async function readRows<Row>(
  { db, tempTables }: ReadTrx,
  query: Query,
  scope: FigureScope,
  values: QueryValues = {},
): Promise<Row[]> {
  const text = withRelations(query, scope, tempTables, isPostgres(db) ? INLINE : '')
  return runQuery<Row>(db, text, { ...valuesOf(scope), ...values })
}

/** Returns the SQL of a figure with all values filled in. Any program that opens the database can run it. */
export function explainFigure(name: FigureName, scope: FigureScope): string {
  return explainQuery(findFigure(name), scope, {})
}

/**
 * Returns the SQL of any query over relations, with all values filled in. `values` has the parameters that
 * the scope does not have.
 */
export function explainQuery(query: Query, scope: FigureScope, values: QueryValues): string {
  const text = withRelations(query, scope, NO_TEMP_TABLES, INLINE)
  return `${fillIn(text, { ...valuesOf(scope), ...values })};`
}

function findFigure(name: FigureName): (typeof FIGURES)[number] {
  const found = FIGURES.find((figure) => figure.name === name)
  if (!found) throw new TypeError(`no figure is called ${name}`)
  return found
}

/**
 * Builds `WITH … SELECT …` from a query and its relations, with named parameters.
 * @throws LeadsheetError config_invalid for an invalid filter
 */
export function withRelations(
  query: Query,
  scope: Pick<FigureScope, 'filter' | 'from' | 'to'>,
  tempTables: ReadTrx['tempTables'] = NO_TEMP_TABLES,
  plain: '' | typeof INLINE = '',
): string {
  const relations = relationsOf(scope.filter)
  const hasTable = (name: RelationName): boolean => {
    const of = tempTables.get(name)
    if (of === undefined) return false
    return 'since' in of
      ? scope.from >= of.since && scope.to >= of.since
      : of.to === scope.to && of.filter === scope.filter
  }
  const reads = query.reads.filter((name) => !hasTable(name))
  const needed = new Set<RelationName>(reads.flatMap((name) => [name, ...relations[name].reads]))
  const missing = RELATION_NAMES.filter((name) => needed.has(name) && !hasTable(name))
  const parts = missing.map((name) => {
    const { isMaterialized, sql } = relations[name]
    return `${name} AS ${isMaterialized ? 'MATERIALIZED ' : plain}( ${sql}\n)`
  })
  return parts.length === 0 ? query.sql : `WITH ${parts.join(',\n')}\n${query.sql}`
}

export function valuesOf(scope: FigureScope): QueryValues {
  const { from, to, filter, stalledDays } = scope
  return {
    from,
    to,
    recent_from: recentFrom(scope),
    ...chosenValues(filter.conditions),
    pipelines: filter.pipelineIds === null ? null : JSON.stringify(filter.pipelineIds),
    stalled_days: stalledDays,
  }
}

/** Returns the time so many local days before the end of the period; win rates are counted over 30. */
export function recentFrom(
  { to, timeZone = 'UTC' }: Pick<FigureScope, 'to' | 'timeZone'>,
  days = 30,
): Instant {
  return localDaysEarlier(to, days, timeZone)
}

/**
 * Runs a query with named parameters. SQLite keeps the statement prepared and binds the values. PostgreSQL
 * gets the values in the text, because it chooses its plan by them.
 */
export async function runQuery<Row>(db: Db, query: string, values: QueryValues): Promise<Row[]> {
  if (isPostgres(db)) {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(fillIn(query, values)))
    return rows
  }
  const bound: Value[] = []
  const text = query.replaceAll(PARAMETER, (_, name: string) => {
    bound.push(valueFor(name, values))
    return '?'
  })
  const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, bound))
  return rows
}

function fillIn(query: string, values: QueryValues): string {
  return query.replaceAll(PARAMETER, (_, name: string) => literal(valueFor(name, values)))
}

function valueFor(name: string, values: QueryValues): Value {
  const value = values[name]
  if (value === undefined) throw new TypeError(`no value is given for :${name}`)
  return value
}

export function literal(value: Value): string {
  if (value === null) return 'NULL'
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
}

/** A transaction that only reads, so that all its queries see the same data. */
export interface ReadTrx {
  readonly db: Db
  /** The relations that are in temporary tables, so that they are not computed again for each query. */
  readonly tempTables: ReadonlyMap<RelationName, TempTable>
}

/** The queries that a table serves: those of the same end and filter, or those of any period after an instant. */
export type TempTable = { readonly to: Instant; readonly filter: LeadFilter } | { readonly since: Instant }

/**
 * Runs `read` in one transaction.
 * @param db must not be inside a transaction
 */
export async function inReadTransaction<T>(db: Db, read: (trx: ReadTrx) => Promise<T>): Promise<T> {
  return db.connection().execute(async (one) => {
    // PostgreSQL makes temporary tables only in a transaction that may write.
    await (isPostgres(one) ? sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE` : sql`BEGIN`).execute(one)
    try {
      // Gives PostgreSQL more memory. Otherwise PostgreSQL would read a list of leads again for each lead
      // when the list exceeds its memory.
      if (isPostgres(one)) await sql`SET LOCAL work_mem = '128MB'`.execute(one)
      return await read({ db: one, tempTables: new Map() })
    } finally {
      await sql`COMMIT`.execute(one)
    }
  })
}

/** Reads within a savepoint, so that the transaction can still be used after a failure. */
export async function readPart<T>({ db }: ReadTrx, read: () => Promise<T>): Promise<T> {
  await sql`SAVEPOINT part`.execute(db)
  try {
    return await read()
  } catch (thrown) {
    await sql`ROLLBACK TO part`.execute(db)
    throw thrown
  } finally {
    await sql`RELEASE part`.execute(db)
  }
}
