/** Whether somebody knows a secret text. */
import { createHash, timingSafeEqual } from 'node:crypto'

/** In a time that tells nothing of the one that is expected, not even its length. */
export function isSameText(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected))
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
