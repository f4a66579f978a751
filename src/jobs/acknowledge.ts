/** That an operator knows of a trouble: there are no more reminders of it. */
import { LeadsheetError, shellCommand } from '../errors.ts'
import { acknowledgeNotice, type Notice } from '../store/alerts/alert.ts'
import type { Store } from '../store/db/store.ts'

/** @throws LeadsheetError usage_invalid where no open one has that number */
export async function acknowledge(store: Store, id: number, now: Date): Promise<Notice> {
  const notice = await store.write((trx) => acknowledgeNotice(trx, id, now.toISOString()))
  if (notice !== undefined) return notice
  throw new LeadsheetError('usage_invalid', `No trouble that is open has the number ${id}`, {
    hint: `${shellCommand('alerts list')} lists them.`,
  })
}
