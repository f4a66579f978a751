/** Random numbers from a seed, for tests that print their seed, and the part of many cases that is tested today. */

const DAY_MS = 86_400_000

/** SEED, or the number of the day. */
export const SEED_OF_TODAY = Number(process.env.SEED ?? Math.floor(Date.now() / DAY_MS))

/**
 * Returns one of `parts` parts of the cases: another one each day, or by SEED. Returns all cases if LOOK is `full`,
 * as in `LOOK=full`.
 */
export function casesOfToday<T>(cases: readonly T[], parts: number): T[] {
  if (process.env.LOOK === 'full') return [...cases]
  return cases.filter((_, place) => place % parts === SEED_OF_TODAY % parts)
}

/** Returns how many random cases a test tries: `few`, and `all` if SIM is `full`, as in `npm run test:sim`. */
export function countCases(few: number, all: number): number {
  return process.env.SIM === 'full' ? all : few
}

/** Returns the generator mulberry32, whose numbers are at least 0 and below 1. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns the items in random order. */
export function shuffled<T>(items: readonly T[], next: () => number): T[] {
  const keyed = items.map((item) => [next(), item] as const)
  return keyed.sort(([a], [b]) => a - b).map(([, item]) => item)
}

export function pick<T>(random: () => number, of: readonly T[]): T {
  return of[Math.floor(random() * of.length)] as T
}

/** Returns a random value of JSON, at most so many levels deep, from these leaves and names of members. */
export function randomJson(
  random: () => number,
  leaves: readonly unknown[],
  names: readonly string[],
  depth = 4,
): unknown {
  const inside = () => randomJson(random, leaves, names, depth - 1)
  const some = Array.from({ length: Math.floor(random() * 4) })
  const dice = depth === 0 ? 1 : random()
  if (dice < 0.2) return Object.fromEntries(some.map(() => [pick(random, names), inside()]))
  return dice < 0.35 ? some.map(inside) : pick(random, leaves)
}
