/**
 * Finds the meaning of each table, view and column of a database file from its schema alone. A column without
 * a comment has the meaning of another column: the one that it comes from, refers to or shares its name with.
 */
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
  /** The declared type of the column; null for a column that a view computes. */
  readonly type: string | null
  readonly unit: string | null
  readonly meaning: string
  /**
   * The table and column whose values the view takes unchanged, such as `lead.id`; null for other columns.
   */
  readonly origin: string | null
  readonly isComputed: boolean
  readonly isNullable: boolean
}

interface SchemaRow {
  readonly name: string
  readonly type: 'table' | 'view' | 'virtual'
  readonly sql: string
}

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
    const meaning = meaningOf(table, name, comments.columns.get(name) || references.get(name))
    // Looks for a unit in the built-in meanings too, because a column that refers to another table may have
    // one there.
    const unit = unitOf(name, meaning) ?? unitOf(name, meaningOf(table, name))
    return { name, type, unit, meaning, origin: null, isComputed: isGenerated, isNullable }
  })
  return { name: table, kind: 'table', meaning: comments.whole, columns }
}

/** Describes a view, or the full-text index, which takes its columns from a view. */
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

/** Returns the meaning of a column; empty where there is none. */
function meaningOf(table: string, column: string, said = ''): string {
  if (said !== '' && !BARE_UNIT.test(said)) return said
  return MEANINGS[`${table}.${column}`] ?? MEANINGS[column] ?? said
}

/**
 * The comments of a CREATE statement, which SQLite keeps in the file. In a table, the comment after a column
 * is the meaning of the column. In a view, a comment has the format `-- column: meaning`.
 */
interface SchemaComments {
  /** The meaning of the table or view; empty where the comments have none. */
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

/**
 * Reads the comments of a view. Comments that stand before the SQL of the view and name no column describe
 * the view as a whole. The meaning of a column may continue on the next comment lines.
 */
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

/**
 * The meanings of columns whose comment in the schema is missing or gives only a unit or a clock. A key is
 * the name of a column, of a table and its column, or of a table.
 */
const MEANINGS: Readonly<Record<string, string>> = {
  lead_fts: 'one row per lead: the full-text index over lead_text; search it through the view lead_search',
  lead_id: 'lead.id',
  run_id: 'sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time',
  won_value_amount: 'value of the leads won, in whole units of won_value_currency',
  won_value_currency: 'currency of won_value_amount, ISO 4217',
  open_value_amount: 'value of the open leads, in whole units of open_value_currency',
  open_value_currency: 'currency of open_value_amount, ISO 4217',
  open: 'leads that are open',
  won: 'leads that were won',
  lost: 'leads that were lost',
  disqualified: 'leads that were disqualified',
  observed_at: 'UTC, by our clock: when we read it',
  'stage.status': 'name of the status',
  'pipeline.first_seen_at': 'UTC, by our clock: when it first appeared in a lead or in the settings',
  'pipeline_stat.as_of': "UTC, by the upstream's clock: the time that the numbers describe",
  'pipeline.id': "the upstream's identifier of the pipeline",
  'agent.id': "the upstream's identifier of the agent",
  'agent.name': 'name of the agent',
  'agent.status_changed_at': "UTC, by the upstream's clock: when its status last changed",
  'agent.task_progress': 'how much of its task is done, 0 to 1',
  'agent.last_seen_at': "UTC, by the upstream's clock: when the agent last reported",
  'agent.task_pipeline_id': 'pipeline.id of the pipeline that it works for now',
  'agent.task_lead_id': 'lead.id of the lead that it works on now',
  'agent.task_started_at': "UTC, by the upstream's clock: when it began its task",
  'agent.errors_24h': 'tasks that failed in the last 24 hours',
  'agent.last_error_at': "UTC, by the upstream's clock: when it last failed",
  'agent.last_error_message': 'why it last failed',
  'agent_sample.agent_id': 'agent.id',
  'agent_sample.status': 'such as running, idle, failing, paused',
  'agent_sample.task_type': 'type of its current task; null if it has none',
  'agent_sample.task_pipeline_id': 'pipeline.id of the pipeline that it works for',
  'agent_sample.tasks_24h': 'tasks done in the last 24 hours',
  'agent_sample.errors_24h': 'tasks that failed in the last 24 hours',
  'field_seen.first_seen_at': 'UTC, by our clock: when a record first had it',
  'field_seen.last_seen_at': 'UTC, by our clock: when a record last had it',
  'field_seen.null_share': 'nulls / count, 0 to 1',
  'quarantined_record.first_seen_at': 'UTC, by our clock: when it was first read',
  'quarantined_record.last_seen_at': 'UTC, by our clock: when it was last read',
  'sync_run.started_at': 'UTC, by our clock: when it began',
  'sync_scan_result.run_id': 'sync_run.id of the sync',
  'sync_scan_result.ended_at': 'UTC, by our clock: when reading the leads ended',
  'sync_run.mode': 'full: reads all leads; incremental: reads the leads that changed since the sync before',
  'sync_run.outcome': 'ok, ok_no_change, partial, deferred, failed or killed; null while running',
  'sync_run.leads_seen': 'distinct leads read',
  'sync_run.leads_inserted': 'leads that were new',
  'sync_run.leads_updated': 'leads that had changed',
  'sync_run.leads_unchanged': 'leads that were unchanged',
  'sync_run.leads_deleted': 'leads that were marked as deleted',
  'sync_run.agents': 'agents read',
  'sync_run.pages': 'pages of leads read',
  'sync_run.requests': 'requests that were sent, retries included',
  'sync_run.retries': 'requests that were sent again after a failure',
  'sync_run.duration_ms': 'how long the sync took',
  'sync_scan_result.mode':
    'full: reads all leads; incremental: reads the leads that changed since the sync before',
  'quarantined_record.reason': 'why it could not be mapped',
  'report_issue.id': 'random identifier',
  'report_issue.time_zone': 'IANA zone of the period',
  'report_issue.subject': 'subject of its messages',
  'report_issue.rendered_at': 'UTC, by our clock: when it was made',
}

/** Matches a comment that gives only the format of a value, or the column to which the value refers. */
const BARE_UNIT =
  /^(UTC(, by (our|the upstream's) clock)?|0 to 1|ISO 4217|sync_run\.id( that (first )?(read|wrote|marked) (it|them|this row)( deleted)?)?)$/

/**
 * The units that follow from the meaning of a column. The first pattern that matches gives the unit; `$1`
 * stands for the text that its group matches.
 */
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

/**
 * Finds the unit of a column.
 * @returns the unit or format of the values; null where there is none
 */
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
