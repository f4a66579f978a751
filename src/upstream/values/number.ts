/** Reads numbers as upstreams write them. */

const GROUPED = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/
const PLAIN = /^[+-]?(\d+(\.\d+)?|\.\d+)(e[+-]?\d{1,3})?$/i

/**
 * The range of a kind of number. A number outside was misread or is malicious. Sums over all leads stay
 * finite.
 */
export interface NumberRange {
  readonly min: number
  readonly max: number
}

export const AMOUNT = { min: -1e15, max: 1e15 }
export const COUNT = { min: 0, max: 1e12 }
/** Rates from 0 to 1, or up to 100 from services that count in percent. */
export const RATE = { min: 0, max: 100 }

/**
 * A finite number, or null. Reads JSON numbers and text that is one (`"42"`, `"1,234.5"`, `" 7 "`). `"N/A"`,
 * `""`, `"12 %"`, `true`, 1e400 and NaN are null.
 */
export function toNumber(value: unknown): number | null {
  const number = parseNumber(value)
  // Because -0 would be written as a number below 0.
  return Number.isFinite(number) ? number + 0 : null
}

/** Whether a value is a number outside the range. A number too large for a double is outside too. */
export function isOutside(value: unknown, { min, max }: NumberRange): boolean {
  const number = parseNumber(value)
  return number < min || number > max
}

/** NaN for a value that is no number. */
function parseNumber(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return Number.NaN
  const text = value.trim()
  const digits = GROUPED.test(text) ? text.replaceAll(',', '') : text
  return PLAIN.test(digits) ? Number(digits) : Number.NaN
}
