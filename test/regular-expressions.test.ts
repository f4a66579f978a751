/**
 * Finds regular expressions that take too long on long texts, because such texts could stop the program. Each
 * expression of `src` is tried with texts made of what it matches. Its time must grow in proportion to the
 * length.
 */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { styledText } from '../src/cli/terminal/table.ts'
import { withoutNamedSecrets } from '../src/redaction.ts'
import { hasSecondStatement, namesIn, parametersIn } from '../src/store/queries/select.ts'
import { parseJson } from '../src/upstream/values/json.ts'
import { casesOfToday } from './support/random.ts'

const LENGTHS = [2_000, 8_000, 50_000]
/** The limit of growth for a text four times as long. Linear time grows by 4, quadratic time by 16. */
const GROWTH_MAX = 9
/** Below this time, a measurement mostly shows what else the machine does. */
const TELLING_MS = 15
/**
 * The beginnings of quadratic expressions for texts of ours or of the operator, which nobody else can make
 * long.
 */
const OURS: readonly string[] = [
  '/<body[^>]*>',
  '/<div[^>]*aria-hidden',
  '/template (',
  '/^(.*?) at (.*)',
  '/_SERVICE_HOST$',
  String.raw`/^\s*(.+?\.ya?ml)`,
  String.raw`/(?:\['([^']+)'\]`,
  '/--(?<line>',
  String.raw`/\/\/[^/?#]*[/?#]`,
]
/** The beginnings of quadratic expressions for texts that are always short. */
const SHORT: readonly string[] = [String.raw`/\b(x-[a-z]+`, '/(^|']
/** The files that build expressions at run time, from names and words of ours. Others are tried below. */
const PUT_TOGETHER: readonly string[] = [
  'cli/terminal/table.ts',
  'config/load.ts',
  'probe/auth-probe.ts',
  'probe/candidates.ts',
  'probe/known-profile.ts',
  'redaction.ts',
  'report/render/template-files.ts',
  'schedule/timing.ts',
  'service/faults/rules.ts',
  'store/queries/select.ts',
  'store/schema/describe.ts',
  'upstream/client/authorize.ts',
  'upstream/values/json.ts',
]
/** Functions with built expressions that read SQL and other texts which somebody else may have written. */
const READERS: Readonly<Record<string, Read>> = {
  hasSecondStatement,
  parametersIn,
  namesIn: (text) => namesIn(text, 'chosen'),
  parseJson: (text) => parseJson(`{"a":${JSON.stringify(text)}}`),
  styledText,
  withoutNamedSecrets,
}
const PIECES: readonly string[] = [
  ...`[ ] ' " \` /* */ -- ; ( :a :: ?1 $ [' [" '[ "/* [/* ''[ chosen 9 9e e+9 , //a: ?key= whsec_ "a_`.split(
    ' ',
  ),
  ...[' ', '--\n', '; ', ';\n', 'chosen ', '\u001b[', '\u001b[3', 'bearer ', 'cookie: '],
  ...['"pass":"', '\\"pass\\":\\"', '"pass":"\\'],
]
/** Matches the code before an expression literal. A value before the slash would make it a division. */
const LITERAL =
  /(?<=[(=,:[!&|?{};]\s*|=>\s*|return\s+)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuv]*)(?=[\s,;:.)\]}])/g

type Read = (text: string) => unknown

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
      shown: `${literal} of ${file}`,
      pattern: new RegExp(source, flags),
    }),
  ),
)

/**
 * Returns repetitions of each text in the expression, of pairs of them, and of its beginning. None of them
 * completes a match.
 */
function textsFor({ source }: RegExp): readonly string[] {
  const messages = [...new Set([...source.replace(/\\[a-zA-Z]/g, 'a0 \t'), ...'aA0 ."<'])].slice(0, 24)
  const pairs = messages.slice(1).map((message, index) => `${messages[index]}${message}`)
  const words = source.match(/[\w ./:="<-]{2,}/g) ?? []
  return [...new Set([...messages, ...pairs, ...words, words.join('')])].filter((text) => text !== '')
}

const by =
  (pattern: RegExp): Read =>
  (text) =>
    text.replace(pattern, '')

/** Returns the shortest of several times. */
function timeOf(read: Read, text: string, tries: number): number {
  const times = Array.from({ length: tries }, () => {
    const began = performance.now()
    read(text)
    return performance.now() - began
  })
  return Math.min(...times)
}

/**
 * Returns the growth of the time for a text four times as long, at the first length with a clear result.
 * Returns 0 if it is always quick.
 */
function growthOf(read: Read, piece: string): number {
  const textOf = (length: number) =>
    `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length)}\n\u0000`
  for (const length of LENGTHS) {
    if (timeOf(read, textOf(length), 1) <= TELLING_MS) continue
    // A single long time may come from a pause of the machine.
    const longMs = timeOf(read, textOf(length), 3)
    if (longMs > TELLING_MS) return longMs / timeOf(read, textOf(length / 4), 5)
  }
  return 0
}

/** Tells whether the time grows faster than the text, each time that it is tried: a busy machine may fake it some times. */
function isSlow(read: Read, piece: string): boolean {
  return [1, 2, 3, 4, 5, 6].every(() => growthOf(read, piece) > GROWTH_MAX)
}

describe('the expressions', () => {
  it('are seen where they are slow', () => {
    // A busy machine may hide the growth once.
    const growths = Array.from({ length: 5 }, () => growthOf(by(/(\s+)$/), ' '))
    expect(Math.max(...growths)).toBeGreaterThan(GROWTH_MAX)
    expect(isSlow(by(/^[a-z]+$/), 'a')).toBe(false)
  })

  it('that read what others write take no longer than these are long', () => {
    expect(expressions.length).toBeGreaterThan(300)
    const slow = casesOfToday(expressions, 6)
      .filter(({ shown }) => ![...OURS, ...SHORT].some((place) => shown.startsWith(place)))
      .flatMap(({ shown, pattern }) =>
        textsFor(pattern)
          .filter((piece) => isSlow(by(pattern), piece))
          .map((piece) => `${shown} of ${JSON.stringify(piece)}`),
      )
    expect(slow).toEqual([])
  })

  it('that are put together while the program runs are known', () => {
    const files = globSync('src/**/*.ts').filter((file) => readFileSync(file, 'utf8').includes('new RegExp('))
    expect(files.map((file) => file.replace('src/', '')).sort()).toEqual(PUT_TOGETHER)
  })

  it.each(Object.entries(READERS))('that %s puts together or uses neither', (_, read) => {
    expect(PIECES.filter((piece) => isSlow(read, piece))).toEqual([])
  })
})
