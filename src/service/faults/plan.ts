/** Which faults a request meets. Every rule counts the requests that are its own. */
import { API_PREFIX } from '../../contract/paths.ts'
import { randomFor } from '../simulation/random.ts'
import type { FaultRule, Faults } from './rules.ts'

export interface FaultPlan {
  /** The faults of one request, in the order of the rules; counts it. */
  facing(method: string, path: string): readonly FaultRule[]
}

export function planFaults({ seed, faults }: Faults): FaultPlan {
  const rules = faults.map((rule, index) => ({
    rule,
    pattern: patternOf(rule.path),
    random: randomFor('fault', seed, index),
    met: 0,
  }))
  return {
    facing: (method, path) => {
      const struck: FaultRule[] = []
      for (const each of rules) {
        const { rule } = each
        if (rule.method !== undefined && rule.method !== method) continue
        if (!each.pattern.test(path)) continue
        each.met++
        // Drawn for every request, so that whether one is struck does not hang on the other conditions.
        const isDrawn = rule.probability === undefined || each.random.chance(rule.probability)
        if (isDrawn && isTurn(rule, each.met)) struck.push(rule)
      }
      return struck
    },
  }
}

/** @param hit which of the rule's requests this is, from 1 */
function isTurn({ hits, after, every }: FaultRule, hit: number): boolean {
  if (hits !== undefined && !hits.includes(hit)) return false
  if (after !== undefined && hit <= after) return false
  return every === undefined || hit % every === 0
}

function patternOf(path: string): RegExp {
  const full = path.startsWith(API_PREFIX) ? path : `${API_PREFIX}${path}`
  const source = full
    .split(/(\*\*?)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]*' : RegExp.escape(part)))
    .join('')
  return new RegExp(`^${source}$`)
}
