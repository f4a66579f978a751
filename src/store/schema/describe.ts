/**
 * What each table, view and column of a file means, from its schema alone. A column without a comment of its own
 * means what the column means that it comes from, points to or is named after.
 */
import type Database from 'better-sqlite3'
import { quoted } from '../db/rows.ts'
import { BARE_UNIT, MEANINGS, unitOf } from './meanings.ts'

export interface Relation {
  readonly name: string
  /** `search` is a full-text index. */
  readonly kind: 'table' | 'view' | 'search'
  readonly meaning: string
  readonly columns: readonly Column[]
}

export interface Column {
  readonly name: string
  /** Null where it is computed. */
  readonly type: string | null
  readonly unit: string | null
  readonly meaning: string
  /** The column of a table from which that of a view is taken as it is. */
  readonly origin: string | null
  readonly isComputed: boolean
  readonly isNullable: boolean
}

interface SchemaRow {
  readonly name: string
  readonly type: 'table' | 'view' | 'virtual'
  readonly sql: string
}

/** In the order in which they were made, so that what a view reads stands before it. */
export function describeSchema(database: Database.Database): Relation[] {
  const known = new Map<string, Relation>()
  for (const row of listSchema(database)) {
    known.set(
      row.name,
      row.type === 'table' ? describeTable(database, row) : describeView(database, row, known),
    )
  }
  return [...known.values()]
}

function listSchema(database: Database.Database): SchemaRow[] {
  return database
    .prepare<[], SchemaRow>(
      `SELECT list.name, list.type, sql FROM sqlite_schema JOIN pragma_table_list AS list USING (name)
       WHERE list.schema = 'main' AND list.type IN ('table', 'view', 'virtual') AND list.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY sqlite_schema.rowid`,
    )
    .all()
}

function describeTable(database: Database.Database, { name: table, sql }: SchemaRow): Relation {
  const comments = readTableComments(sql)
  const references = new Map(
    database
      .prepare<[string], { from: string; target: string }>(
        `SELECT "from", "table" || '.' || "to" AS target FROM pragma_foreign_key_list(?)`,
      )
      .all(table)
      .map((key) => [key.from, key.target]),
  )
  const columns = listColumns(database, table).map(({ name, type, isNullable, isGenerated }): Column => {
    const meaning = meaningOf(table, name, comments.columns.get(name) || references.get(name))
    // Because a column that points to another has the unit of its namesake.
    const unit = unitOf(name, meaning) ?? unitOf(name, meaningOf(table, name))
    return { name, type, unit, meaning, origin: null, isComputed: isGenerated, isNullable }
  })
  return { name: table, kind: 'table', meaning: comments.whole, columns }
}

/** A view, or the full-text index, which takes its columns from one. */
function describeView(
  database: Database.Database,
  { name: view, type, sql }: SchemaRow,
  known: ReadonlyMap<string, Relation>,
): Relation {
  const origins = database.prepare(`SELECT * FROM ${quoted(view)}`).columns()
  const comments: SchemaComments = readViewComments(
    sql,
    origins.map(({ name }) => name),
  )
  const read = [...known.values()].filter(({ name }) => new RegExp(`\\b${RegExp.escape(name)}\\b`).test(sql))
  const columns = origins.map(({ name, table, column }): Column => {
    const origin = known.get(table ?? '')?.columns.find((each) => each.name === column)
    const namesake = read.flatMap((relation) => relation.columns).findLast((each) => each.name === name)
    const like = origin ?? namesake
    const meaning = meaningOf(view, name, comments.columns.get(name) || like?.meaning)
    return {
      name,
      type: origin?.type ?? null,
      unit: like?.meaning === meaning ? like.unit : unitOf(name, meaning),
      meaning,
      origin: origin === undefined ? null : `${table}.${column}`,
      isComputed: origin === undefined,
      isNullable: true,
    }
  })
  const meaning = comments.whole || (MEANINGS[view] ?? '')
  return { name: view, kind: type === 'view' ? 'view' : 'search', meaning, columns }
}

function listColumns(database: Database.Database, table: string) {
  return database
    .prepare<[string], { name: string; type: string; notnull: number; pk: number; hidden: number }>(
      'SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)',
    )
    .all(table)
    .map(({ name, type, notnull, pk, hidden }) => ({
      name,
      type,
      isNullable: notnull === 0 && pk === 0,
      isGenerated: hidden > 1,
    }))
}

/** Empty where nobody has said what it means. */
function meaningOf(table: string, column: string, said = ''): string {
  if (said !== '' && !BARE_UNIT.test(said)) return said
  return MEANINGS[`${table}.${column}`] ?? MEANINGS[column] ?? said
}

/**
 * What the comments of a CREATE statement say, which SQLite keeps in the file. In a table the comment behind a column is
 * its meaning; a view says `-- column: meaning`.
 */
interface SchemaComments {
  /** Meaning of the table or view; empty where the comments do not say it. */
  readonly whole: string
  readonly columns: ReadonlyMap<string, string>
}

/** Comments, quoted names and texts, marks, line ends, words. */
const TOKEN =
  /--(?<line>[^\n]*)|\/\*(?<block>[\s\S]*?)\*\/|"(?:[^"]|"")*"|'(?:[^']|'')*'|`[^`]*`|\[[^\]]*\]|[(),]|\n|[^\s(),"'`[]+/g

const CONSTRAINT = /^(PRIMARY|FOREIGN|UNIQUE|CHECK|CONSTRAINT)$/i

/** A comment belongs to the column that it follows on its line, also behind the comma. */
export function readTableComments(create: string): SchemaComments {
  const whole: string[] = []
  const columns = new Map<string, string[]>()
  let depth = 0
  let column: string | null = null
  let isNewColumn = true
  for (const { 0: token, groups } of create.matchAll(TOKEN)) {
    const comment = groups?.line ?? groups?.block
    if (comment !== undefined) {
      if (depth > 0) (column === null ? whole : columns.get(column))?.push(comment.trim())
    } else if (token === '(') depth++
    else if (token === ')') depth--
    else if (token === ',' && depth === 1) isNewColumn = true
    else if (depth === 1 && isNewColumn && token !== '\n') {
      isNewColumn = false
      column = unquoted(token)
      if (!CONSTRAINT.test(token)) columns.set(column, [])
    }
  }
  return { whole: whole.join(' '), columns: joined(columns) }
}

/** Takes comments before the first SELECT for the view as a whole; a meaning may go on in the comment lines below it. */
export function readViewComments(create: string, names: readonly string[]): SchemaComments {
  const whole: string[] = []
  const columns = new Map<string, string[]>()
  let lines: string[] | null = whole
  for (const line of create.split('\n')) {
    const comment = /^\s*--\s*(.*?)\s*$/.exec(line)?.[1]
    const [, name = '', meaning = ''] = /^(\w+): (.*)$/.exec(comment ?? '') ?? []
    if (comment !== undefined && names.includes(name)) {
      lines = [meaning]
      columns.set(name, lines)
    } else if (comment !== undefined) lines?.push(comment)
    else if (!/^\s*CREATE\b/i.test(line)) lines = null
  }
  return { whole: whole.join(' '), columns: joined(columns) }
}

function joined(columns: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  return new Map([...columns].map(([name, lines]) => [name, lines.join(' ')]))
}

function unquoted(token: string): string {
  return /^["'`[]/.test(token) ? token.slice(1, -1).replaceAll('""', '"') : token
}
