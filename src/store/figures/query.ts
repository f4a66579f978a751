/** Figures as queries: composed of their definition and its relations, run with values or written with them. */
import { CompiledQuery } from 'kysely'
import type { BlockQuery, LeadFilter } from '../../domain/figures.ts'
import type { Instant } from '../../model.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db } from '../db/store.ts'
import { FIGURES, type FigureDefinition, type FigureName } from './definition.ts'
import { chosenValues } from './lead-filter.ts'
import type { Moment } from './read-transaction.ts'
import { relationsOf } from './relation.ts'
import { RELATION_NAMES, type RelationName } from './relation-parts.ts'

/** What a figure is asked for. */
export interface FigureScope {
  readonly from: Instant
  /** Not included. */
  readonly to: Instant
  readonly filter: LeadFilter
  readonly stalledDays: number
  /** Only what had been read by then counts; null for all that is known. */
  readonly asKnownAt: Instant | null
}

export interface FigureRow {
  /** What the row is for: a currency or a status; null where a figure is one number. */
  readonly of: string | null
  /** Null where there is nothing to tell. */
  readonly value: number | null
  /** Of a share. */
  readonly part: number | null
  readonly whole: number | null
}

/** What is counted or listed, over relations. */
export type Query = Pick<FigureDefinition, 'reads' | 'sql'>

/** @throws TypeError for a relation that there is not */
export function queryOf<Given extends BlockQuery>(query: Given): Given & Query {
  const reads = query.reads.map((name) => {
    const known = RELATION_NAMES.find((each) => each === name)
    if (known === undefined)
      throw new TypeError(`relation: found ${name}, expected one of ${RELATION_NAMES.join(', ')}`)
    return known
  })
  return { ...query, reads }
}

type Value = string | number | null
export type QueryValues = Readonly<Record<string, Value>>

const PARAMETER = /:([a-z][a-z0-9_]*)\b/g

const NOTHING_GIVEN: Moment['given'] = new Set()

/** Or PostgreSQL computes all of a relation that is read twice; SQLite looks for itself, and would compute it twice. */
const INLINE = 'NOT MATERIALIZED '

export async function readFigure(db: Db, name: FigureName, scope: FigureScope): Promise<FigureRow[]> {
  return readFigureAt({ db, given: NOTHING_GIVEN }, name, scope)
}

export async function readFigureAt(
  moment: Moment,
  name: FigureName,
  scope: FigureScope,
): Promise<FigureRow[]> {
  const rows = await readRows<Partial<FigureRow>>(moment, findFigure(name), scope)
  return rows.map(({ of = null, value = null, part = null, whole = null }) => ({ of, value, part, whole }))
}

/** The rows of any query over relations; `values` are those that the scope does not have. */
export async function readRows<Row>(
  { db, given }: Moment,
  query: Query,
  scope: FigureScope,
  values: QueryValues = {},
): Promise<Row[]> {
  const text = withRelations(query, scope, given, isPostgres(db) ? INLINE : '')
  return runQuery<Row>(db, text, { ...valuesOf(scope), ...values })
}

/** The SQL of a figure with all values in it, for any program of the database. */
export function explainFigure(name: FigureName, scope: FigureScope): string {
  return explainQuery(findFigure(name), scope, {})
}

/** The same of any query over relations; `values` are those that the scope does not have. */
export function explainQuery(query: Query, scope: FigureScope, values: QueryValues): string {
  const text = withRelations(query, scope, NOTHING_GIVEN, INLINE)
  return `${fillIn(text, { ...valuesOf(scope), ...values })};`
}

export function findFigure(name: FigureName): (typeof FIGURES)[number] {
  const found = FIGURES.find((figure) => figure.name === name)
  if (!found) throw new TypeError(`no figure is called ${name}`)
  return found
}

/**
 * A query over relations, with named parameters: `WITH … SELECT …`.
 * @throws LeadsheetError config_invalid for a filter that cannot be
 */
export function withRelations(
  query: Query,
  { asKnownAt, filter }: Pick<FigureScope, 'asKnownAt' | 'filter'>,
  given: Moment['given'] = NOTHING_GIVEN,
  plain: '' | typeof INLINE = '',
): string {
  const relations = relationsOf(asKnownAt !== null, filter)
  const needed = new Set<RelationName>(query.reads.flatMap((name) => [name, ...relations[name].reads]))
  const missing = RELATION_NAMES.filter((name) => needed.has(name) && !given.has(name))
  const parts = missing.map((name) => {
    const { isMaterialized, sql } = relations[name]
    return `${name} AS ${isMaterialized ? 'MATERIALIZED ' : plain}( ${sql}\n)`
  })
  return parts.length === 0 ? query.sql : `WITH ${parts.join(',\n')}\n${query.sql}`
}

export function valuesOf({ from, to, filter, stalledDays, asKnownAt }: FigureScope): QueryValues {
  return {
    from,
    to,
    ...chosenValues(filter.conditions),
    pipelines: filter.pipelineIds === null ? null : JSON.stringify(filter.pipelineIds),
    stalled_days: stalledDays,
    known_at: asKnownAt,
  }
}

/**
 * Runs a query with named parameters. SQLite keeps it prepared and has them bound by place; PostgreSQL plans by its
 * values, and so runs the very text that is shown.
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

/** A value as SQL has it. */
export function literal(value: Value): string {
  if (value === null) return 'NULL'
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
}
