/**
 * Follows faults of the database, such as a full disk or a lock. Operators are told at once, by what needs no
 * database. After the fault has passed, a check tells from when to when it lasted, and why.
 */
import type { StoreFault } from '../../checks/check.ts'
import type { Instant } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import { HOUR_MS } from '../../time.ts'

const CODES: readonly string[] = ['data_unwritable', 'store_busy', 'store_corrupt', 'store_lost']

export interface FaultWatch {
  /** Notes what a write has thrown. Does nothing if the database is not to blame. */
  note(thrown: unknown): Promise<void>
  /** Must be called once a minute, after the database was written. */
  noteWritten(): void
  last(): StoreFault | null
}

/** A fault that comes again within this time after the last one is no news, so it is not mailed. */
const NEWS_AFTER_MS = HOUR_MS

/**
 * @param tell tells operators without the database, and returns whether they were told; it is called again
 * until they were, with `isNews` true only the first time
 */
export function createFaultWatch(
  tell: (fault: LeadsheetError, isNews: boolean) => Promise<boolean>,
  now: () => Date,
): FaultWatch {
  let last: StoreFault | null = null
  let isTold = false
  let writtenAt: Instant | null = null
  return {
    last: () => last,
    async note(thrown) {
      if (!(thrown instanceof LeadsheetError) || !CODES.includes(thrown.code)) return
      writtenAt = null
      const { message, hint = '' } = thrown
      const at = now()
      const isNew = last === null || last.to !== null
      const isNews = isNew && (last?.to == null || at.getTime() - Date.parse(last.to) >= NEWS_AFTER_MS)
      if (isNew) last = { from: at.toISOString(), to: null, message, hint }
      if (!isTold) isTold = await tell(thrown, isNews)
    },
    noteWritten() {
      // A nearly full disk may take some writes and refuse others, so the fault ends after a whole minute.
      if (writtenAt !== null && last !== null && last.to === null) {
        last = { ...last, to: writtenAt }
        isTold = false
      }
      writtenAt ??= now().toISOString()
    },
  }
}
