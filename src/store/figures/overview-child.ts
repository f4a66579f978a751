/** The child process that counts what the dashboard shows of pipelines and agents. */

import { openReader } from '../db/sqlite.ts'
import { answerParent } from '../db/subprocess.ts'
import { type Overview, type OverviewJob, readOverview } from './pipeline-overview.ts'

answerParent(async ({ file, request }: OverviewJob): Promise<Overview> => {
  const db = openReader(file)
  try {
    return await readOverview(db, request)
  } finally {
    await db.destroy()
  }
})
