/** Looks for broken rules of the store in the daemon: those that are quick to ask, but still too slow for each minute. */
import type { Db } from '../store/db/store.ts'
import { findViolations, type Violation } from '../store/invariants/invariants.ts'

const EVERY_MS = 60 * 60_000
/** Until then another worker has taken up what a killed one has left. */
const SURE_AFTER_MS = 2 * 60_000

/**
 * Asks once an hour, and asks once more before it tells of a broken rule.
 * @returns a function that returns null where it has not looked this time, or is not sure
 */
export function createViolationWatch(db: Db): (now: Date) => Promise<readonly Violation[] | null> {
  let askedAt: number | null = null
  let suspected: ReadonlySet<string> = new Set()
  return async (now) => {
    const everyMs = suspected.size > 0 ? SURE_AFTER_MS : EVERY_MS
    if (askedAt !== null && Math.abs(now.getTime() - askedAt) < everyMs) return null
    const violations = await findViolations(db, now.toISOString(), 'few')
    askedAt = now.getTime()
    const isSure = violations.every(({ rule }) => suspected.has(rule))
    suspected = new Set(isSure ? [] : violations.map(({ rule }) => rule))
    return isSure ? violations : null
  }
}
