/** The machine's sqlite3, which analysts use. Its SQL is older than the SQL of the npm packages. */
import { isInPath, isSkippedButInCi } from '../process/programs.ts'

/** False if sqlite3 is not installed. For `it.skipIf(!hasSqlite3)`. */
export const hasSqlite3 = !isSkippedButInCi(
  'the SQL that people are shown, in sqlite3',
  isInPath('sqlite3') ? null : 'apt-get install sqlite3',
)
