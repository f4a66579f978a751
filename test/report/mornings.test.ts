import { describe, expect, it } from 'vitest'
import { MORNINGS } from '../support/reports/mornings.ts'
import { renderMorning } from '../support/reports/render-morning.ts'

const LIMITS = {
  daily: { words: 300, numbers: 90 },
  weekly: { words: 450, numbers: 150 },
  monthly: { words: 600, numbers: 220 },
} as const
const SUBJECT_LENGTH = 60

/** What a person reads in the mail; an amount with its unit is one word. */
function wordsOf(html: string): string[] {
  const text = html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/<body[^>]*>\s*<div.*?<\/div>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&nbsp;', '')
  return text.trim().split(/[ \n\t]+/)
}

describe.each(['en-GB', 'de-DE'])('a mail of each kind of morning, %s', (tag) => {
  it.each(MORNINGS)(
    '$name: is short, repeats nothing in its preview, and hedges nothing',
    async (morning) => {
      const { html, text, subject, preheader } = await renderMorning(morning, tag)
      const words = wordsOf(html)
      const { words: most, numbers } = LIMITS[morning.template]
      expect(words.length).toBeLessThanOrEqual(most)
      expect(words.filter((word) => /\d/.test(word)).length).toBeLessThanOrEqual(numbers)
      expect(subject.length).toBeLessThanOrEqual(SUBJECT_LENGTH)
      for (const fact of subject.split(/[:,] /).slice(1)) expect(preheader).not.toContain(fact)
      expect(`${subject}\n${text}`).not.toMatch(
        /no clear change|as normal|such spans|can be chance|wie üblich/i,
      )
    },
  )
})
