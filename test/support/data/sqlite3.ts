/** The sqlite3 of the machine, which analysts use: its SQL is older than that of the packages. */
import { isInPath, isSkippedButInCi } from '../process/programs.ts'

/** False where there is none; for `it.skipIf(!hasSqlite3())`. */
export function hasSqlite3(): boolean {
  const remedy = isInPath('sqlite3') ? null : 'apt-get install sqlite3'
  return !isSkippedButInCi('the SQL that people are shown, in sqlite3', remedy)
}
