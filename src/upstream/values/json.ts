/** JSON from the wire: numbers that a double would alter keep every digit, as text. */

/** What a large number has, and most JSON does not. Written out, as the engine passes over `\d{16}` far more slowly. */
const SUSPECT = new RegExp(`${'\\d'.repeat(16)}|\\d[eE]\\+?\\d\\d\\d`)
/** A number that begins with sixteen digits or has an exponent of three: what a double may round or cannot hold. */
const LARGE = /(?<![^\s:,[-])\d(?:\d{15}|[\d.]*[eE]\+?\d{3})/
const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi
const WHOLE = /^(-?\d+)(?:\.0+)?$/

/**
 * As JSON.parse; whole numbers beyond 2^53 (`9007199254740993`, `9007199254740993.0`) and numbers too large for
 * a double come as text. A byte order mark is passed over. No recursion, so that depth cannot exhaust the stack.
 * @throws SyntaxError where the text is not JSON
 */
export function parseJson(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  const value: unknown = JSON.parse(json)
  // Only of what is JSON: in quotes, `{12345678901234567890:1}` would become some.
  return SUSPECT.test(json) && LARGE.test(json) ? JSON.parse(quoteLarge(json)) : value
}

/** The same JSON with every such number in quotes. */
function quoteLarge(json: string): string {
  const parts: string[] = []
  let at = 0
  while (at < json.length) {
    const open = json.indexOf('"', at)
    const outside = json.slice(at, open === -1 ? json.length : open)
    parts.push(LARGE.test(outside) ? outside.replace(NUMBER, quoteIfAltered) : outside)
    if (open === -1) break
    at = endOfString(json, open)
    parts.push(json.slice(open, at))
  }
  return parts.join('')
}

function quoteIfAltered(digits: string): string {
  const value = Number(digits)
  if (Number.isSafeInteger(value)) return digits
  const whole = WHOLE.exec(digits)?.[1]
  if (whole !== undefined) return `"${whole}"`
  return Number.isFinite(value) ? digits : `"${digits}"`
}

/** The index after the closing quote; a quote behind an odd number of backslashes does not close. */
function endOfString(json: string, open: number): number {
  for (let close = json.indexOf('"', open + 1); close !== -1; close = json.indexOf('"', close + 1)) {
    let backslashes = 0
    while (json[close - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return close + 1
  }
  return json.length
}
