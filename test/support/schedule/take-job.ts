/** Takes single jobs from the queue, so that a test decides when each one is done. */
import { PgBoss } from 'pg-boss'
import { onTestFinished } from 'vitest'
import { errorText } from '../../../src/errors.ts'
import { jobSchemaOf } from '../../../src/queue/pg-boss.ts'
import type { JobData, JobKind } from '../../../src/queue/queue.ts'
import { placeOf } from '../../../src/store/db/place.ts'

/** @returns whether there was a job. If it throws, the queue records the error with the job, as usual */
export type TakeJob = <N extends JobKind>(queue: N, doJob: DoJob<N>) => Promise<boolean>

type DoJob<N extends JobKind> = (job: {
  readonly data: JobData[N]
  readonly attempt: number
}) => Promise<void>

/** @param url of a database in which the queue was opened */
export async function openTakeJob(url: string): Promise<TakeJob> {
  const place = placeOf(url)
  if (place.kind !== 'postgres') throw new Error(`${url} is no PostgreSQL`)
  const boss = new PgBoss({
    connectionString: place.url,
    schema: jobSchemaOf(place),
    max: 1,
    supervise: false,
    schedule: false,
    migrate: false,
  })
  boss.on('error', () => undefined)
  await boss.start()
  onTestFinished(() => boss.stop({ graceful: false }))
  return async <N extends JobKind>(queue: N, doJob: DoJob<N>) => {
    const [job] = await boss.fetch<JobData[N]>(queue, {
      groupConcurrency: 1,
      includeMetadata: true,
    })
    if (job === undefined) return false
    try {
      await doJob({ data: job.data, attempt: job.retryCount + 1 })
    } catch (thrown) {
      await boss.fail(queue, job.id, { message: errorText(thrown) })
      return true
    }
    await boss.complete(queue, job.id)
    return true
  }
}
