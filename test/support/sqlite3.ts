/** The sqlite3 of the machine, which analysts use: its SQL is older than that of the packages. */
import { spawnSync } from 'node:child_process'

/** False where there is none; for `it.skipIf(!hasSqlite3())`. */
export function hasSqlite3(): boolean {
  if (spawnSync('sqlite3', ['--version']).status === 0) return true
  if (process.env.CI) throw new Error('sqlite3 is missing, and CI must run the SQL that people are shown')
  // biome-ignore lint/suspicious/noConsole: a skip that nobody reads about is a test that nobody runs
  console.warn('SKIPPED: sqlite3 is missing, so no SQL was run by it')
  return false
}
