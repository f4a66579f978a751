/** The programs that analysts ask a store with: sqlite3 and psql, as they are on the machine. */
import { execFileSync } from 'node:child_process'
import type { Store } from '../../../src/store/db/store.ts'
import { isInPath, isSkippedButInCi } from '../process/programs.ts'
import { IN_POSTGRES } from '../store.ts'
import { hasSqlite3 } from './sqlite3.ts'

export type Row = Readonly<Record<string, string | number | null>>

/** Whether there is one for the stores of this run; for `it.skipIf(!hasSqlProgram())`. */
export function hasSqlProgram(): boolean {
  return IN_POSTGRES ? hasPsql() : hasSqlite3()
}

/** What the program answers to a statement that ends with a semicolon; a temporary view may come before it. */
export function askSqlProgram({ place }: Store, statements: string): Row[] {
  if (place.kind === 'sqlite') {
    const args = ['-json', '-readonly', place.file]
    return JSON.parse(execFileSync('sqlite3', args, { input: statements, encoding: 'utf8' }) || '[]')
  }
  const [view = ''] = /^CREATE TEMP VIEW [^;]*;\n/.exec(statements) ?? []
  const query = statements.slice(view.length).replace(/;$/, '')
  // Its last line may be a comment.
  const input = `${view}SELECT coalesce(json_agg(answer), '[]') FROM (\n${query}\n) AS answer;`
  const args = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', place.url]
  const env = { ...process.env, PGOPTIONS: `-c search_path=${place.schema}` }
  return JSON.parse(execFileSync('psql', args, { input, encoding: 'utf8', env }))
}

function hasPsql(): boolean {
  const remedy = isInPath('psql') ? null : 'apt-get install postgresql'
  return !isSkippedButInCi('the SQL that people are shown, in psql', remedy)
}
