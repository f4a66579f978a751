/**
 * The extent of the crash tests: a sample in `npm run test:long`, everything in `npm run test:crash`
 * (CRASH=full).
 */
export const IS_FULL = process.env['CRASH'] === 'full'

/** The seed of random tests. Each prints it, and SEED repeats a test. */
export const SEED = Number(process.env['SEED'] ?? 1)

/** The number of processors of a small machine. */
const WORKERS = 2

/** Works on all items, a few at a time. */
export async function forEachCase<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
}

/** Returns `count` items spread evenly over a list; in the full run, all of them. */
export function sampleOf<T>(items: readonly T[], count: number): readonly T[] {
  if (IS_FULL) return items
  const chosen = Array.from({ length: count }, (_, index) =>
    Math.floor(((index + 0.5) * items.length) / count),
  )
  return items.filter((_item, index) => chosen.includes(index))
}
