/**
 * Finds the one candidate that has an effect. Many candidates are tried in one request, and then halves of
 * them, so that many names need few requests.
 */

const SINGLES_MAX = 12

/**
 * Returns whether one name is nested in the other, like `sort[]` in `sort`. Some servers crash if a request
 * has both.
 */
export function clashes(a: string, b: string): boolean {
  return a.startsWith(`${b}[`) || b.startsWith(`${a}[`)
}

/** Puts the candidates into as few groups as possible. No group has two equal or clashing names. */
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

/** The number of requests that are left. Related trials share this number. */
export interface Budget {
  left: number
}

/**
 * Tries many parameters in one request, because most servers ignore parameters that they do not know. If all
 * parameters together have no effect, none of them has. If the server refuses the request, the two halves are
 * tried separately.
 */
export async function findEffective<T>(
  candidates: readonly T[],
  test: (some: readonly T[]) => Promise<Effect>,
  budget: Budget,
  isStrict = false,
): Promise<T | null> {
  return isStrict ? findSingly(candidates, test, budget) : findByHalves(candidates, test, budget)
}

/** Tries the most usual candidates one by one, for servers that refuse unknown parameters. */
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
