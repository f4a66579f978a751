/** The child process that makes a snapshot. */
import { answerParent } from '../db/subprocess.ts'
import { buildSnapshot, type SnapshotJob } from './build-snapshot.ts'

answerParent(async (job: SnapshotJob) => {
  try {
    buildSnapshot(job)
  } catch (thrown) {
    // Loads the code for error messages only here, because loading takes longer than making a small snapshot.
    const { fileFailure } = await import('../db/sqlite.ts')
    const isOfStore =
      thrown instanceof Error && 'code' in thrown && /CORRUPT|NOTADB/.test(String(thrown.code))
    throw fileFailure(isOfStore ? job.live : job.target, thrown) ?? thrown
  }
})
