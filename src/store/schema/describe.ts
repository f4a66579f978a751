/** Finds the meaning of each table, view and column in the schema of a file alone. */
import type Database from 'better-sqlite3'

export interface Relation {
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly meaning: string
  readonly columns: readonly Column[]
}

interface Column {
  readonly name: string
  readonly type: string | null
  readonly meaning: string
  /** The column, such as `lead.id`, whose values a view takes unchanged; null for others. */
  readonly origin: string | null
  readonly isComputed: boolean
}

interface SchemaRow {
  readonly name: string
  readonly type: 'table' | 'view'
  readonly sql: string
}

/** Describes all tables and views in order of creation, so that a view comes after all that it reads. */
export function describeSchema(database: Database.Database): Relation[] {
  const rows = database
    .prepare<[], SchemaRow>(
      `SELECT name, type, sql FROM sqlite_schema
       WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid`,
    )
    .all()
  const known = new Map<string, Relation>()
  for (const row of rows)
    known.set(
      row.name,
      row.type === 'table' ? describeTable(database, row) : describeView(database, row, known),
    )
  return [...known.values()]
}

function describeTable(database: Database.Database, { name: table, sql }: SchemaRow): Relation {
  const { whole, columns: meanings } = readTableComments(sql)
  const columns = database
    .prepare<[string, string], Omit<Column, 'meaning' | 'isComputed'> & { target: string; hidden: number }>(
      `SELECT column.name, column.type, NULL AS origin, hidden, ifnull(key."table" || '.' || key."to", '') AS target
       FROM pragma_table_xinfo(?) AS column LEFT JOIN pragma_foreign_key_list(?) AS key ON key."from" = column.name`,
    )
    .all(table, table)
    .map(({ target, hidden, ...column }) => ({
      ...column,
      meaning: meanings.get(column.name) ?? target,
      isComputed: hidden > 1,
    }))
  return { name: table, kind: 'table', meaning: whole, columns }
}

function describeView(
  database: Database.Database,
  { name: view, sql }: SchemaRow,
  known: ReadonlyMap<string, Relation>,
): Relation {
  const origins = database.prepare(`SELECT * FROM ${quoted(view)}`).columns()
  const { whole, columns: meanings } = readViewComments(
    sql,
    origins.map(({ name }) => name),
  )
  const read = [...known.values()].filter(({ name }) => new RegExp(`\\b${RegExp.escape(name)}\\b`).test(sql))
  const columns = origins.map(({ name, table, column }): Column => {
    const origin = known.get(table ?? '')?.columns.find((each) => each.name === column)
    const namesake = read.flatMap((relation) => relation.columns).findLast((each) => each.name === name)
    return {
      name,
      type: origin?.type ?? null,
      meaning: meanings.get(name) ?? (origin ?? namesake)?.meaning ?? '',
      origin: origin === undefined ? null : `${table}.${column}`,
      isComputed: origin === undefined,
    }
  })
  return { name: view, kind: 'view', meaning: whole, columns }
}

interface SchemaComments {
  readonly whole: string
  readonly columns: ReadonlyMap<string, string>
}

/** Reads the comments of a table. Each column has its own line, which begins with its name. */
function readTableComments(create: string): SchemaComments {
  const [first = '', ...lines] = create.split('\n')
  const columns = lines.flatMap((line) => {
    const [, name, meaning] = /^\s*"?(\w+)"? .*? -- (.*)$/.exec(line) ?? []
    return name === undefined || meaning === undefined ? [] : [[name, meaning] as const]
  })
  return { whole: first.split(' -- ')[1] ?? '', columns: new Map(columns) }
}

/** Reads the comments before the SQL of a view. A comment in the format `column: meaning` is for a column. */
function readViewComments(create: string, names: readonly string[]): SchemaComments {
  const whole: string[] = []
  const columns = new Map<string, string>()
  for (const line of create.split('\n').slice(1)) {
    const comment = /^\s*-- (.*)$/.exec(line)?.[1]
    if (comment === undefined) break
    const [, name = '', meaning = ''] = /^(\w+): (.*)$/.exec(comment) ?? []
    if (names.includes(name)) columns.set(name, meaning)
    else whole.push(comment)
  }
  return { whole: whole.join(' '), columns }
}

/** Quotes the name of a table or column for SQL, because names cannot be bound. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
