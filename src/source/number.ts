/** Numbers as upstreams write them. */

const GROUPED = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/
const PLAIN = /^[+-]?(\d+(\.\d+)?|\.\d+)(e[+-]?\d{1,3})?$/i

/**
 * A finite number, or null: JSON numbers, and text that is one (`"42"`, `"1,234.5"`, `" 7 "`). `"N/A"`, `""`,
 * `"12 %"`, `true`, 1e400 and NaN are none.
 */
export function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string') return null
  const text = value.trim()
  const digits = GROUPED.test(text) ? text.replaceAll(',', '') : text
  const number = PLAIN.test(digits) ? Number(digits) : Number.NaN
  return Number.isFinite(number) ? number : null
}
