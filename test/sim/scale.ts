/**
 * The extent of the simulations: a sample in `npm run test:long`, everything in `npm run test:sim`
 * (SIM=full).
 */
export const IS_FULL = process.env['SIM'] === 'full'

/** The seed of random tests. Each prints it, and SEED repeats a test. */
export const SEED = Number(process.env['SEED'] ?? 1)
