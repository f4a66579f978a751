/** JSON from the wire: whole numbers too large for a double keep every digit, as text. */

/** Sixteen digits in a row: the shortest whole number that a double may round. */
const LARGE = /\d{16}/
const WHOLE = /^-?\d+$/

/** @throws SyntaxError where the text is not JSON */
export function parseJson(text: string): unknown {
  if (!LARGE.test(text)) return JSON.parse(text)
  const keepDigits = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    const digits = context?.source
    const isRounded = typeof value === 'number' && !Number.isSafeInteger(value)
    return isRounded && digits !== undefined && WHOLE.test(digits) ? digits : value
  }
  return JSON.parse(text, keepDigits)
}
