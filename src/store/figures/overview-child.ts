/** The child process that counts what the dashboard shows of pipelines and agents. */

import { openReader } from '../db/sqlite.ts'
import { answerParent } from '../db/subprocess.ts'
import { type Overview, type OverviewRequest, readOverview } from './pipeline-overview.ts'

export interface OverviewJob {
  readonly file: string
  readonly request: OverviewRequest
}

answerParent(async ({ file, request }: OverviewJob): Promise<Overview> => {
  const db = openReader(file)
  try {
    return await readOverview(db, request)
  } finally {
    await db.destroy()
  }
})
