/**
 * Generates the page on the tables, views and columns of a snapshot, from the descriptions in an empty
 * snapshot.
 */
import Database from 'better-sqlite3'
import { sourcePathsOf } from '../../src/jobs/snapshot/publish-snapshot.ts'
import { withEmptySnapshot } from '../../src/store/snapshot/snapshot.ts'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { code, page, sentence, table } from './markdown.ts'

const OPENING = `What analysts find in \`snapshot.db\`, table by table. The tables \`dictionary_table\` and \`dictionary\` of the file say the same.

Our clock is the clock of the machine that runs leadsheet. A source is a path in the records of the upstream, \`ours\` for what leadsheet keeps itself, or \`computed\`. A type is empty where a view computes the column.

If the store is in PostgreSQL, [a role of its own](../how-to/postgresql-and-workers.md#let-analysts-in) reads the same tables and views there. The differences are:

- TEXT is \`text\`, sorted by its bytes. INTEGER is \`bigint\`. Instants are the same texts.
- REAL is \`double precision\`.
- Only the snapshot has \`dictionary\`, \`dictionary_table\` and \`snapshot_info\`.`

export async function databasePage(): Promise<string> {
  const dictionary = await describeEmpty()
  const index = dictionary.tables.map(({ table_name, kind, meaning }) => [
    code(table_name),
    kind,
    meaning.replace(/^one row per /, ''),
  ])
  return page(
    'Database',
    OPENING,
    table(['Table or view', 'Kind', 'One row per'], index),
    ...tableSections(dictionary),
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
  return withEmptySnapshot(sourcePathsOf(REFERENCE_PROFILE), readDictionary)
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

function tableSections({ tables, columns }: Dictionary): string[] {
  return tables.map(({ table_name: name, kind, meaning }) => {
    const rows = columns
      .filter((column) => column.table_name === name)
      .map((column) => [code(column.column_name), column.type ?? '', column.meaning, column.source_path])
    return [
      `## ${name}${kind === 'table' ? '' : ` (${kind})`}`,
      sentence(meaning),
      table(['Column', 'Type', 'Meaning', 'Source'], rows),
    ].join('\n\n')
  })
}
