/** The process that brings a database to the present schema. */
import { answerParent } from './ask-child.ts'
import { migrate } from './migrate.ts'
import { openSqlite } from './sqlite.ts'

export interface UpgradeJob {
  readonly file: string
}

answerParent(async ({ file }: UpgradeJob): Promise<null> => {
  const db = openSqlite(file)
  try {
    await migrate(db, file)
  } finally {
    await db.destroy()
  }
  return null
})
