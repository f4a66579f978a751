/** The child process that migrates a database to the present schema. */

import { openSqlite } from '../db/sqlite.ts'
import { answerParent } from '../db/subprocess.ts'
import { migrate } from '../schema/migrate.ts'

export interface UpgradeJob {
  readonly file: string
}

answerParent(async ({ file }: UpgradeJob): Promise<null> => {
  const db = openSqlite(file, 'refuse')
  try {
    await migrate(db, file)
  } finally {
    await db.destroy()
  }
  return null
})
