/** `leadsheet query`: runs one SELECT on the snapshot (the SQLite file for analysts), for machines without sqlite3. */

import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { type Command, Option } from 'commander'
import { QUERIES, requireSnapshot } from '../../../app/installation.ts'
import { faultText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { encodeCsv } from '../../../jobs/snapshot/encode-text.ts'
import { runQuery } from '../../../store/queries/query.ts'
import { type Cell, NO_SELECT, type Row } from '../../../store/queries/select.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import { type Column, table } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const FORMATS = ['table', 'csv'] as const
const ROWS_DEFAULT = 1000
const ROWS_MAX = 1_000_000
const TIMEOUT_MS = 30_000

interface QueryOptions {
  readonly format: (typeof FORMATS)[number]
  readonly limit: number
}

export function defineQuery(command: Command, terminal: Terminal): void {
  command
    .argument('<sql>', 'a SELECT, the name of a .sql file, or - for standard input')
    .addOption(new Option('--format <format>', 'format of the rows').choices(FORMATS).default('table'))
    .option('--limit <rows>', 'most rows to print', wholeNumber(1, ROWS_MAX), ROWS_DEFAULT)
    .action((sql: string, options: QueryOptions) => query(terminal, sql, options))
  addExamples(command, [
    'query "SELECT status, count(*) AS leads FROM lead_now GROUP BY status"',
    'query docs/queries/pipelines.sql',
    'query "SELECT * FROM agent" --json',
  ])
}

async function query(terminal: Terminal, source: string, options: QueryOptions): Promise<void> {
  const file = requireSnapshot((await terminal.dataConfig()).dataDir)
  const sql = await readSql(source)
  const { signal } = terminal
  const answer = await runQuery(file, sql, { rowsMax: options.limit, timeoutMs: TIMEOUT_MS, signal })
  if (answer.error !== null) throw mistakeIn(answer.error)
  await printRows(terminal, answer, options.format)
  const count = `${answer.rows.length.toLocaleString('en')} rows`
  if (answer.isCut) terminal.note(`${count}, and there are more: see --limit`)
}

async function readSql(source: string): Promise<string> {
  if (source === '-') return text(process.stdin)
  if (!source.endsWith('.sql')) return source
  return readFile(source, 'utf8').catch((cause: unknown) => {
    throw new LeadsheetError('usage_invalid', `${source} cannot be read: ${faultText(cause)}`, {
      hint: `The queries that come with leadsheet are in ${QUERIES}.`,
      cause,
    })
  })
}

async function printRows(
  terminal: Terminal,
  { columns, rows }: { readonly columns: readonly string[]; readonly rows: readonly Row[] },
  format: QueryOptions['format'],
): Promise<void> {
  if (terminal.json) {
    const names = columns.map((name) => JSON.stringify(name))
    const objects = rows.map((row) => `  ${jsonObject(names, row)}`)
    const array = objects.length === 0 ? '[]' : `[\n${objects.join(',\n')}\n]`
    terminal.print(`{"data": ${array}}`)
  } else if (format === 'csv') {
    const named = columns.map((name) => ({ name }))
    process.stdout.write(encodeCsv(named, rows, (await terminal.dataConfig()).locale))
  } else {
    const shown = columns.map((title, index): Column<Row> => {
      return { title, value: (row) => shownCell(row[index] ?? null), isExact: true }
    })
    terminal.show({ data: null, text: [table(rows, shown)], notes: rows.length === 0 ? ['No rows.'] : [] })
  }
}

/** Encodes one row as a JSON object. Integers keep all digits, and a text that contains JSON stays a text. */
function jsonObject(names: readonly string[], row: Row): string {
  const cells = row.map((cell) => (typeof cell === 'bigint' ? String(cell) : JSON.stringify(cell)))
  return `{${cells.map((cell, index) => `${names[index]}:${cell}`).join(',')}}`
}

function shownCell(cell: Cell): string | number | null {
  if (typeof cell !== 'bigint') return cell
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
}

function mistakeIn(message: string): LeadsheetError {
  if (message === NO_SELECT || message.includes('readonly database')) {
    return new LeadsheetError('query_failed', `the statement does more than read: ${message}`, {
      hint: 'Only SELECT, WITH … SELECT and EXPLAIN run here.',
    })
  }
  return new LeadsheetError('query_failed', message, {
    hint: `${shellCommand('query "SELECT * FROM dictionary"')} shows tables and columns.`,
  })
}
