/** How much the simulations try: a sample in `npm run test:long`, everything in `npm run test:sim` (SIM=full). */
export const IS_FULL = process.env['SIM'] === 'full'

/** Printed with each random test, and taken from there to repeat it. */
export const SEED = Number(process.env['SEED'] ?? 1)
