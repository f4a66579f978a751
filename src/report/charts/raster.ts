/**
 * SVG to pixels. The font is given as files: of a font that is not there texts vanish without an error, and those of
 * the machine would make a picture look different on each.
 */
import { createRequire } from 'node:module'
import type { Picture } from './png.ts'

/** @param zoom pixels for each unit of the SVG */
export type Rasterise = (svg: string, zoom: number) => Picture

const FONT_FILES = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf']

/** Loads the library only once a chart is to be drawn: it would delay the start of every command. */
export async function loadRasteriser(): Promise<Rasterise> {
  const require = createRequire(import.meta.url)
  // Throws where a file is missing.
  const fontFiles = FONT_FILES.map((file) => require.resolve(`@expo-google-fonts/inter/${file}`))
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: 'Inter' }
  const { Resvg } = await import('@resvg/resvg-js')
  return (svg, zoom) => new Resvg(svg, { font, fitTo: { mode: 'zoom', value: zoom } }).render()
}
