/**
 * `leadsheet schema`: explains the tables, views and columns of the snapshot, the SQLite file for analysts.
 * Before the first snapshot, the command describes an empty snapshot.
 */
import type { Command } from 'commander'
import { profileOf } from '../../../app/configured-upstream.ts'
import { pathsIn } from '../../../app/installation.ts'
import { nearest } from '../../../config/setting-path.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { sourcePathsOf } from '../../../jobs/snapshot/publish-snapshot.ts'
import type { ColumnEntry, Dictionary, TableEntry } from '../../../store/snapshot/dictionary.ts'
import { readSnapshotDictionary, withEmptySnapshot } from '../../../store/snapshot/snapshot.ts'
import type { Profile } from '../../../upstream/profile/profile.ts'
import { addExamples } from '../../command.ts'
import { formatShare } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly markdown?: boolean
}

export function defineSchema(command: Command, terminal: Terminal): void {
  command
    .argument('[table]', 'table or view to describe (default: list all of them)')
    .option('--markdown', 'print the description as Markdown')
    .action((table: string | undefined, options: Options) => runSchema(terminal, table, options))
  addExamples(command, ['schema', 'schema lead', 'schema --markdown > database.md', 'schema lead_now --json'])
}

async function runSchema(terminal: Terminal, table: string | undefined, options: Options): Promise<void> {
  const config = await terminal.dataConfig()
  const dictionary =
    readSnapshotDictionary(pathsIn(config.dataDir).snapshot) ?? (await describeEmpty(profileOf(config)))
  const shown = table === undefined ? dictionary : only(dictionary, table)
  if (terminal.json) {
    terminal.printJson(
      shown.tables.map((entry) => ({ ...entry, columns: columnsOf(shown, entry).map(columnJson) })),
    )
  } else if (options.markdown) terminal.print(markdownOf(shown))
  else if (table === undefined) await printTables(terminal, shown)
  else await printColumns(terminal, shown)
}

/** Returns the dictionary of an empty snapshot: the descriptions of its tables and columns. */
export async function describeEmpty(profile: Profile): Promise<Dictionary> {
  return withEmptySnapshot(
    sourcePathsOf(profile),
    (file) => readSnapshotDictionary(file) ?? { tables: [], columns: [] },
  )
}

function only(dictionary: Dictionary, table: string): Dictionary {
  const tables = dictionary.tables.filter((entry) => entry.table_name === table)
  if (tables.length > 0) {
    return { tables, columns: dictionary.columns.filter((entry) => entry.table_name === table) }
  }
  const names = dictionary.tables.map((entry) => entry.table_name)
  const meant = nearest(table, names)
  throw new LeadsheetError('usage_invalid', `there is no table or view named ${JSON.stringify(table)}`, {
    hint: meant === null ? `There are ${names.join(', ')}.` : `Did you mean ${meant}?`,
  })
}

function columnsOf({ columns }: Dictionary, { table_name }: TableEntry): ColumnEntry[] {
  return columns.filter((column) => column.table_name === table_name)
}

function columnJson({ table_name: _table, examples, ...column }: ColumnEntry) {
  return { ...column, examples: examples === null ? [] : JSON.parse(examples) }
}

async function printTables(terminal: Terminal, { tables }: Dictionary): Promise<void> {
  await terminal.printTable<TableEntry>(
    [
      { title: 'TABLE OR VIEW', value: (entry) => entry.table_name, isWhole: true },
      { title: 'KIND', value: (entry) => entry.kind, isWhole: true },
      { title: 'ROWS', value: (entry) => entry.rows },
      { title: 'ONE ROW FOR', value: (entry) => entry.meaning },
    ],
    tables,
  )
  terminal.note(`the columns of one: ${shellCommand('schema TABLE')}`)
}

async function printColumns(terminal: Terminal, { tables, columns }: Dictionary): Promise<void> {
  terminal.print(`${tables[0]?.meaning}`, '')
  await terminal.printTable<ColumnEntry>(
    [
      { title: 'COLUMN', value: (column) => column.column_name, isWhole: true },
      { title: 'TYPE', value: (column) => column.type },
      { title: 'UNIT', value: (column) => column.unit },
      { title: 'MEANING', value: (column) => column.meaning },
      { title: 'SOURCE', value: (column) => column.source_path, isOptional: true },
      { title: 'NULL', value: (column) => formatShare(column.null_share), isOptional: true },
      { title: 'EXAMPLES', value: (column) => exampleText(column), isOptional: true },
    ],
    columns,
  )
}

function exampleText({ examples }: ColumnEntry): string | null {
  return examples === null ? null : JSON.parse(examples).join(', ')
}

/**
 * Renders the dictionary (the descriptions of tables and columns) as Markdown. Row counts and examples are
 * left out, so that the text is the same on every machine.
 */
export function markdownOf({ tables, columns }: Dictionary): string {
  return tables
    .map(({ table_name: table, kind, meaning }) => {
      const rows = columns
        .filter((column) => column.table_name === table)
        .map((column) => [
          `\`${column.column_name}\``,
          column.type ?? '',
          column.unit ?? '',
          column.meaning,
          column.source_path,
        ])
      return [
        `## ${table}${kind === 'table' ? '' : ` (${kind})`}`,
        '',
        `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`,
        '',
        ...tableOf(['Column', 'Type', 'Unit', 'Meaning', 'Source'], rows),
      ].join('\n')
    })
    .join('\n\n')
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  )
}
