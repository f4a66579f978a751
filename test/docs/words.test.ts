/** The documentation is short: its sentences, table cells and pages have limits. */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generatePages } from '../../build/docs/pages.ts'
import { countWords, listCells, listSentences } from '../support/docs/markdown.ts'

const SENTENCE_MAX_WORDS = 17
const CELL_MAX_WORDS = 25
const MAX_LINES: Readonly<Record<string, number>> = { 'README.md': 250, 'ARCHITECTURE.md': 150 }
const README_MAX_WORDS = 2000
const PAGE_MAX_LINES = 250

/** Generated pages, whose sentences come from the code, such as the descriptions of settings. */
const generated = new Set((await generatePages()).keys())

const pages = globSync(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/**/*.md'], {
  exclude: (path) => path.includes('node_modules'),
})
  .sort()
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))

describe('a page', () => {
  it.each(pages.filter(({ path }) => !generated.has(path)))(
    'has sentences of 17 words on average at most: $path',
    ({ text }) => {
      const sentences = listSentences(text).toSorted((a, b) => countWords(b) - countWords(a))
      const mean = countWords(sentences.join(' ')) / Math.max(sentences.length, 1)
      expect(mean, sentences.slice(0, 5).join('\n')).toBeLessThanOrEqual(SENTENCE_MAX_WORDS)
    },
  )

  it('has no cell of a table that is over 25 words', () => {
    // The page of sentences has them as mails have them.
    const ours = pages.filter(({ path }) => !path.endsWith('/sentences.md'))
    const long = ours.flatMap(({ path, text }) =>
      listCells(text)
        .filter((cell) => countWords(cell) > CELL_MAX_WORDS)
        .map((cell) => `${path}: ${cell}`),
    )
    expect(long).toEqual([])
  })

  it('is not long', () => {
    const long = pages.flatMap(({ path, text }) => {
      const lines = text.trimEnd().split('\n').length
      const isFree = generated.has(path) || path === 'CONTRIBUTING.md'
      const max = isFree ? Number.POSITIVE_INFINITY : (MAX_LINES[path] ?? PAGE_MAX_LINES)
      return lines > max ? [`${path}: ${lines} lines, expected at most ${max}`] : []
    })
    expect(long).toEqual([])
    expect(countWords(readFileSync('README.md', 'utf8'))).toBeLessThanOrEqual(README_MAX_WORDS)
  })
})
