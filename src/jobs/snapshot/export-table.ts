/** Exports a table or view of the snapshot. The file gets its name only once it is complete. */
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { faultText, LeadsheetError } from '../../errors.ts'
import type { Row, SnapshotTable } from '../../store/queries/snapshot-table.ts'
import { encodeParquet } from './encode-parquet.ts'
import { encodeCsv, encodeNdjson } from './encode-text.ts'
import { encodeXlsx } from './encode-xlsx.ts'

export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet', 'xlsx'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

const CHUNK_ROWS = 500

export interface ExportOptions {
  readonly signal: AbortSignal
  readonly onProgress: (rows: number) => void
  readonly locale: string
}

interface ExportResult {
  readonly rows: number
  readonly bytes: number
  readonly cut: number
}

/**
 * Exports a table to a file. An existing file is replaced.
 * @throws LeadsheetError data_unwritable, export_too_large; the signal's reason if the signal is aborted
 */
export async function exportToFile(
  table: SnapshotTable,
  format: ExportFormat,
  file: string,
  options: ExportOptions,
): Promise<ExportResult> {
  const unfinished = `${file}.tmp-${process.pid}`
  try {
    const result = await exportToStream(
      table,
      format,
      createWriteStream(unfinished, { flush: true }),
      options,
    )
    await rename(unfinished, file)
    return result
  } catch (thrown) {
    await rm(unfinished, { force: true })
    options.signal.throwIfAborted()
    throw writeFailure(file, thrown) ?? thrown
  }
}

export async function exportToStream(
  table: SnapshotTable,
  format: ExportFormat,
  stream: NodeJS.WritableStream,
  { signal, onProgress, locale }: ExportOptions,
): Promise<ExportResult> {
  const result = { rows: 0, bytes: 0, cut: 0 }
  const rows = readRows()
  try {
    await pipeline(Readable.from(counted(encode())), stream, { signal, end: stream !== process.stdout })
    return result
  } finally {
    // A stopped encoder might release the rows only after the table is closed, so the rows are released here.
    rows.return()
  }

  function encode(): Iterable<string> | AsyncIterable<Uint8Array> {
    if (format === 'csv') return encodeCsv(table.columns, rows, locale)
    if (format === 'ndjson') return encodeNdjson(table.columns, rows)
    if (format === 'parquet') return encodeParquet(table, rows)
    return encodeXlsx(table, rows, () => void result.cut++)
  }

  function* readRows(): Generator<Row[], void, void> {
    for (const chunk of table.readRows(CHUNK_ROWS)) {
      yield chunk
      result.rows += chunk.length
      onProgress(result.rows)
    }
  }

  async function* counted(pieces: Iterable<string> | AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
      result.bytes += bytes.length
      yield bytes
    }
  }
}

/** Turns an error of the file system into an error with a hint; null for any other error. */
function writeFailure(file: string, thrown: unknown): LeadsheetError | null {
  const isOfFile = thrown instanceof Error && 'syscall' in thrown
  if (!isOfFile) return null
  return new LeadsheetError('data_unwritable', `${resolve(file)} cannot be written: ${faultText(thrown)}`, {
    hint: 'Choose a file in a folder that is there, is writable and has space.',
    cause: thrown,
  })
}
