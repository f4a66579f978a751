/** The programs with which analysts query a store: the machine's sqlite3 and psql. */
import { execFileSync } from 'node:child_process'
import type { Store } from '../../../src/store/db/store.ts'
import { isInPath, isSkippedButInCi } from '../process/programs.ts'
import { IN_POSTGRES } from '../store.ts'
import { hasSqlite3 } from './sqlite3.ts'

export type Row = Readonly<Record<string, string | number | null>>

/** True if the program for the stores of this run is installed. For `it.skipIf(!hasSqlProgram)`. */
export const hasSqlProgram = IN_POSTGRES
  ? !isSkippedButInCi(
      'the SQL that people are shown, in psql',
      isInPath('psql') ? null : 'apt-get install postgresql',
    )
  : hasSqlite3

/**
 * Returns the program's answer to a statement that ends with a semicolon. A statement that makes a temporary
 * view may come first.
 */
export function askSqlProgram({ place }: Pick<Store, 'place'>, statements: string): Row[] {
  if (place.kind === 'sqlite') {
    const args = ['-json', '-readonly', place.file]
    return JSON.parse(execFileSync('sqlite3', args, { input: statements, encoding: 'utf8' }) || '[]')
  }
  const [view = ''] = /^CREATE TEMP VIEW [^;]*;\n/.exec(statements) ?? []
  const query = statements.slice(view.length).replace(/;$/, '')
  // The last line of a statement may be a comment, so a line break comes after it.
  const input = `${view}SELECT coalesce(json_agg(answer), '[]') FROM (\n${query}\n) AS answer;`
  const args = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', place.url]
  const env = { ...process.env, PGOPTIONS: `-c search_path=${place.schema}` }
  return JSON.parse(execFileSync('psql', args, { input, encoding: 'utf8', env }))
}
