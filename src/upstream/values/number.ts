/** Reads numbers in the forms that upstreams use. */

const GROUPED = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/
const PLAIN = /^[+-]?(\d+(\.\d+)?|\.\d+)(e[+-]?\d{1,3})?$/i

/**
 * The range of a kind of number. A number outside its range was misread or is malicious. The ranges also keep
 * sums over all leads finite.
 */
export interface NumberRange {
  readonly min: number
  readonly max: number
}

export const AMOUNT = { min: -1e15, max: 1e15 }
export const COUNT = { min: 0, max: 1e12 }
/** The range of rates: 0 to 1, or up to 100 from services that give percentages. */
export const RATE = { min: 0, max: 100 }

/**
 * Converts a value to a finite number. Accepts JSON numbers and text that contains a number (`"42"`,
 * `"1,234.5"`, `" 7 "`). Returns null for anything else, such as `"N/A"`, `""`, `"12 %"`, `true`, 1e400 and
 * NaN.
 */
export function toNumber(value: unknown): number | null {
  const number = parseNumber(value)
  // Because adding 0 turns -0 into 0. Otherwise -0 would be printed as a number below 0.
  return Number.isFinite(number) ? number + 0 : null
}

/**
 * Returns whether a value is a number outside the range. A number too large for a double is outside every
 * range.
 */
export function isOutside(value: unknown, { min, max }: NumberRange): boolean {
  const number = parseNumber(value)
  return number < min || number > max
}

/** Returns NaN for a value that is not a number. */
function parseNumber(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return Number.NaN
  const text = value.trim()
  const digits = GROUPED.test(text) ? text.replaceAll(',', '') : text
  return PLAIN.test(digits) ? Number(digits) : Number.NaN
}
