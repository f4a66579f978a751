import { describe, expect, it } from 'vitest'
import { wordsOf } from '../support/report.ts'
import { MORNINGS, renderMorning } from '../support/reports/mornings.ts'

const LIMITS = {
  daily: { words: 300, numbers: 90 },
  weekly: { words: 450, numbers: 150 },
  monthly: { words: 600, numbers: 220 },
} as const
const SUBJECT_LENGTH = 60

describe.each(['en-GB', 'de-DE'])('a mail of each kind of morning, %s', (tag) => {
  it.each(MORNINGS)('$name: is short, repeats nothing in its preview, and hedges nothing', (morning) => {
    const { html, text, subject, preheader } = renderMorning(morning, tag)
    // An amount with its unit is one word.
    const words = wordsOf(html.replaceAll('&nbsp;', '')).split(' ')
    const { words: most, numbers } = LIMITS[morning.template]
    expect(words.length).toBeLessThanOrEqual(most)
    expect(words.filter((word) => /\d/.test(word)).length).toBeLessThanOrEqual(numbers)
    expect(subject.length).toBeLessThanOrEqual(SUBJECT_LENGTH)
    for (const fact of subject.split(/[:,] /).slice(1)) expect(preheader).not.toContain(fact)
    expect(`${subject}\n${text}`).not.toMatch(
      /no clear change|as normal|such spans|can be chance|wie üblich/i,
    )
  })
})
