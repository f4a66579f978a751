/**
 * Regular expressions that take too long for long texts would be a way to stop the program. Each one of `src` is tried
 * with texts made of what it looks for, and its time must grow as they do.
 */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { styledText } from '../src/cli/terminal/table.ts'
import { withoutNamedSecrets } from '../src/redaction.ts'
import {
  fillParameters,
  hasSecondStatement,
  isSelect,
  namesIn,
  parametersIn,
} from '../src/store/queries/select.ts'
import { parseJson } from '../src/upstream/values/json.ts'

const LENGTHS = [2_000, 8_000, 50_000]
/** For four times the text: four where time grows with it, and sixteen where it grows squared. */
const GROWTH_MAX = 9
/** Below it a machine that does something else is most of what is measured. */
const TELLING_MS = 15
/** Beginnings of those squared in texts that are ours or the operators' own: nobody else can make them long. */
const OURS: readonly string[] = [
  '/<body[^>]*>',
  '/<div[^>]*aria-hidden',
  '/<nav class=',
  '/template (',
  '/^(.*?) at (.*)',
  '/_SERVICE_HOST$',
  String.raw`/^\s*(.+?\.ya?ml)`,
  String.raw`/((?:\\.|[^.\\])*)`,
  '/--(?<line>',
  String.raw`/\/\/[^/?#]*[/?#]`,
]
/** Beginnings of those squared in texts that have been cut before. */
const SHORT: readonly string[] = [String.raw`/\b(x-[a-z]+`, '/(^|']
/** Where some are put together while the program runs: of names and words that are ours, unless they are tried below. */
const PUT_TOGETHER: readonly string[] = [
  'cli/terminal/table.ts',
  'config/recipients-file.ts',
  'jobs/archive/search-issues.ts',
  'probe/auth-probe.ts',
  'redaction.ts',
  'report/render/compile-template.ts',
  'schedule/words.ts',
  'service/faults/rules.ts',
  'store/queries/report-query-postgres.ts',
  'store/queries/select.ts',
  'store/schema/describe.ts',
  'store/snapshot/snapshot.ts',
  'upstream/values/json.ts',
]
/** What reads SQL that somebody else may have written, and other texts, by expressions that are put together. */
const READERS: Readonly<Record<string, Read>> = {
  hasSecondStatement,
  isSelect,
  parametersIn,
  namesIn: (text) => namesIn(text, 'chosen'),
  fillParameters: (text) => fillParameters(text, () => ''),
  parseJson: (text) => parseJson(`{"a":${JSON.stringify(text)}}`),
  styledText,
  withoutNamedSecrets,
}
const PIECES: readonly string[] = [
  ...['[', ']', "'", '"', '`', '/*', '*/', '--', '--\n', ';', '; ', ';\n', '(', ':a', '::', '?1', '$', ' '],
  ...[
    "['",
    '["',
    "'[",
    '"/*',
    '[/*',
    "''[",
    'chosen',
    'chosen ',
    '9',
    '9e',
    'e+9',
    '\u001b[',
    '\u001b[3',
    ',',
  ],
  ...['"pass":"', '\\"pass\\":\\"', '"pass":"\\', 'bearer ', 'cookie: ', '//a:', '?key=', 'whsec_', '"a_'],
]
/** A megabyte of anything: a second where its time grows with it, and hours where it grows squared. */
const LONG = 1_000_000
const LONG_MS = 20_000
/** What stands before a literal; before a division stands a value. */
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

/** Runs of each message that stands in it, of two in turn, and of its beginning, none of which comes to an end. */
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
    // A machine that is busy may hide it once.
    const growths = Array.from({ length: 5 }, () => growthOf(by(/(\s+)$/), ' '))
    expect(Math.max(...growths)).toBeGreaterThan(GROWTH_MAX)
    expect(growthOf(by(/^[a-z]+$/), 'a')).toBeLessThan(GROWTH_MAX)
  })

  it('that read what others write take no longer than these are long', () => {
    const slow = expressions
      .filter(({ shown }) => ![...OURS, ...SHORT].some((place) => shown.startsWith(place)))
      .flatMap(({ shown, pattern }) =>
        textsFor(pattern)
          .filter((piece) => growthOf(by(pattern), piece) > GROWTH_MAX)
          .map((piece) => `${shown} of ${JSON.stringify(piece)}`),
      )
    expect(slow).toEqual([])
  })

  it('that are put together while the program runs are known', () => {
    const files = globSync('src/**/*.ts').filter((file) => readFileSync(file, 'utf8').includes('new RegExp('))
    expect(files.map((file) => file.replace('src/', '')).sort()).toEqual(PUT_TOGETHER)
  })

  it.each(Object.entries(READERS))('that %s puts together or uses neither', (_, read) => {
    expect(PIECES.filter((piece) => growthOf(read, piece) > GROWTH_MAX)).toEqual([])
  })

  it('look for a second statement in a megabyte of anything', () => {
    const texts = PIECES.map((piece) => piece.repeat(LONG / piece.length))
    expect(texts.filter((text) => timeOf(hasSecondStatement, text, 1) > LONG_MS)).toEqual([])
  })
})
