/** Finds the one candidate that has an effect by trying many at once and halving: few requests for many names. */

export type Effect = 'effect' | 'none' | 'refused'

/** Shared by trials that belong together. */
export interface Budget {
  left: number
}

/**
 * Servers mostly ignore parameters that they do not know, so a request may carry many. Where all of them have
 * no effect, none of them has; where a server refuses, the halves are tried apart.
 */
export async function findEffective<T>(
  candidates: readonly T[],
  test: (some: readonly T[]) => Promise<Effect>,
  budget: Budget,
): Promise<T | null> {
  const [only] = candidates
  if (only === undefined || budget.left <= 0) return null
  budget.left--
  const effect = await test(candidates)
  if (effect === 'none') return null
  if (candidates.length === 1) return effect === 'effect' ? only : null
  const middle = Math.ceil(candidates.length / 2)
  const first = await findEffective(candidates.slice(0, middle), test, budget)
  return first ?? (await findEffective(candidates.slice(middle), test, budget))
}
