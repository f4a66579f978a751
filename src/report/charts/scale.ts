/** Round numbers for an axis of counts: from 0 and whole, since a half lead is none. */

const MOST_STEPS = 4
const FACTORS = [1, 2, 2.5, 5, 10]

/** Three to five ticks from 0 to `max` or the next round number above it: 41 makes 0, 20, 40, 60. */
export function roundTicks(max: number): readonly number[] {
  const step = roundStep(max / MOST_STEPS)
  const steps = Math.max(2, Math.ceil(max / step))
  return Array.from({ length: steps + 1 }, (_, number) => number * step)
}

/** The smallest round whole number from `least` on. */
function roundStep(least: number): number {
  if (least <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  const steps = FACTORS.map((factor) => factor * power)
  return steps.find((step) => step >= least && Number.isInteger(step)) ?? 10 * power
}
