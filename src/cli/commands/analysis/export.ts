/** `leadsheet export`: writes a table or view of the snapshot as CSV, NDJSON, Parquet or Excel. */
import { extname, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { requireSnapshot } from '../../../app/installation.ts'
import { nearest } from '../../../config/setting-path.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  exportToFile,
  exportToStream,
} from '../../../jobs/snapshot/export.ts'
import {
  openSnapshot,
  type SnapshotReader,
  type SnapshotTable,
} from '../../../store/queries/snapshot-table.ts'
import { PRIVATE } from '../../../store/schema/published.ts'
import { addExamples } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly format?: ExportFormat
  readonly output?: string
}

export function defineExport(command: Command, terminal: Terminal): void {
  command
    .argument('<table>', `table or view of the snapshot; ${shellCommand('schema')} lists them`)
    .addOption(
      new Option(
        '--format <format>',
        "format of the file (default: from the file's extension, else csv)",
      ).choices(EXPORT_FORMATS),
    )
    .option('-o, --output <file>', 'file to write or replace (default: standard output)')
    .action((table: string, options: Options) => runExport(terminal, table, options))
  addExamples(command, [
    'export lead_now -o leads.xlsx',
    'export lead_version -o versions.parquet',
    'export lead_now --format ndjson | gzip > leads.ndjson.gz',
  ])
}

async function runExport(terminal: Terminal, name: string, options: Options): Promise<void> {
  const { output: out } = options
  const format = options.format ?? formatOf(out)
  if (out === undefined) refuseStandardOutput(terminal, format)
  const { dataDir } = await terminal.config()
  using reader = openSnapshot(requireSnapshot(dataDir))
  const table = reader.findTable(name)
  if (table === undefined) throw unknownTable(name, reader)
  const started = performance.now()
  const result = await withProgress(terminal, table, (onProgress) => {
    const settings = { signal: terminal.signal, onProgress }
    return out === undefined
      ? exportToStream(table, format, process.stdout, settings)
      : exportToFile(table, format, out, settings)
  })
  if (terminal.json) {
    const ms = Math.round(performance.now() - started)
    terminal.printJson('export', {
      table: name,
      format,
      file: out && resolve(out),
      ...result,
      duration_ms: ms,
    })
  } else {
    const where = out === undefined ? '' : ` to ${out}`
    terminal.note(`${result.rows.toLocaleString('en')} rows of ${name}${where}, ${sizeText(result.bytes)}`)
  }
  if (result.cut === 0) return
  terminal.note(`warning: texts cut to what a cell of Excel can hold: ${result.cut.toLocaleString('en')}`)
  terminal.end('partly')
}

async function withProgress<T>(
  terminal: Terminal,
  table: SnapshotTable,
  work: (onProgress: (rows: number) => void) => Promise<T>,
): Promise<T> {
  using bar = await terminal.progress(table.name)
  return await work((rows) => bar.update(rows, table.rows, 'rows'))
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
