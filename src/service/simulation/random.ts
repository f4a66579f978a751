/**
 * Random numbers that depend only on given names, so that a history comes out the same in one go or bit by
 * bit.
 */

export type Random = ReturnType<typeof randomFor>

/** @param parts what the numbers are for, such as the seed, a lead's id and the number of a step */
export function randomFor(...parts: readonly (string | number)[]) {
  const unit = sfc32(hash128(parts.join('|')))
  const between = (min: number, max: number): number => min + unit() * (max - min)
  const whole = (min: number, max: number): number => Math.floor(between(min, max + 1))
  return {
    /** Returns a number from 0 up to, but not including, 1. */
    unit,
    between,
    /** Returns a whole number from min to max, both included. */
    whole,
    chance: (probability: number): boolean => unit() < probability,
    pick: <T>(list: readonly T[]): T => {
      const item = list[whole(0, list.length - 1)]
      if (item === undefined) throw new RangeError('there is nothing to pick from')
      return item
    },
    /** Log-normal: half of all results are below the median. A sigma of 0.5 varies little, 1 a lot. */
    spread: (median: number, sigma: number): number => median * Math.exp(sigma * normal(unit)),
  }
}

const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Derives an id such as `ld_7k2m9q4xw0zt` from the parts. Equal parts give equal ids. */
export function idFor(prefix: string, ...parts: readonly (string | number)[]): string {
  const random = randomFor(prefix, ...parts)
  const letters = Array.from({ length: 12 }, () => ID_ALPHABET[random.whole(0, 31)])
  return `${prefix}_${letters.join('')}`
}

/** Draws a number from the standard normal distribution (Box-Muller method). */
function normal(unit: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit())
}

/** Hashes a text to four 32-bit numbers with cyrb128 (public domain, bryc). */
function hash128(text: string): readonly [number, number, number, number] {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = b ^ Math.imul(a ^ code, 597399067)
    b = c ^ Math.imul(b ^ code, 2869860233)
    c = d ^ Math.imul(c ^ code, 951274213)
    d = a ^ Math.imul(d ^ code, 2716044179)
  }
  a = Math.imul(c ^ (a >>> 18), 597399067)
  b = Math.imul(d ^ (b >>> 22), 2869860233)
  c = Math.imul(a ^ (c >>> 17), 951274213)
  d = Math.imul(b ^ (d >>> 19), 2716044179)
  return [a ^ b ^ c ^ d, b ^ a, c ^ a, d ^ a]
}

/** sfc32 (public domain, PractRand). Similar seeds give similar first numbers, which are skipped. */
function sfc32(seed: readonly [number, number, number, number]): () => number {
  let [a, b, c, d] = seed
  const next = (): number => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 4294967296
  }
  for (let i = 0; i < 12; i++) next()
  return next
}
