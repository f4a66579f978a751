/** A 64-bit hash of bytes, fast and well mixed: it tells records apart, and is no proof against forgery. */

/** Two unsigned halves. */
export interface Fingerprint {
  readonly high: number
  readonly low: number
}

const SEED_HIGH = 0x243f6a88
const SEED_LOW = 0x85a308d3

/**
 * Each word of four bytes goes into both halves, by steps that lose nothing: bytes that differ in one word never
 * agree. Words at even and odd places go into lanes of their own, which the processor works side by side.
 */
export function fingerprintBytes(view: DataView, start: number, end: number): Fingerprint {
  let evenHigh = SEED_HIGH ^ (end - start)
  let evenLow = SEED_LOW
  let oddHigh = SEED_LOW
  let oddLow = SEED_HIGH
  let at = start
  for (; at + 8 <= end; at += 8) {
    let even = Math.imul(view.getUint32(at, true), 0xcc9e2d51)
    let odd = Math.imul(view.getUint32(at + 4, true), 0x1b873593)
    even ^= even >>> 16
    odd ^= odd >>> 16
    evenHigh = Math.imul(rotate(evenHigh, 13) ^ even, 0x9e3779b1)
    evenLow = Math.imul(rotate(evenLow, 15) ^ even, 0x85ebca6b)
    oddHigh = Math.imul(rotate(oddHigh, 17) ^ odd, 0xc2b2ae35)
    oddLow = Math.imul(rotate(oddLow, 11) ^ odd, 0x27d4eb2f)
  }
  for (; at < end; at++) {
    evenHigh = Math.imul(rotate(evenHigh, 13) ^ view.getUint8(at), 0x9e3779b1)
    evenLow = Math.imul(rotate(evenLow, 15) ^ view.getUint8(at), 0x85ebca6b)
  }
  return { high: join(evenHigh, oddHigh), low: join(oddLow, evenLow) }
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

/** Of two lanes one: where only one of them differs, the outcome does. */
function join(one: number, other: number): number {
  let hash = Math.imul(one ^ (one >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15) ^ other, 0x846ca68b)
  hash = Math.imul(hash ^ (hash >>> 16), 0x9e3779b1)
  return (hash ^ (hash >>> 15)) >>> 0
}
