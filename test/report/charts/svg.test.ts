import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COLOURS, ON_ANY_BACKGROUND } from '../../../src/report/charts/svg.ts'

describe.each(['light', 'dark'] as const)('the colours of the %s scheme', (scheme) => {
  const { background, ...colours } = COLOURS[scheme]

  it('are read on their background: texts and the labels of lines by a contrast of 4.5', () => {
    for (const colour of [colours.text, colours.newLeads, colours.won]) {
      expect(contrast(colour, background), colour).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('have a sparkline that is seen, by a contrast of 3', () => {
    expect(contrast(ON_ANY_BACKGROUND, background)).toBeGreaterThanOrEqual(3)
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
