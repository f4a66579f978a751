/**
 * Regular expressions that take too long for long texts would be a way to stop the program. Each one of `src` is tried
 * with texts made of what it looks for, and its time must grow as they do.
 */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { withoutNamedSecrets } from '../src/redaction.ts'

const LENGTHS = [2_000, 8_000, 50_000]
/** For four times the text: four where time grows with it, and sixteen where it grows squared. */
const GROWTH_MAX = 9
/** Below it a machine that does something else is most of what is measured. */
const TELLING_MS = 15
/** Squared, of texts that are ours, or the operators' own, or have been cut before: nobody else can make them long. */
const SHORT_OR_OURS: readonly string[] = [
  ...['config/', 'schedule/words.ts', 'service/', 'web/preview.ts', 'web/excerpt.ts', 'source/address.ts'],
  ...['report/archive-pages.ts', 'report/rendered.ts', 'report/text.ts', 'source/probe/'],
  ...['store/sql-text.ts', 'store/snapshot/comments.ts', 'store/place.ts', 'source/field-path.ts', 'cli/'],
]
/** What stands before a literal; before a division stands a value. */
const LITERAL =
  /(?<=[(=,:[!&|?{};]\s*|=>\s*|return\s+)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuv]*)(?=[\s,;:.)\]}])/g

interface Expression {
  readonly shown: string
  readonly pattern: RegExp
}

const expressions = globSync('src/**/*.{ts,js}').flatMap((file) =>
  [
    ...readFileSync(file, 'utf8')
      .replace(/^\s*(?:\/\*\*.*|\*.*|\/\/.*)$/gm, '')
      .matchAll(LITERAL),
  ].map(
    ([literal, source = '', flags = '']): Expression => ({
      shown: `${file.replace('src/', '')} ${literal}`,
      pattern: new RegExp(source, flags),
    }),
  ),
)

/** Runs of each letter that stands in it, of two in turn, and of its beginning, none of which comes to an end. */
function textsFor({ source }: RegExp): readonly string[] {
  const letters = [...new Set([...source.replace(/\\[a-zA-Z]/g, 'a0 \t'), ...'aA0 ."<'])].slice(0, 24)
  const pairs = letters.slice(1).map((letter, index) => `${letters[index]}${letter}`)
  const words = source.match(/[\w ./:="<-]{2,}/g) ?? []
  return [...new Set([...letters, ...pairs, ...words, words.join('')])].filter((text) => text !== '')
}

type Read = (text: string) => unknown

const by =
  (pattern: RegExp): Read =>
  (text) =>
    text.replace(pattern, '')

/** The shortest of some. */
function timeOf(read: Read, text: string, tries: number): number {
  const times = Array.from({ length: tries }, () => {
    const began = performance.now()
    read(text)
    return performance.now() - began
  })
  return Math.min(...times)
}

/** How much longer four times the text takes, at the first length at which it can be told; 0 where it never takes long. */
function growthOf(read: Read, piece: string): number {
  const textOf = (length: number) =>
    `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length)}\n\u0000`
  for (const length of LENGTHS) {
    if (timeOf(read, textOf(length), 1) <= TELLING_MS) continue
    // That once may have been a pause of the machine.
    const longMs = timeOf(read, textOf(length), 3)
    if (longMs > TELLING_MS) return longMs / timeOf(read, textOf(length / 4), 5)
  }
  return 0
}

describe('the expressions', () => {
  it('are found', () => {
    expect(expressions.length).toBeGreaterThan(300)
  })

  it('are seen where they are slow', () => {
    expect(growthOf(by(/(\s+)$/), ' ')).toBeGreaterThan(GROWTH_MAX)
    expect(growthOf(by(/^[a-z]+$/), 'a')).toBeLessThan(GROWTH_MAX)
  })

  it('that read what others write take no longer than these are long', () => {
    const slow = expressions
      .filter(({ shown }) => !SHORT_OR_OURS.some((place) => shown.startsWith(place)))
      .flatMap(({ shown, pattern }) =>
        textsFor(pattern)
          .filter((piece) => growthOf(by(pattern), piece) > GROWTH_MAX)
          .map((piece) => `${shown} of ${JSON.stringify(piece)}`),
      )
    expect(slow).toEqual([])
  })

  it('by which secrets are known by their names neither', () => {
    const pieces = [
      '"pass":"',
      '\\"pass\\":\\"',
      '"pass":"\\',
      'bearer ',
      'cookie: ',
      '//a:',
      '?key=',
      'whsec_',
      '"a_',
    ]
    expect(pieces.filter((piece) => growthOf(withoutNamedSecrets, piece) > GROWTH_MAX)).toEqual([])
  })
})
