/**
 * Checks the rules of the store, and whether the snapshot was made from it. A large store is only read
 * through on request, because that takes minutes.
 */

import { existsSync } from 'node:fs'
import { type CheckResult, fail, ok, warn } from '../../checks/check.ts'
import { shellCommand } from '../../errors.ts'
import { readSize } from '../../store/backup/backup.ts'
import type { Store } from '../../store/db/store.ts'
import { findViolations, invariantsOf } from '../../store/invariants/invariants.ts'
import { readSnapshotInfo } from '../../store/snapshot/snapshot.ts'
import { findLastWholeRun, hasRun } from '../../store/sync/sync-run.ts'

// A database of this size is read through in about a second.
const READ_THROUGH_MAX_BYTES = 100_000_000

/** @param options.whole reads the whole database, however large it is */
export async function* checkStore(
  store: Store,
  options: { readonly whole: boolean; readonly now: Date },
): AsyncGenerator<CheckResult> {
  const { bytes, reads, violations } = await lookForViolations(store, options)
  const isWhole = reads === 'all'
  for (const { rule, count, examples, remedy } of violations) {
    yield fail('consistency', `${rule}: not so for ${count}, such as ${examples.join(', ')}`, remedy)
  }
  if (violations.length > 0) return
  const megabytes = Math.round(bytes / 1e6).toLocaleString('en')
  yield isWhole
    ? ok('consistency', `${invariantsOf(store.db).length} rules hold, ${megabytes} MB read through`)
    : ok('consistency', `bookkeeping holds; ${megabytes} MB not read through, which \`doctor --whole\` does`)
}

/** Looks for broken rules. A small database is read through, a large one only on request. */
export async function lookForViolations(
  store: Store,
  { whole, now }: { readonly whole: boolean; readonly now: Date },
) {
  const { database: bytes } = await readSize(store)
  const reads = whole || bytes <= READ_THROUGH_MAX_BYTES ? 'all' : 'few'
  return { bytes, reads, violations: await findViolations(store.db, now.toISOString(), reads) }
}

/**
 * @param file the path of the snapshot
 * @param isWanted whether a snapshot follows each sync; otherwise a missing snapshot is no finding
 */
export async function checkSnapshot(
  store: Store,
  file: string,
  isWanted: boolean,
): Promise<CheckResult | null> {
  const info = readSnapshotInfo(file)
  const remedy = `${shellCommand('snapshot')} makes it now, and says what keeps it from being made`
  if (info === null) {
    if (existsSync(file))
      return fail('snapshot', `${file} cannot be read: it is damaged, or of an older leadsheet`, remedy)
    const isDue = isWanted && (await findLastWholeRun(store.db)) !== undefined
    return isDue ? warn('snapshot', `there is no ${file}, though a sync has read all leads`, remedy) : null
  }
  if (info.runId === null) return ok('snapshot', `without leads, made ${info.madeAt}`)
  return (await hasRun(store.db, info.runId))
    ? ok('snapshot', `of the run ${info.runId}, made ${info.madeAt}`)
    : fail(
        'snapshot',
        `shows the run ${info.runId}, of which the database knows nothing`,
        `run ${shellCommand('snapshot')}; after a restore that is to be expected`,
      )
}
