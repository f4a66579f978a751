/**
 * Finds which tables, columns and functions an analyst's SQL would read, before any of it runs. PostgreSQL
 * parses the SQL into a tree, which has a number for each table, column and function, however its name was
 * written.
 */
import type pg from 'pg'
import { PUBLISHED } from '../schema/published.ts'
import { VIEWS } from '../schema/views.ts'

/**
 * The offset of the column numbers in the tree. Smaller numbers mean system columns; the offset itself means
 * all columns.
 */
const COLUMNS_FROM = 7

/**
 * Matches functions that run SQL, read files and settings, or look beyond the schema. PostgreSQL declares
 * that they change nothing, but analysts may not call them.
 */
const CURIOUS = /^(pg_|has_|inet_|current_setting$|.*_to_xml|.*_description$|ts_stat$|ts_rewrite$)/

/**
 * Checks whether a SELECT reads only what analysts may read.
 * @param client in a transaction that may write, with the schema as its search path; the transaction is the
 * same afterwards
 * @param own the temporary tables that the SQL may read too
 * @returns a sentence that names the table, column or function that may not be read; null where everything is
 * allowed
 * @throws any error of PostgreSQL
 */
export async function findTrespass(
  client: pg.Client,
  sql: string,
  own: readonly string[],
): Promise<string | null> {
  await client.query('SAVEPOINT probe')
  try {
    // PostgreSQL parses a view without running it. Inside EXISTS, the columns may have any names.
    const text = `CREATE TEMP VIEW probe AS SELECT 1 AS one WHERE EXISTS (\n${sql}\n)`
    await client.query(alone(text))
    const touched = await findInView(client, 'pg_temp.probe', own)
    return touched && `${touched} is not for reports`
  } finally {
    await client.query('ROLLBACK TO probe')
  }
}

/** Sends the text with the extended protocol, in which PostgreSQL refuses a second statement. */
export function alone(text: string): pg.QueryConfig {
  // The type definitions of `pg` lack this property.
  return Object.assign({ text }, { queryMode: 'extended' })
}

/**
 * Looks through the views that analysts have made, because they may read private tables. Our own views show
 * only what analysts may read.
 */
async function findInView(client: pg.Client, view: string, own: readonly string[]): Promise<string | null> {
  const { rows } = await client.query<{ id: string; tree: string }>(
    `SELECT CAST(ev_class AS text) AS id, CAST(ev_action AS text) AS tree
    FROM pg_rewrite WHERE ev_class = to_regclass($1)`,
    [view],
  )
  const { id = '', tree = '' } = rows[0] ?? {}
  for (const relation of await readRelations(client, tree)) {
    if (relation.id === id) continue
    const touched = isAnalysts(relation)
      ? await findInView(client, relation.fullName, own)
      : trespassOn(relation, tree, own)
    if (touched !== null) return touched
  }
  return findFunction(client, tree)
}

interface Relation {
  readonly id: string
  readonly name: string
  readonly fullName: string
  readonly place: 'temp' | 'own' | 'other'
  readonly isView: boolean
  /** The names of the columns by their numbers, from 1. */
  readonly columns: readonly string[]
}

async function readRelations(client: pg.Client, tree: string): Promise<Relation[]> {
  const { rows } = await client.query<Relation>(
    `SELECT CAST(pg_class.oid AS text) AS id, relname AS name, relkind = 'v' AS "isView",
      format('%I.%I', nspname, relname) AS "fullName",
      CASE WHEN pg_namespace.oid = pg_my_temp_schema() THEN 'temp' WHEN nspname = current_schema() THEN 'own'
        ELSE 'other' END AS place,
      to_json(ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 ORDER BY attnum)) AS columns
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE CAST(pg_class.oid AS text) = ANY ($1)`,
    [[...tree.matchAll(/:relid (\d+)/g)].map(([, id]) => id)],
  )
  return rows
}

function isAnalysts({ name, place, isView }: Relation): boolean {
  return isView && place === 'own' && !(name in VIEWS)
}

function trespassOn(
  { id, name, place, columns }: Relation,
  tree: string,
  own: readonly string[],
): string | null {
  if (place === 'temp' && own.includes(name)) return null
  if (place === 'own' && name in VIEWS) return null
  const withheld = place === 'own' ? PUBLISHED[name] : undefined
  if (withheld === undefined) return name
  const read = columnsRead(tree, id)
  const secret = withheld.find((column) => read.has(columns.indexOf(column) + 1 + COLUMNS_FROM))
  if (secret !== undefined) return `${name}.${secret}`
  return withheld.length > 0 && read.has(COLUMNS_FROM) ? `${name}.*` : null
}

/**
 * Returns the numbers of the columns of a table that are read anywhere in the tree. The tree writes them as
 * `:relid 16391 … :selectedCols (b 8 9)`.
 */
function columnsRead(tree: string, id: string): Set<number> {
  const places = tree.matchAll(new RegExp(`:relid ${id} [^{}]*:selectedCols \\(b([ \\d]*)\\)`, 'g'))
  return new Set([...places].flatMap(([, numbers = '']) => numbers.trim().split(' ').map(Number)))
}

async function findFunction(client: pg.Client, tree: string): Promise<string | null> {
  const called = (name: string): (string | undefined)[] =>
    [...tree.matchAll(new RegExp(`:${name} (\\d+)`, 'g'))].map(([, id]) => id)
  const { rows } = await client.query<{ name: string; own: boolean; changes: boolean }>(
    `SELECT proname AS name, pronamespace = CAST(current_schema() AS regnamespace) AS own,
      provolatile = 'v' OR pronamespace <> CAST('pg_catalog' AS regnamespace) AS changes
    FROM pg_proc WHERE CAST(oid AS text) = ANY ($1)
      OR oid IN (SELECT oprcode FROM pg_operator WHERE CAST(pg_operator.oid AS text) = ANY ($2))
    ORDER BY name`,
    [['funcid', 'aggfnoid', 'winfnoid'].flatMap(called), called('opno')],
  )
  const refused = rows.find(({ name, own, changes }) => !own && (changes || CURIOUS.test(name)))
  return refused ? `the function ${refused.name}` : null
}
