/**
 * Pictures of pages against those that were looked at and found good. Machines smooth letters in different ways,
 * so single pixels may differ; a letter that has moved may not.
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
/** How far apart two colours are taken for one, 0 to 1. */
const SAME_COLOUR = 0.15

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
  // A copy, because the encoder reads the bytes as 32-bit numbers and wants them to begin at such a place.
  writeFileSync(path, encodePng({ pixels: Uint8Array.from(data), width, height }))
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
