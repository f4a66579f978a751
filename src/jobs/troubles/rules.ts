/** Whether the rules of the store hold, those that are quick to ask; still too much for each minute. */
import { shellCommand } from '../../errors.ts'
import { findViolations } from '../../store/invariants/invariants.ts'
import type { Watch } from './watch.ts'

const EVERY_MS = 60 * 60_000
/** Until then another worker has taken up what one that was killed has left. */
const SURE_AFTER_MS = 2 * 60_000

/** Asks once an hour; what is broken is asked for once more before it is told. */
export function createRuleWatch(): Watch {
  let askedAt: number | null = null
  let suspected: ReadonlySet<string> = new Set()
  return {
    reasons: ['store_damaged'],
    async find({ store }, now) {
      const everyMs = suspected.size > 0 ? SURE_AFTER_MS : EVERY_MS
      if (askedAt !== null && Math.abs(now.getTime() - askedAt) < everyMs) return null
      const violations = await findViolations(store.db, now.toISOString(), 'few')
      askedAt = now.getTime()
      const isSure = violations.every(({ rule }) => suspected.has(rule))
      suspected = new Set(isSure ? [] : violations.map(({ rule }) => rule))
      if (!isSure) return null
      return violations.map(({ rule, count, examples, remedy }) => ({
        ...{ reason: 'store_damaged', subject: rule },
        message: `${rule}: not so for ${count}, such as ${examples.join(', ')}`,
        hint: `${remedy}. ${shellCommand('doctor')} asks for all rules.`,
      }))
    },
  }
}
