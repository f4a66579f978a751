/** The machine's sqlite3, which analysts use. Its SQL is older than the SQL of the npm packages. */
import { isInPath, isSkippedButInCi } from '../process/programs.ts'

/** False if sqlite3 is not installed. For `it.skipIf(!hasSqlite3())`. */
export function hasSqlite3(): boolean {
  const remedy = isInPath('sqlite3') ? null : 'apt-get install sqlite3'
  return !isSkippedButInCi('the SQL that people are shown, in sqlite3', remedy)
}
