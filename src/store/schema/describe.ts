/** Finds the meaning of each table, view and column in the schema of a file alone. */
import type Database from 'better-sqlite3'

export interface Relation {
  readonly name: string
  /** `search` is a full-text index. */
  readonly kind: 'table' | 'view' | 'search'
  readonly meaning: string
  readonly columns: readonly Column[]
}

interface Column {
  readonly name: string
  readonly type: string | null
  readonly unit: string | null
  readonly meaning: string
  /** The column, such as `lead.id`, whose values a view takes unchanged; null for others. */
  readonly origin: string | null
  readonly isComputed: boolean
  readonly isNullable: boolean
}

interface SchemaRow {
  readonly name: string
  readonly type: 'table' | 'view' | 'virtual'
  readonly sql: string
}

/** The meaning of a full-text index, whose CREATE statement has no place for a comment. */
const ABOUT_SEARCH =
  'one row per lead: the full-text index over lead_text; search it through the view lead_search'

/** Describes all tables and views in order of creation, so that a view comes after all that it reads. */
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
    const meaning = comments.columns.get(name) || (references.get(name) ?? '')
    return {
      name,
      type,
      unit: unitOf(name, meaning),
      meaning,
      origin: null,
      isComputed: isGenerated,
      isNullable,
    }
  })
  return { name: table, kind: 'table', meaning: comments.whole, columns }
}

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
    const meaning = comments.columns.get(name) || (like?.meaning ?? '')
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
  return type === 'view'
    ? { name: view, kind: 'view', meaning: comments.whole, columns }
    : { name: view, kind: 'search', meaning: ABOUT_SEARCH, columns }
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

/** A table's comment follows its column. In a view, a comment has the format `-- column: meaning`. */
interface SchemaComments {
  readonly whole: string
  readonly columns: ReadonlyMap<string, string>
}

/** Matches comments, quoted names and texts, punctuation, line ends and words. */
const TOKEN =
  /--(?<line>[^\n]*)|\/\*(?<block>[\s\S]*?)\*\/|"(?:[^"]|"")*"|'(?:[^']|'')*'|`[^`]*`|\[[^\]]*\]|[(),]|\n|[^\s(),"'`[]+/g

const CONSTRAINT = /^(PRIMARY|FOREIGN|UNIQUE|CHECK|CONSTRAINT)$/i

/** Reads the comments of a table. A comment is for the column before it on the line, even after the comma. */
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

/** Comments before the SQL describe the view. A column's meaning may continue on the next lines. */
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

/** The first pattern that matches gives the unit; `$1` stands for the text of its group. */
const UNITS_BY_MEANING: readonly (readonly [RegExp, string])[] = [
  [/^UTC\b/, 'UTC'],
  [/\bin whole units of (?!the\b)(\w+)/, '$1'],
  [/\bISO 4217\b/, 'ISO 4217'],
  [/\b0 to 100\b/, '0 to 100'],
  [/\b0 to 1\b/, '0 to 1'],
  [/^1:|^0:/, '0 or 1'],
  [/^JSON\b|, JSON\b/, 'JSON'],
]

/** The units that follow from a word in the name of a column. */
const UNITS_BY_NAME: Readonly<Record<string, string>> = {
  ms: 'ms',
  hours: 'hours',
  days: 'days',
  employees: 'people',
}

/** Returns null where values have no unit or format. */
function unitOf(column: string, meaning: string): string | null {
  for (const [pattern, unit] of UNITS_BY_MEANING) {
    const found = pattern.exec(meaning)
    if (found) return unit.replace('$1', found[1] ?? '')
  }
  const word = column.split('_').find((part) => part in UNITS_BY_NAME)
  return word === undefined ? null : (UNITS_BY_NAME[word] ?? null)
}

/** Quotes the name of a table or column for SQL, because names cannot be bound. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
