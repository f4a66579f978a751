/**
 * Generates the page on the tables, views and columns of a snapshot, from the descriptions in an empty
 * snapshot.
 */
import Database from 'better-sqlite3'
import { sourcePathsOf } from '../../src/jobs/snapshot/publish-snapshot.ts'
import { withEmptySnapshot } from '../../src/store/snapshot/snapshot.ts'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { code, page, sentence, table } from './markdown.ts'

const OPENING = `The tables and views of \`snapshot.db\` that analysts use, column by column; [the others](#other-tables-and-views) have one line each. \`dictionary_table\` and \`dictionary\` in the file describe all columns.

Our clock is the clock of the machine that runs leadsheet. A path after a column's type says where it is in the records of the upstream. A column without a type is TEXT. A view computes the type of one that is called computed.

If the store is in PostgreSQL, [a role of its own](../how-to/postgresql-and-workers.md#let-analysts-in) reads the same tables and views there. TEXT is then \`text\`, sorted by its bytes, INTEGER is \`bigint\`, and REAL is \`double precision\`. Only the snapshot has the dictionary and \`snapshot_info\`.`

/** The tables and views for analysts, in the order of the page. Maintainers find the columns of the others in src/store/tables. */
const DESCRIBED = [
  'lead_now',
  'lead_version',
  'lead_detail',
  'activity',
  'stage',
  'stage_stay',
  'stage_move',
  'pipeline_overview',
  'funnel_latest',
  'agent',
  'agent_outage',
  'annotation',
  'report_issue',
  'snapshot_info',
]

export async function databasePage(): Promise<string> {
  const { tables, columns } = await describeEmpty()
  const described = DESCRIBED.map((name) => {
    const found = tables.find((each) => each.table_name === name)
    if (found === undefined) throw new Error(`the snapshot has no table ${name}`)
    return found
  })
  const others = tables.filter(
    ({ table_name }) => !DESCRIBED.includes(table_name) && !/^dictionary/.test(table_name),
  )
  const seen = new Map<string, string>()
  return page(
    'Database',
    OPENING,
    ...described.map((each) => tableSection(each, columns, seen)),
    '## Other tables and views',
    table(
      ['Table or view', 'One row per'],
      others.map(({ table_name, meaning }) => [code(table_name), meaning.replace(/^one row per /, '')]),
    ),
  )
}

export interface Dictionary {
  readonly tables: readonly { readonly table_name: string; readonly kind: string; readonly meaning: string }[]
  readonly columns: readonly {
    readonly table_name: string
    readonly column_name: string
    readonly type: string | null
    readonly meaning: string
    readonly source_path: string
  }[]
}

/** Returns the descriptions of the tables and columns of an empty snapshot. */
export function describeEmpty(): Promise<Dictionary> {
  return withEmptySnapshot(sourcePathsOf(REFERENCE_PROFILE), [], readDictionary)
}

export function readDictionary(file: string): Dictionary {
  const database = new Database(file, { readonly: true })
  try {
    return {
      tables: database.prepare<[], Dictionary['tables'][number]>('SELECT * FROM dictionary_table').all(),
      columns: database.prepare<[], Dictionary['columns'][number]>('SELECT * FROM dictionary').all(),
    }
  } finally {
    database.close()
  }
}

/** @param seen the tables that the page has so far, by the name and the meaning of each of their columns */
function tableSection(
  { table_name: name, kind, meaning }: Dictionary['tables'][number],
  columns: Dictionary['columns'],
  seen: Map<string, string>,
): string {
  const own = columns.filter(({ table_name }) => table_name === name)
  const keyOf = (column: Dictionary['columns'][number]) => `${column.column_name}: ${column.meaning}`
  const known = Map.groupBy(own, (column) => seen.get(keyOf(column)) ?? '')
  for (const column of own) if (!seen.has(keyOf(column))) seen.set(keyOf(column), name)
  const rows = (known.get('') ?? []).map(({ column_name, type, source_path, meaning }) => {
    const path = ['ours', 'computed', 'the whole record'].includes(source_path) ? '' : code(source_path)
    return [code(column_name), [type === 'TEXT' ? '' : (type ?? 'computed'), path].join(' ').trim(), meaning]
  })
  const same = [...known]
    .filter(([table]) => table !== '')
    .map(
      ([table, each]) =>
        `As in ${code(table)}: ${each.map(({ column_name }) => code(column_name)).join(', ')}.`,
    )
  return [
    `## ${name}${kind === 'table' ? '' : ` (${kind})`}`,
    sentence(meaning),
    ...same,
    ...(rows.length > 0 ? [table(['Column', 'Type', 'Meaning'], rows)] : []),
  ].join('\n\n')
}
