/**
 * Pictures of pages against those that were looked at and found good. Machines smooth messages in different ways,
 * so single pixels may differ; a message that has moved may not.
 */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'
import { encodePng } from '../../src/report/charts/png.ts'

/** Where a line breaks elsewhere, a page grows by more than this. */
const SIZE_TOLERANCE_PX = 2
/** Side of the squares in which pixels are counted. */
const TILE_PX = 32
/** A digit that has moved by its own width changes about 60 pixels. */
const MOST_IN_TILE = 30
/** How far apart colours are kept apart, of 441. */
const ALIKE = 16
/** How far apart two colours are taken for one, 0 to 1. */
const SAME_COLOUR = 0.1

/** What is wrong with a picture, with the path of one that shows it; null where it is as its reference. */
export function findDifference(taken: Buffer, referencePath: string): string | null {
  if (!existsSync(referencePath)) return `${referencePath} is missing; npm run look:renew makes it`
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
  return `the page ${what}: see now.png and difference.png in ${folder}, beside ${referencePath}; if it is better now, npm run look:renew keeps it`
}

/** Keeps a picture as what the page has to look like from now on. */
export function saveReference(taken: Buffer, path: string): void {
  const { data, width, height } = PNG.sync.read(taken)
  // A copy, because 32-bit numbers have to begin at a multiple of four bytes.
  const pixels = Uint8Array.from(data)
  joinColours(new Uint32Array(pixels.buffer))
  writeFileSync(path, encodePng({ pixels, width, height }))
}

/** Gives colours that look alike the one of them that most pixels have, so that a palette holds all. */
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

/** 0 to 441, the way from black to white. */
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

/** pixelmatch marks what differs in red, and in yellow what is only smoothed otherwise. */
function isMarked(data: Buffer, at: number): boolean {
  return data[at] === 255 && data[at + 1] === 0 && data[at + 3] === 255
}
