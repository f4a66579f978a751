/** Amounts in several currencies, which are never added up. */
import type { Money } from '../model.ts'
import type { Voice } from './voice.ts'

/** Currencies named beside the first, that of most leads; the others are only counted. */
const OTHERS_NAMED = 2

/** The first amount, and the others as `+ €300k, £20k`; null where there is none. */
export function formatMoneys(
  moneys: readonly Money[],
  { numbers, words }: Voice,
): { largest: string | null; others: string | null } {
  const [first, ...rest] = moneys.filter((money) => money.amount !== 0)
  if (!first) return { largest: null, others: null }
  const named = rest.slice(0, OTHERS_NAMED).map(numbers.money)
  const unnamed = rest.length - named.length
  const others = [...named, ...(unnamed > 0 ? [words.scope.others(unnamed)] : [])].join(', ')
  return { largest: numbers.money(first), others: others ? `+ ${others}` : null }
}
