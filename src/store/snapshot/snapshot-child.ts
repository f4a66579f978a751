/** The child process that makes a snapshot, from the earlier snapshot if possible. */
import { rmSync } from 'node:fs'
import { answerParent } from '../db/subprocess.ts'
import { buildSnapshot, type SnapshotJob } from './build-snapshot.ts'
import { followSnapshot } from './follow-snapshot.ts'

/** A job. `base` is the file of the earlier snapshot; null if there is none. */
export type ChildJob = SnapshotJob & { readonly base: string | null }

answerParent(async ({ base, ...job }: ChildJob) => {
  try {
    if (base !== null && (await followSnapshot(job, base))) return
    rmSync(job.target, { force: true })
    await buildSnapshot(job)
  } catch (thrown) {
    // Loads the code for error messages only here, because loading takes longer than making a small snapshot.
    const { fileFailure } = await import('../db/sqlite.ts')
    const isOfStore =
      thrown instanceof Error && 'code' in thrown && /CORRUPT|NOTADB/.test(String(thrown.code))
    throw fileFailure(isOfStore ? job.live : job.target, thrown) ?? thrown
  }
})
