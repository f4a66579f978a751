/** What the jobs of the daemon work with, and what each does when its own work is done. */
import { LeadsheetError } from '../errors.ts'
import type { Source } from '../upstream/source.ts'
import type { DeliverDeps } from './outbox/send-batch.ts'
import type { MailingDeps } from './reports/enqueue-report.ts'
import type { Retention } from './schedule/retention.ts'
import type { SyncDeps } from './sync/run-sync.ts'
import type { SyncOptions } from './sync/sync-context.ts'

export interface Work extends MailingDeps, DeliverDeps, Pick<SyncDeps, 'crew'> {
  readonly source: Source
  readonly syncOptions: (signal: AbortSignal) => SyncOptions
  /** Called after a sync or a report, to show what is new where the settings want that. */
  readonly publish: (signal: AbortSignal) => Promise<void>
  /** Called when messages are in the ledger, so that they leave at once. */
  readonly poke: () => void
  readonly retention: Retention
}

/** What was synced and sent stays done, whatever becomes of the snapshot; the next sync tries again. */
export async function publishQuietly(work: Work, signal: AbortSignal): Promise<void> {
  try {
    await work.publish(signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    work.log[signal.aborted ? 'info' : 'warn']({ code: thrown.code }, thrown.message)
  }
}
