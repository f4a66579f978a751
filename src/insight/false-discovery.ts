/**
 * Judges all numbers of one report together, so that a report with many numbers does not raise more false
 * alarms (Benjamini and Hochberg, 1995; with weights: Genovese, Roeder and Wasserman, 2006).
 */

/** The accepted chance of a report with a false alarm. A lasting alarm is reported only once. */
const FALSE_REPORTS = 0.035

/** The maximum weight of a number that counts all leads. The mean of all weights is 1. */
const WEIGHT_OF_ALL = 4

interface Judged {
  /**
   * The chance that a number is at least as unusual if nothing changed; null if the number was not judged.
   */
  readonly probability: number | null
  /** True if the number counts all leads of the report and not only those of a pipeline. */
  readonly isOfAll: boolean
}

/** Returns whether each number is unusual, in the order of the numbers. */
export function findUnusual(numbers: readonly Judged[], share = FALSE_REPORTS): boolean[] {
  const judged = numbers.flatMap(({ probability, isOfAll }, index) =>
    probability === null ? [] : [{ index, isOfAll, probability }],
  )
  const ofAll = judged.filter(({ isOfAll }) => isOfAll).length
  const others = judged.length - ofAll
  // The numbers that count all leads get at most two thirds of the weight, unless most numbers are of this
  // kind.
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
