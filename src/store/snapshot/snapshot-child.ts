/**
 * The child process that makes a snapshot. It reads the job as JSON from standard input, and writes a failure
 * as JSON to standard error.
 */
import { readFileSync, rmSync } from 'node:fs'
import { LeadsheetError } from '../../errors.ts'
import { buildSnapshot, type SnapshotJob } from './build-snapshot.ts'
import { followSnapshot } from './follow-snapshot.ts'

/** The job, and the file of the earlier snapshot; null if there is none. */
export type ChildJob = SnapshotJob & { readonly base: string | null }

const { base, ...job }: ChildJob = JSON.parse(readFileSync(0, 'utf8'))
try {
  if (base === null || !(await followSnapshot(job, base))) {
    rmSync(job.target, { force: true })
    await buildSnapshot(job)
  }
} catch (thrown) {
  // Loads the messages of failures only now, because their modules take longer than a small snapshot.
  const { fileFailure } = await import('../db/sqlite.ts')
  const isOfStore = thrown instanceof Error && 'code' in thrown && /CORRUPT|NOTADB/.test(String(thrown.code))
  const failure = fileFailure(isOfStore ? job.live : job.target, thrown) ?? thrown
  process.stderr.write(
    JSON.stringify(
      failure instanceof LeadsheetError
        ? { code: failure.code, message: failure.message, hint: failure.hint }
        : { message: failure instanceof Error ? failure.stack : String(failure) },
    ),
  )
  process.exitCode = 1
}
