/** The programs that analysts ask a store with: sqlite3 and psql, as they are on the machine. */
import { execFileSync, spawnSync } from 'node:child_process'
import type { Store } from '../../src/store/open.ts'
import { hasSqlite3 } from './sqlite3.ts'
import { IN_POSTGRES } from './store.ts'

export type Row = Readonly<Record<string, string | number | null>>

/** Whether there is one for the stores of this run; for `it.skipIf(!hasSqlProgram())`. */
export function hasSqlProgram(): boolean {
  return IN_POSTGRES ? hasPsql() : hasSqlite3()
}

/** What the program answers to the last of some statements; each ends with a semicolon and its line. */
export function askSqlProgram({ place }: Store, statements: string): Row[] {
  if (place.kind === 'sqlite') {
    const args = ['-json', '-readonly', place.file]
    return JSON.parse(execFileSync('sqlite3', args, { input: statements, encoding: 'utf8' }) || '[]')
  }
  const [last = '', ...before] = statements.replace(/;$/, '').split(/;\n/).toReversed()
  // Its last line may be a comment.
  const asked = `SELECT coalesce(json_agg(answer), '[]') FROM (\n${last}\n) AS answer`
  const input = [...before.toReversed(), asked].map((statement) => `${statement};\n`).join('')
  const args = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', place.url]
  const env = { ...process.env, PGOPTIONS: `-c search_path=${place.schema}` }
  return JSON.parse(execFileSync('psql', args, { input, encoding: 'utf8', env }))
}

function hasPsql(): boolean {
  if (spawnSync('psql', ['--version']).status === 0) return true
  if (process.env['CI']) throw new Error('psql is missing, and CI must run the SQL that people are shown')
  // biome-ignore lint/suspicious/noConsole: a skip that nobody reads about is a test that nobody runs
  console.warn('SKIPPED: psql is missing, so no SQL was run by it')
  return false
}
