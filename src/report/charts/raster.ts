/**
 * SVG to pixels. The font is given as files: of a font that is not there texts vanish without an error, and those of
 * the machine would make a picture look different on each.
 */
import { createRequire } from 'node:module'
import type { Picture } from './png.ts'

const FONT_FILES = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf']

const require = createRequire(import.meta.url)

/** @param zoom pixels for each unit of the SVG */
export async function rasterise(svg: string, zoom: number): Promise<Picture> {
  // Only now: loading it would delay the start of every command.
  const { renderAsync } = await import('@resvg/resvg-js')
  // Throws where a file is missing.
  const fontFiles = FONT_FILES.map((file) => require.resolve(`@expo-google-fonts/inter/${file}`))
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: 'Inter' }
  // In a thread of its own. Rendered in this one, the memory of pictures is not given back until all are drawn.
  return renderAsync(svg, { font, fitTo: { mode: 'zoom', value: zoom } })
}
