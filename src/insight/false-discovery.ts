/**
 * Judges all numbers of one report together, so that many numbers do not make many alarms (Benjamini and Hochberg,
 * 1995; with weights: Genovese, Roeder and Wasserman, 2006).
 */

/**
 * The chance of a false claim in a report in which nothing changed. As a change is news once, fewer than one in 30
 * reports has a new one.
 */
const FALSE_REPORTS = 0.04

/** The largest weight of a number of all leads, as a multiple of the weight of a single pipeline. */
const WEIGHT_OF_ALL = 4

interface Judged {
  /** The chance of a number as unusual as this one if nothing changed; null if the number was not judged. */
  readonly probability: number | null
  /** Tells whether the number counts all leads of the report, not a part of them. */
  readonly isOfAll: boolean
}

/** Returns for each number, in their order, whether it is unusual. */
export function findUnusual(numbers: readonly Judged[], share = FALSE_REPORTS): boolean[] {
  const judged = numbers.flatMap(({ probability, isOfAll }, index) =>
    probability === null ? [] : [{ index, isOfAll, probability }],
  )
  const ofAll = judged.filter(({ isOfAll }) => isOfAll).length
  const others = judged.length - ofAll
  // The weights have a mean of 1. The numbers of all leads get at most two thirds of all weight, unless they are more.
  const weight =
    others === 0 || ofAll === 0 ? 1 : Math.min(WEIGHT_OF_ALL, Math.max(1, (judged.length * 2) / (3 * ofAll)))
  const rest = others === 0 ? 1 : (judged.length - weight * ofAll) / others
  const ranked = judged
    .map(({ index, isOfAll, probability }) => ({ index, weighed: probability / (isOfAll ? weight : rest) }))
    .sort((one, other) => one.weighed - other.weighed)
  const last = ranked.findLastIndex(({ weighed }, rank) => weighed <= ((rank + 1) / judged.length) * share)
  const unusual = new Set(ranked.slice(0, last + 1).map(({ index }) => index))
  return numbers.map((_, index) => unusual.has(index))
}

/**
 * Tells whether a window of unusual numbers is news: none of its earlier numbers was called unusual.
 * @param length the numbers of the window, the last one included
 * @param wasUnusual tells whether the number so many places before the last one was called unusual
 */
export function isNewAnomaly(length: number, wasUnusual: (back: number) => boolean): boolean {
  for (let back = 1; back < length; back++) if (wasUnusual(back)) return false
  return true
}
