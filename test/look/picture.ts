/** Saves pictures of pages as small files. */
import { writeFileSync } from 'node:fs'
import { PNG } from 'pngjs'
import { encodePng } from '../../src/report/charts/png.ts'

/** The distance up to which saved colours are joined, of 441. */
const ALIKE = 16

/** Saves a picture with few colours. */
export function saveReference(taken: Buffer, path: string): void {
  const { data, width, height } = PNG.sync.read(taken)
  // The data is copied, because 32-bit numbers must begin at a multiple of four bytes.
  const pixels = Uint8Array.from(data)
  joinColours(new Uint32Array(pixels.buffer))
  writeFileSync(path, encodePng({ pixels, width, height }))
}

/** Replaces similar colours by the most frequent of them, so that a palette holds all colours. */
function joinColours(pixels: Uint32Array): void {
  const counts = new Map<number, number>()
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
  const kept: number[] = []
  const joined = new Map<number, number>()
  for (const [colour] of [...counts].sort(([, a], [, b]) => b - a)) {
    const alike = kept.find((other) => distanceOf(colour, other) < ALIKE) ?? colour
    if (alike === colour) kept.push(colour)
    joined.set(colour, alike)
  }
  pixels.forEach((pixel, at) => {
    pixels[at] = joined.get(pixel) ?? pixel
  })
}

/** Returns the distance of two colours. From black to white it is 441. */
function distanceOf(one: number, other: number): number {
  return Math.hypot(...[0, 8, 16].map((shift) => ((one >> shift) & 255) - ((other >> shift) & 255)))
}
