/** Compares the width reserved for texts with their width in the font. */
import { createRequire } from 'node:module'
import { Resvg } from '@resvg/resvg-js'
import { describe, expect, it } from 'vitest'
import { fitInto, widthOf } from '../../../src/report/charts/svg.ts'
import { labelsIn } from '../../support/reports/trend.ts'

const SIZE = 20
const fontFiles = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf'].map((file) =>
  createRequire(import.meta.url).resolve(`@expo-google-fonts/inter/${file}`),
)

describe('the width of a text', () => {
  it.each(['en-GB', 'en-US', 'de-DE', 'de-CH'])('is enough for all that a chart writes in %s', (locale) => {
    const labels = labelsIn(locale)
    const counts = [0, 1, 2.5, 9.9, 47, 111, 1284, 60_000, 1_234_567, 88_800_000, 56.5e9, 1e12]
    const days = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-01`)
    for (const text of [
      ...counts.flatMap((count) => [labels.newLeads(count), labels.won(count), labels.tick(count, count)]),
      ...days.map(labels.day),
    ]) {
      expectRoom(text)
    }
  })

  it.each(['WWWW', 'mmmm', '%%%%', 'Ünlü Çağrı', 'ΑΩ αω', 'Щука жёлтая', '“—…”', 'illi, fall'])(
    'is enough for %s',
    (text) => {
      expect(widthOf(text, SIZE)).toBeGreaterThanOrEqual(measure(text, 600))
    },
  )
})

describe('a text that is cut', () => {
  it('keeps its last word, which is the number', () => {
    const cut = fitInto('Neu entdeckte Unternehmen 1.284', 120, 13)
    expect(cut).toMatch(/^Neu .*… 1\.284$/)
    expect(widthOf(cut, 13)).toBeLessThanOrEqual(120)
  })

  it('of one word loses its end', () => {
    expect(fitInto('Unternehmensgründungen', 60, 13)).toMatch(/^Unte.*…$/)
  })

  it('stays as it is where there is room', () => {
    expect(fitInto('New 50', 60, 13)).toBe('New 50')
  })
})

/** Expects at most a quarter more, or half an em. */
function expectRoom(text: string): void {
  const room = widthOf(text, SIZE)
  expect(room, text).toBeGreaterThanOrEqual(measure(text, 600))
  expect(room, text).toBeGreaterThanOrEqual(measure(text, 400))
  expect(room, text).toBeLessThanOrEqual(Math.max(measure(text, 400) * 1.25, measure(text, 400) + SIZE / 2))
}

/** Returns the distance by which a text moves the text after it. */
function measure(text: string, weight: number): number {
  return inked(`H${text}H`, weight) - inked('HH', weight)
}

function inked(text: string, weight: number): number {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="60"><text x="10" y="40" xml:space="preserve" font-family="Inter" font-size="${SIZE}" font-weight="${weight}">${text}</text></svg>`
  const box = new Resvg(svg, { font: { loadSystemFonts: false, fontFiles } }).innerBBox()
  if (box === undefined) throw new Error(`nothing is drawn of ${text}`)
  return box.width
}
