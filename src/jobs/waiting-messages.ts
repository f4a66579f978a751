/** What the daemon does each minute with the messages that wait for another attempt. */
import { writeArchiveIndex } from './archive/archive-index.ts'
import type { DeliverDeps } from './outbox/send-batch.ts'
import { deliverDue } from './outbox/send-due.ts'
import { type PauseDeps, pauseRefused } from './recipients/change-preference.ts'
import type { Work } from './work.ts'

/** The list of all issues then tells what became of them, and who is refused again and again is paused. */
export async function deliverWaiting(
  work: DeliverDeps & Pick<Work, 'archive'> & Pick<PauseDeps, 'pauseAfter'>,
  signal: AbortSignal,
): Promise<void> {
  if (!(await deliverDue(work, signal))) return
  await pauseRefused(work)
  await writeArchiveIndex(work.archive, work.store.db)
}
