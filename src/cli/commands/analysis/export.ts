/**
 * `leadsheet export`: writes a table or view of the snapshot (the SQLite file for analysts) as CSV, NDJSON,
 * Parquet or Excel. `leadsheet query`: runs one SELECT on the snapshot, for machines without sqlite3.
 */

import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { Option } from 'commander'
import { requireSnapshot } from '../../../app/installation.ts'
import { nearest } from '../../../config/setting-path.ts'
import { errorText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { encodeCsv, jsonObject } from '../../../jobs/snapshot/encode-text.ts'
import type { ExportFormat } from '../../../jobs/snapshot/export-table.ts'
import { EXPORT_FORMATS, exportToFile, exportToStream } from '../../../jobs/snapshot/export-table.ts'
import { runQuery } from '../../../store/queries/query.ts'
import { NO_SELECT } from '../../../store/queries/select.ts'
import type { Cell, Row, SnapshotReader } from '../../../store/queries/snapshot-table.ts'
import { openSnapshot } from '../../../store/queries/snapshot-table.ts'
import { PRIVATE } from '../../../store/schema/published.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import { type Column, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly format?: ExportFormat
  readonly output?: string
}

export function defineExport(command: Command, terminal: Terminal): void {
  command
    .argument('<table>', 'table or view of the snapshot')
    .addOption(
      new Option(
        '--format <format>',
        "format of the file (default: from the file's extension, else csv)",
      ).choices(EXPORT_FORMATS),
    )
    .option('-o, --output <file>', 'file to write or replace (default: standard output)')
    .action(async (table: string, options: Options) =>
      terminal.show(await runExport(terminal, table, options)),
    )
  addExamples(command, [
    'export lead_now -o leads.xlsx',
    'export lead_version -o versions.parquet',
    'export lead_now --format ndjson | gzip > leads.ndjson.gz',
  ])
}

async function runExport(terminal: Terminal, name: string, options: Options): Promise<Result> {
  const { output: out } = options
  const format = options.format ?? formatOf(out)
  if (out === undefined) refuseStandardOutput(terminal, format)
  const { dataDir, locale } = await terminal.dataConfig()
  using reader = openSnapshot(requireSnapshot(dataDir))
  const found = reader.findTable(name)
  if (found === undefined) throw unknownTable(name, reader)
  const started = performance.now()
  using bar = await terminal.progress(name)
  const { signal } = terminal
  const settings = { signal, locale, onProgress: (rows: number) => bar.update(rows, null, 'rows') }
  const result = await (out === undefined
    ? exportToStream(found, format, process.stdout, settings)
    : exportToFile(found, format, out, settings))
  if (result.cut > 0) terminal.end('partly')
  const where = out === undefined ? '' : ` to ${out}`
  const cut = `warning: texts cut to what a cell of Excel can hold: ${result.cut.toLocaleString('en')}`
  return {
    data: {
      table: name,
      format,
      file: out && resolve(out),
      ...result,
      duration_ms: Math.round(performance.now() - started),
    },
    notes: [
      `${result.rows.toLocaleString('en')} rows of ${name}${where}, ${sizeText(result.bytes)}`,
      ...(result.cut > 0 ? [cut] : []),
    ],
  }
}

function formatOf(out: string | undefined): ExportFormat {
  const ending = extname(out ?? '')
    .slice(1)
    .toLowerCase()
  const format = EXPORT_FORMATS.find((each) => each === ending)
  if (format !== undefined) return format
  if (out === undefined) return 'csv'
  throw new LeadsheetError('usage_invalid', `the ending of ${out} names no format`, {
    hint: `End it with .${EXPORT_FORMATS.join(', .')}, or say --format.`,
  })
}

function refuseStandardOutput(terminal: Terminal, format: ExportFormat): void {
  if (terminal.json) {
    throw new LeadsheetError(
      'usage_invalid',
      '--json needs --output: standard output is for one of the two',
      {
        hint: 'For rows as JSON say --format ndjson.',
      },
    )
  }
  if (format === 'csv' || format === 'ndjson') return
  throw new LeadsheetError('usage_invalid', `${format} needs --output FILE`, {
    hint: 'Only csv and ndjson go to standard output.',
  })
}

function unknownTable(name: string, { names }: SnapshotReader): LeadsheetError {
  if (PRIVATE.includes(name)) {
    return new LeadsheetError('usage_invalid', `${name} is internal and cannot be exported`, {
      hint: `There are ${names.join(', ')}.`,
    })
  }
  const meant = nearest(name, names)
  const question = meant === null ? '' : `Did you mean ${meant}? `
  return new LeadsheetError('usage_invalid', `the snapshot has no table or view ${name}`, {
    hint: `${question}There are ${names.join(', ')}.`,
  })
}

function sizeText(bytes: number): string {
  const mib = bytes / 2 ** 20
  return mib < 0.1 ? `${bytes.toLocaleString('en')} bytes` : `${mib.toFixed(1)} MiB`
}

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
  format: QueryOptions['format'],
): Promise<void> {
  if (terminal.json) {
    const names = columns.map((name) => JSON.stringify(name))
    const objects = rows.map((row) => `  ${jsonObject(names, row)}`)
    const array = objects.length === 0 ? '[]' : `[\n${objects.join(',\n')}\n]`
    terminal.print(`{"data": ${array}}`)
  } else if (format === 'csv') {
    const named = columns.map((name) => ({ name }))
    for (const piece of encodeCsv(named, [rows], (await terminal.dataConfig()).locale))
      process.stdout.write(piece)
  } else {
    const shown = columns.map((title, index): Column<Row> => {
      return { title, value: (row) => shownCell(row[index] ?? null), isExact: true }
    })
    terminal.show({ data: null, text: [table(rows, shown)], notes: rows.length === 0 ? ['No rows.'] : [] })
  }
}

function shownCell(cell: Cell): string | number | null {
  if (typeof cell !== 'bigint') return cell
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
}

/** Makes an error from SQLite's message, with a suggestion for an unknown table or column name. */
function mistakeIn(file: string, message: string): LeadsheetError {
  if (message === NO_SELECT || message.includes('readonly database')) {
    return new LeadsheetError('query_failed', `the statement does more than read: ${message}`, {
      hint: 'Only SELECT, WITH … SELECT and EXPLAIN run here.',
    })
  }
  const [, kind, name = ''] = /^no such (table|column): (?:\w+\.)?(.+)$/.exec(message) ?? []
  const meant = kind === undefined ? null : nearest(name, namesIn(file, kind))
  return new LeadsheetError('query_failed', message, {
    hint: `${meant === null ? '' : `Did you mean ${meant}? `}${shellCommand('query "SELECT * FROM dictionary"')} shows tables and columns.`,
  })
}

function namesIn(file: string, kind: string): Set<string> {
  using reader = openSnapshot(file)
  if (kind === 'table') return new Set(reader.names)
  return new Set(
    reader.names.flatMap((name) => reader.findTable(name)?.columns.map((column) => column.name) ?? []),
  )
}
