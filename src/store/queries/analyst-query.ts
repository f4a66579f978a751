/** Runs an analyst's SQL on the snapshot, in a child process that can be killed. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { LeadsheetError } from '../../errors.ts'
import { askChild, NoAnswer, OutOfMemory, programFile } from '../db/subprocess.ts'
import type { QueryAnswer, QueryJob } from './query-child.ts'
import { formatLimit, hasSecondStatement, MEMORY_BYTES_MAX } from './select.ts'

const CHILD = programFile(import.meta.url, 'query-child')
/** The approximate maximum size of an answer's values in bytes, because the answer is held in memory. */
const BYTES_MAX = 32 * 2 ** 20

/**
 * Runs one statement. Mistakes in the SQL and forbidden statements come back as the `error` of the answer.
 * @throws LeadsheetError query_failed where the query takes too long or too much memory; the reason of an
 * aborted signal
 */
export async function runQuery(
  file: string,
  sql: string,
  options: { readonly rowsMax: number; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<QueryAnswer> {
  if (hasSecondStatement(sql)) return { error: 'there is more than one statement' }
  options.signal.throwIfAborted()
  // Runs the statement in an empty folder, in which it finds no file. SQLite's temporary files are deleted
  // with the folder.
  const folder = await mkdtemp(join(tmpdir(), 'leadsheet-query-'))
  const timeout = AbortSignal.timeout(options.timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  const job: QueryJob = { file: resolve(file), sql, rowsMax: options.rowsMax, bytesMax: BYTES_MAX }
  try {
    const answer = await askChild<QueryJob, QueryAnswer>(CHILD, job, {
      ...{ folder, signal, bytesMax: MEMORY_BYTES_MAX },
    })
    const limit = formatLimit(answer.error ?? '')
    if (limit !== undefined) throw beyond(limit)
    return answer
  } catch (thrown) {
    options.signal.throwIfAborted()
    if (thrown instanceof OutOfMemory) throw beyond(thrown.message)
    if (thrown instanceof NoAnswer && !timeout.aborted) throw beyond(`has no answer: ${thrown.message}`)
    if (!timeout.aborted) throw thrown
    throw beyond(`took longer than ${options.timeoutMs / 1000} s`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function beyond(limit: string): LeadsheetError {
  return new LeadsheetError('query_failed', `the query ${limit}`, {
    hint: 'Ask for less, or open the snapshot with sqlite3 or DuckDB.',
  })
}
