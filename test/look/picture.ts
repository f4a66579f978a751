/**
 * Compares pictures of pages with accepted ones. Machines smooth letters differently, so single pixels may
 * differ. Moved letters may not.
 */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'
import { encodePng } from '../../src/report/charts/png.ts'

/** If a line breaks at another word, the height of a page differs by more than this. */
const SIZE_TOLERANCE_PX = 2
/** The side of the squares in which differing pixels are counted. */
const TILE_PX = 32
/** A digit that moves by its own width changes about 60 pixels. */
const MOST_IN_TILE = 30
/** The distance up to which saved colours are joined, of 441. */
const ALIKE = 16
/** The difference up to which compared colours count as equal, 0 to 1. */
const SAME_COLOUR = 0.1

/**
 * Compares a picture with its reference. Returns the difference and the path of a picture that shows it; null
 * if they are equal.
 */
export function findDifference(taken: Buffer, referencePath: string): string | null {
  if (!existsSync(referencePath)) return `${referencePath} is missing; LOOK=renew makes it`
  const [now, then] = [PNG.sync.read(taken), PNG.sync.read(readFileSync(referencePath))]
  const width = Math.min(now.width, then.width)
  const height = Math.min(now.height, then.height)
  const diff = new PNG({ width, height })
  const [a, b] = [now, then].map((picture) => cropped(picture, width, height))
  if (!a || !b) throw new RangeError('two pictures are compared')
  pixelmatch(a, b, diff.data, width, height, { threshold: SAME_COLOUR, diffMask: true })
  const worst = worstTile(diff)
  const isOtherSize =
    Math.abs(now.width - then.width) > SIZE_TOLERANCE_PX ||
    Math.abs(now.height - then.height) > SIZE_TOLERANCE_PX
  if (!isOtherSize && worst.pixels <= MOST_IN_TILE) return null
  const what = isOtherSize
    ? `is ${now.width} × ${now.height} pixels, not ${then.width} × ${then.height}`
    : `differs by ${worst.pixels} pixels of the square at ${worst.x}, ${worst.y}`
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-look-'))
  writeFileSync(join(folder, 'now.png'), taken)
  writeFileSync(join(folder, 'difference.png'), PNG.sync.write(diff))
  return `the page ${what}: see now.png and difference.png in ${folder}, beside ${referencePath}; if it is better now, LOOK=renew keeps it`
}

/** Saves a picture as the new reference. */
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

function cropped(picture: PNG, width: number, height: number): Buffer {
  const part = new PNG({ width, height })
  PNG.bitblt(picture, part, 0, 0, width, height, 0, 0)
  return part.data
}

function worstTile({ data, width, height }: PNG): { x: number; y: number; pixels: number } {
  const across = Math.ceil(width / TILE_PX)
  const counts = new Uint32Array(across * Math.ceil(height / TILE_PX))
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    if (!isMarked(data, pixel * 4)) continue
    const tile =
      Math.floor(Math.floor(pixel / width) / TILE_PX) * across + Math.floor((pixel % width) / TILE_PX)
    counts[tile] = (counts[tile] ?? 0) + 1
  }
  const pixels = Math.max(...counts)
  const tile = counts.indexOf(pixels)
  return { x: (tile % across) * TILE_PX, y: Math.floor(tile / across) * TILE_PX, pixels }
}

/** True for red pixels, with which pixelmatch marks differences. It marks different smoothing in yellow. */
function isMarked(data: Buffer, at: number): boolean {
  return data[at] === 255 && data[at + 1] === 0 && data[at + 3] === 255
}
