import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { IntlMessageFormat } from 'intl-messageformat'
import { describe, expect, it, test } from 'vitest'
import {
  hasWordsIn,
  LANGUAGES,
  readCatalogue,
  type WordKey,
  wordsIn,
} from '../../../src/report/words/catalogue.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

type Elements = ReturnType<IntlMessageFormat['getAst']>

const english = readCatalogue('en')
const sources = globSync('src/{report,jobs,web,cli}/**/*.ts', { cwd: ROOT })
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n')

/** Returns the names of the values that a message takes, sorted. */
function valuesOf(message: string): string[] {
  const names = (elements: Elements): string[] =>
    elements.flatMap((element) => {
      const options = 'options' in element ? Object.values(element.options) : []
      // Kinds 0 and 7 are plain text and the number of a plural, which have no name.
      const own = element.type === 0 || element.type === 7 ? [] : [String(element.value)]
      return [...own, ...options.flatMap(({ value }) => names(value))]
    })
  return [
    ...new Set(names(new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true }).getAst())),
  ].sort()
}

describe('the catalogues', () => {
  test.each(LANGUAGES)('%s has the keys of English', (language) => {
    expect([...readCatalogue(language).keys()].sort()).toEqual([...english.keys()].sort())
  })

  test.each(LANGUAGES)('%s asks each message for the values of English', (language) => {
    const catalogue = readCatalogue(language)
    const asked = (messages: ReadonlyMap<string, string>) =>
      Object.fromEntries([...english.keys()].map((key) => [key, valuesOf(messages.get(key) ?? '')]))
    expect(asked(catalogue)).toEqual(asked(english))
  })

  it('have no key that nothing asks for', () => {
    const isAsked = (key: string) => {
      const names = key.split('.')
      // Keys with a computed part have `${…}` in its place: the name of a block, a kind or a state.
      const computed = names.map((name) => `(?:${RegExp.escape(name)}|\\$\\{[^\`]+\\})`).join('\\.')
      return sources.includes(`'${key}'`) || new RegExp(`\`${computed}\``).test(sources)
    }
    expect([...english.keys()].filter((key) => !isAsked(key))).toEqual([])
  })
})

describe('words', () => {
  it.each([
    ['שלום', '\u2068שלום\u2069 is high'],
    ['EU', 'EU is high'],
    ['\u2068שלום\u2069', '\u2068שלום\u2069 is high'],
    ['שלום\u202e', '\u2068שלום\u2069 is high'],
  ])('isolate a right-to-left value that no block has isolated: %j', (name, sentence) => {
    expect(wordsIn('en-GB')('unusual.name', { name, direction: 'high' })).toBe(sentence)
  })

  it('take numbers as the locale writes them, and the grammar that they need', () => {
    const german = wordsIn('de-DE')
    expect(german('scope.pipelines', { n: 1 })).toBe('1 Pipeline')
    expect(german('scope.pipelines', { n: 12_345 })).toBe('12.345 Pipelines')
  })

  it('take a text as it is, whatever it looks like', () => {
    const text = "{name} <b> '{' # constructor"
    expect(wordsIn('en-GB')('failed.reason', { text })).toBe(`Reason: ${text}`)
  })

  it('fail for a value that is missing and for a key that is in no catalogue', () => {
    const words = wordsIn('en-GB')
    expect(() => words('failed.reason')).toThrow('text')
    expect(() => words('failed.nothing' as WordKey)).toThrow('no words are there for failed.nothing')
  })

  it('are English where there is no catalogue', () => {
    expect(hasWordsIn('fr-CH')).toBe(false)
    expect(wordsIn('fr-CH')('kpis.won')).toBe('Won')
  })
})
