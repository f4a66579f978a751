/**
 * Converts SVG to PNG files. The files have a palette of colours, which makes them half as large as other PNG
 * files. If a picture has more than 256 colours, similar colours are merged. Source: PNG Specification, third
 * edition, https://www.w3.org/TR/png-3/
 */

import { createRequire } from 'node:module'
import { crc32, deflateSync } from 'node:zlib'

/** Row by row, each pixel as four bytes: red, green, blue (each multiplied by alpha), alpha. */
interface Picture {
  readonly pixels: Uint8Array
  readonly width: number
  readonly height: number
}

interface Indexed {
  readonly indexes: Uint8Array
  readonly palette: readonly number[]
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
const MOST_COLOURS = 256
const BITS_OF_DEPTH = 8
const TYPE_PALETTE = 3

export function encodePng({ pixels, width, height }: Picture): Uint8Array {
  const { indexes, palette } = indexColours(pixels)
  const colours = palette.map(unmultiplied)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = BITS_OF_DEPTH
  header[9] = TYPE_PALETTE
  // Each row begins with a byte for its filter. The byte stays 0, which means no filter.
  const rows = new Uint8Array((width + 1) * height)
  for (let y = 0; y < height; y++) {
    rows.set(indexes.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Uint8Array.from(colours.flatMap(({ rgb }) => rgb))),
    chunk('tRNS', Uint8Array.from(colours.map(({ alpha }) => alpha))),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', new Uint8Array()),
  ])
}

/** Drops low bits until at most 256 colours are left, which one bit for each channel guarantees. */
function indexColours(pixels: Uint8Array): Indexed {
  const colours = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.byteLength / 4)
  for (let dropped = 0; ; dropped++) {
    const kept = (0xff << dropped) & 0xff
    const indexed = indexMasked(colours, (kept << 24) | (kept << 16) | (kept << 8) | kept)
    if (indexed !== null) return indexed
  }
}

/** Colours that are equal under the mask share an entry. Returns null above 256 entries. */
function indexMasked(colours: Uint32Array, mask: number): Indexed | null {
  const indexes = new Uint8Array(colours.length)
  const palette: number[] = []
  const known = new Map<number, number>()
  let last = -1
  let index = 0
  for (let pixel = 0; pixel < colours.length; pixel++) {
    const colour = colours[pixel] ?? 0
    if (colour !== last) {
      const found = known.get(colour & mask)
      if (found === undefined && palette.length === MOST_COLOURS) return null
      index = found ?? palette.push(colour) - 1
      if (found === undefined) known.set(colour & mask, index)
      last = colour
    }
    indexes[pixel] = index
  }
  return { indexes, palette }
}

function unmultiplied(colour: number): { readonly rgb: readonly number[]; readonly alpha: number } {
  const [red = 0, green = 0, blue = 0, alpha = 0] = new Uint8Array(Uint32Array.of(colour).buffer)
  const rgb = [red, green, blue].map((part) => (alpha === 0 ? 0 : Math.round((part * 255) / alpha)))
  return { rgb, alpha }
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(data.length + 12)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8)
  return bytes
}

// The fonts come from an npm package, because system fonts differ between machines, and text in a missing
// font disappears without an error.
const FONT_FILES = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf']

const require = createRequire(import.meta.url)

/** `zoom` is the number of pixels for each unit of the SVG. */
export async function rasterise(svg: string, zoom: number): Promise<Picture> {
  // The module is loaded late, because loading it would delay the start of every command.
  const { renderAsync } = await import('@resvg/resvg-js')
  // `require.resolve` throws if a font file is missing.
  const fontFiles = FONT_FILES.map((file) => require.resolve(`@expo-google-fonts/inter/${file}`))
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: 'Inter' }
  // `renderAsync` draws in another thread. The main thread would keep the memory of every picture until all
  // pictures are drawn.
  return renderAsync(svg, { font, fitTo: { mode: 'zoom', value: zoom } })
}
