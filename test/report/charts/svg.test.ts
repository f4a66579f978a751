import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Resvg } from '@resvg/resvg-js'
import { describe, expect, it } from 'vitest'
import { COLOURS, fitInto, widthOf } from '../../../src/report/charts/svg.ts'
import { labelsIn } from '../../support/reports/trend.ts'

describe.each(['light', 'dark'] as const)('the colours of the %s scheme', (scheme) => {
  const { background, ...colours } = COLOURS[scheme]

  it('are read on their background: texts and the labels of lines by a contrast of 4.5', () => {
    for (const colour of [colours.text, colours.newLeads]) {
      expect(contrast(colour, background), colour).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('lie on the colour of the card around them', () => {
    const file = scheme === 'light' ? 'styles.css' : 'dark.css'
    const css = readFileSync(`templates/layout/${file}`, 'utf8')
    expect(/\.card \{[^}]*background-color: (#\w{6})/.exec(css)?.[1]).toBe(background)
  })
})

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(colour.slice(start, start + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/* Compares the width reserved for texts with their width in the font. */

const SIZE = 20
const fontFiles = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf'].map((file) =>
  createRequire(import.meta.url).resolve(`@expo-google-fonts/inter/${file}`),
)

describe('the width of a text', () => {
  it.each(['en-GB', 'de-DE'])('is enough for all that a chart writes in %s', (locale) => {
    const labels = labelsIn(locale)
    const counts = [0, 2.5, 111, 1284, 88_800_000, 1e12]
    const days = ['2026-02-01', '2026-09-01', '2026-11-01']
    for (const text of [
      ...counts.flatMap((count) => [labels.newLeads(count), labels.tick(count, count)]),
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

it('a text that is cut keeps its last word, which is the number; one of one word loses its end', () => {
  const cut = fitInto('Neu entdeckte Unternehmen 1.284', 120, 13)
  expect(cut).toMatch(/^Neu .*… 1\.284$/)
  expect(widthOf(cut, 13)).toBeLessThanOrEqual(120)
  expect(fitInto('Unternehmensgründungen', 60, 13)).toMatch(/^Unte.*…$/)
  expect(fitInto('New 50', 60, 13)).toBe('New 50')
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
