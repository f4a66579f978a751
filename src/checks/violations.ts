/** Looks for broken rules of the store in the daemon. These rules are too slow to check each minute. */
import type { Db } from '../store/db/store.ts'
import { findViolations, type Violation } from '../store/invariants/invariants.ts'

const EVERY_MS = 60 * 60_000
/** The wait before a second look; by then another worker has recovered what a killed one left. */
const SURE_AFTER_MS = 2 * 60_000

/**
 * Creates a function that checks the rules once an hour, and a second time before it reports a broken rule.
 * @returns a function that returns null if it has not looked this time or is not sure
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
