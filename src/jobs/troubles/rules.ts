/** Whether the rules of the store hold, those that are quick to ask; still too much for each minute. */
import { findViolations } from '../../store/invariants.ts'
import type { Trouble } from '../notice.ts'
import type { Watch } from './watch.ts'

const EVERY_MS = 60 * 60_000

/** Asks once an hour, and says the same in between. */
export function createRuleWatch(): Watch {
  let askedAt: number | null = null
  let found: Trouble[] = []
  return {
    reasons: ['store_damaged'],
    async find({ store }, now) {
      const isDue = askedAt === null || Math.abs(now.getTime() - askedAt) >= EVERY_MS
      if (!isDue) return found
      const violations = await findViolations(store.db, now.toISOString(), 'few')
      askedAt = now.getTime()
      found = violations.map(({ rule, count, examples, remedy }) => ({
        ...{ reason: 'store_damaged', subject: rule },
        message: `${rule}: not so for ${count}, such as ${examples.join(', ')}`,
        hint: `${remedy}. \`leadsheet doctor\` asks for all rules.`,
      }))
      return found
    },
  }
}
