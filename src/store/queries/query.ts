/** Runs SQL of operators and analysts on a snapshot, in a child process that can be killed. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { LeadsheetError } from '../../errors.ts'
import { askChild, NoAnswer, OutOfMemory, programFile } from '../db/subprocess.ts'
import type { QueryAnswer, QueryJob, QueryTask } from './query-child.ts'
import { formatLimit, hasSecondStatement, MEMORY_BYTES_MAX } from './select.ts'

const CHILD = programFile(import.meta.url, 'query-child')
/** The approximate maximum size of an answer's values in bytes, because the answer is held in memory. */
const BYTES_MAX = 32 * 2 ** 20

interface QueryOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Runs one statement. Mistakes in the SQL come back as the `error` of the answer.
 * @throws LeadsheetError query_failed where the query takes too long or too much memory; the reason of an
 * aborted signal
 */
export async function runQuery(
  file: string,
  sql: string,
  { rowsMax, ...options }: QueryOptions & { readonly rowsMax: number },
): Promise<QueryAnswer> {
  if (hasSecondStatement(sql)) return { error: 'there is more than one statement' }
  const beyond = (limit: string) =>
    new LeadsheetError('query_failed', `the query ${limit}`, {
      hint: 'Ask for less, or open the snapshot with sqlite3 or DuckDB.',
    })
  const task = { sqls: [sql], values: {}, chosen: null, isTrial: false, rowsMax, bytesMax: BYTES_MAX }
  const [answer = { error: 'there is no answer' }] = await runQueries(file, task, options, beyond)
  const limit = formatLimit(answer.error ?? '')
  if (limit !== undefined) throw beyond(limit)
  return answer
}

/**
 * Runs statements one after the other. All of them share one time limit.
 * @param beyond makes the error for a limit that the statements exceeded, such as `took longer than 30 s`
 * @throws the error of `beyond`; the reason of an aborted signal
 */
export async function runQueries(
  file: string,
  task: QueryTask,
  options: QueryOptions,
  beyond: (limit: string) => LeadsheetError,
): Promise<QueryAnswer[]> {
  options.signal.throwIfAborted()
  // Runs the statements in an empty folder, in which they find no file. SQLite's temporary files are deleted
  // with the folder.
  const folder = await mkdtemp(join(tmpdir(), 'leadsheet-query-'))
  const timeout = AbortSignal.timeout(options.timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  try {
    const job = { ...task, file: resolve(file) }
    return await askChild<QueryJob, QueryAnswer[]>(CHILD, job, {
      folder,
      signal,
      bytesMax: MEMORY_BYTES_MAX,
    })
  } catch (thrown) {
    options.signal.throwIfAborted()
    if (timeout.aborted) throw beyond(`took longer than ${options.timeoutMs / 1000} s`)
    if (thrown instanceof OutOfMemory) throw beyond(thrown.message)
    if (thrown instanceof NoAnswer) throw beyond(`had no answer: ${thrown.message}`)
    throw thrown
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
