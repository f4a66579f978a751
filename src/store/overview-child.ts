/** The process that counts what the window shows of pipelines and agents. */
import { answerParent } from './ask-child.ts'
import { type Overview, type OverviewRequest, readOverview } from './figures/overview.ts'
import { openReader } from './sqlite.ts'

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
