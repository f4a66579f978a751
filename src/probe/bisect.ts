/** Finds the one candidate that has an effect by trying many at once and halving: few requests for many names. */

const SINGLES_MAX = 12

/** Whether one name nests in the other, as `sort[]` in `sort`: together they are broken, and crash some servers. */
export function clashes(a: string, b: string): boolean {
  return a.startsWith(`${b}[`) || b.startsWith(`${a}[`)
}

/** In as few groups as possible, of which none has names that clash or are the same. */
export function apart<T>(candidates: readonly T[], nameOf: (candidate: T) => string): T[][] {
  const groups: T[][] = []
  for (const each of candidates) {
    const name = nameOf(each)
    const group = groups.find((others) =>
      others.every((other) => nameOf(other) !== name && !clashes(nameOf(other), name)),
    )
    if (group) group.push(each)
    else groups.push([each])
  }
  return groups
}

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
  isStrict = false,
): Promise<T | null> {
  return isStrict ? findSingly(candidates, test, budget) : findByHalves(candidates, test, budget)
}

/** For servers that mind a parameter which they do not know: the most usual ones, one by one. */
async function findSingly<T>(
  candidates: readonly T[],
  test: (some: readonly T[]) => Promise<Effect>,
  budget: Budget,
): Promise<T | null> {
  for (const candidate of candidates.slice(0, SINGLES_MAX)) {
    if (budget.left-- <= 0) return null
    if ((await test([candidate])) === 'effect') return candidate
  }
  return null
}

async function findByHalves<T>(
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
  const first = await findByHalves(candidates.slice(0, middle), test, budget)
  return first ?? (await findByHalves(candidates.slice(middle), test, budget))
}
