/** What the daemon does each minute with the letters that wait for another attempt. */
import { writeArchiveIndex } from './archive-index.ts'
import { type DeliverDeps, deliverDue } from './deliver.ts'
import type { Work } from './work.ts'

/** Letters that wait for another attempt; the list of all editions then tells what became of them. */
export async function deliverWaiting(
  work: DeliverDeps & Pick<Work, 'archive'>,
  signal: AbortSignal,
): Promise<void> {
  if (await deliverDue(work, signal)) await writeArchiveIndex(work.archive, work.store.db)
}
