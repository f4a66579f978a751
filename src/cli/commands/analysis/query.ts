/** `leadsheet query`: runs one SELECT on the snapshot, for machines without sqlite3. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { type Command, Option } from 'commander'
import { requireSnapshot } from '../../../app/installation.ts'
import { nearest } from '../../../config/setting-path.ts'
import { errorText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { encodeCsv, jsonObject } from '../../../jobs/snapshot/export-text.ts'
import { runQuery } from '../../../store/queries/analyst-query.ts'
import { type Cell, openSnapshot, type Row } from '../../../store/queries/snapshot-table.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import type { Column } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const FORMATS = ['table', 'csv', 'json'] as const
const ROWS_DEFAULT = 1000
const ROWS_MAX = 1_000_000
const TIMEOUT_MS = 30_000

interface Options {
  readonly format: (typeof FORMATS)[number]
  readonly limit: number
}

export function defineQuery(command: Command, terminal: Terminal): void {
  command
    .argument('<sql>', 'a SELECT, the name of a .sql file, or - for standard input')
    .addOption(new Option('--format <format>', 'format of the rows').choices(FORMATS).default('table'))
    .option('--limit <rows>', 'most rows to print', wholeNumber(1, ROWS_MAX), ROWS_DEFAULT)
    .action((sql: string, options: Options) => query(terminal, sql, options))
  addExamples(command, [
    'query "SELECT status, count(*) AS leads FROM lead_now GROUP BY status"',
    'query docs/queries/pipelines.sql',
    'query "SELECT * FROM agent" --format json',
  ])
}

async function query(terminal: Terminal, source: string, options: Options): Promise<void> {
  const file = requireSnapshot((await terminal.config()).dataDir)
  const sql = await readSql(source)
  const { signal } = terminal
  const answer = await runQuery(file, sql, { rowsMax: options.limit, timeoutMs: TIMEOUT_MS, signal })
  if (answer.error !== null) throw mistakeIn(file, answer.error)
  await printRows(terminal, answer, options.format)
  const count = `${answer.rows.length.toLocaleString('en')} rows`
  if (answer.isCut) terminal.note(`${count}, and there are more: see --limit, and ${shellCommand('export')}`)
}

async function readSql(source: string): Promise<string> {
  if (source === '-') return text(process.stdin)
  if (!source.endsWith('.sql')) return source
  return readFile(source, 'utf8').catch((cause: unknown) => {
    throw new LeadsheetError('usage_invalid', `${source} cannot be read: ${errorText(cause)}`, { cause })
  })
}

async function printRows(
  terminal: Terminal,
  { columns, rows }: { readonly columns: readonly string[]; readonly rows: readonly Row[] },
  format: Options['format'],
): Promise<void> {
  if (terminal.json || format === 'json') {
    const names = columns.map((name) => JSON.stringify(name))
    const objects = rows.map((row) => `  ${jsonObject(names, row)}`)
    const array = objects.length === 0 ? '[]' : `[\n${objects.join(',\n')}\n]`
    terminal.print(terminal.json ? `{"data": ${array}}` : array)
  } else if (format === 'csv') {
    const named = columns.map((name) => ({ name }))
    for (const piece of encodeCsv(named, [rows])) process.stdout.write(piece)
  } else {
    const shown = columns.map((title, index): Column<Row> => {
      return { title, value: (row) => shownCell(row[index] ?? null), isExact: true }
    })
    await terminal.printTable(shown, rows)
  }
}

function shownCell(cell: Cell): string | number | null {
  if (typeof cell !== 'bigint') return cell
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
}

/** Wraps the error of SQLite and suggests the table or column name that was probably meant. */
function mistakeIn(file: string, message: string): LeadsheetError {
  if (/not authorized|authorization denied/.test(message)) {
    return new LeadsheetError('query_failed', `the statement does more than read: ${message}`, {
      hint: 'Only SELECT, WITH … SELECT and EXPLAIN run here.',
    })
  }
  const [, kind, name = ''] = /^no such (table|column): (?:\w+\.)?(.+)$/.exec(message) ?? []
  const meant = kind === undefined ? null : nearest(name, namesIn(file, kind))
  return new LeadsheetError('query_failed', message, {
    hint: `${meant === null ? '' : `Did you mean ${meant}? `}${shellCommand('schema')} shows tables and columns.`,
  })
}

function namesIn(file: string, kind: string): Set<string> {
  using reader = openSnapshot(file)
  if (kind === 'table') return new Set(reader.names)
  return new Set(
    reader.names.flatMap((name) => reader.findTable(name)?.columns.map((column) => column.name) ?? []),
  )
}
