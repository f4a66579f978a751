/** How much the crash tests try: a sample in `npm run test:long`, everything in `npm run test:crash` (CRASH=full). */
export const IS_FULL = process.env['CRASH'] === 'full'

/** Printed with each random test, and taken from there to repeat it. */
export const SEED = Number(process.env['SEED'] ?? 1)

/** As many as a small machine has processors. */
const LANES = 2

/** Does the work for each of the items, a few at a time. */
export async function forEachCase<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const lane = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** Of a list, `count` items spread evenly over it; all of them in the full run. */
export function sampleOf<T>(items: readonly T[], count: number): readonly T[] {
  if (IS_FULL) return items
  const chosen = Array.from({ length: count }, (_, index) =>
    Math.floor(((index + 0.5) * items.length) / count),
  )
  return items.filter((_item, index) => chosen.includes(index))
}
