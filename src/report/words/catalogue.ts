/**
 * Provides the texts that recipients read. Each language has a catalogue (such as `en.json`) in ICU
 * MessageFormat. To add a language, add a file to this folder. The program passes null for an absent value,
 * and a `select` in a message then takes its case `null`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IntlMessageFormat } from 'intl-messageformat'
import { loadPackage } from '../../packages.ts'
import { isolate } from '../../printable.ts'
import type english from './en.json'
import { numbersOf } from './numbers.ts'

/** The key of a text, such as `kpis.winRate`. English has all keys, and a test checks other languages. */
export type WordKey = KeysOf<typeof english>

/** The values of a message: formatted texts, and numbers if the grammar needs them. */
type WordValues = Readonly<Record<string, string | number | boolean | null>>

/** @throws Error if a value that the text needs is missing */
export type Words = (key: WordKey, values?: WordValues) => string

type KeysOf<Group> = {
  [Name in keyof Group & string]: Group[Name] extends string ? Name : `${Name}.${KeysOf<Group[Name]>}`
}[keyof Group & string]

const ENGLISH = 'en'

/** The codes of all languages, English first. */
export const LANGUAGES: readonly string[] = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length))
  .sort((one, other) => Number(other === ENGLISH) - Number(one === ENGLISH) || (one < other ? -1 : 1))

const catalogues = new Map<string, ReadonlyMap<string, string>>()
const known = new Map<string, Words>()

export function isWordKey(key: string): key is WordKey {
  return readCatalogue(ENGLISH).has(key)
}

/** The locale is a BCP 47 tag. */
export function hasWordsIn(locale: string): boolean {
  return LANGUAGES.includes(new Intl.Locale(locale).language)
}

/** The words are English if the locale's language has no catalogue. */
export function wordsIn(locale: string): Words {
  const found = known.get(locale) ?? createWords(locale)
  known.set(locale, found)
  return found
}

function createWords(locale: string): Words {
  const messages = readCatalogue(hasWordsIn(locale) ? new Intl.Locale(locale).language : ENGLISH)
  const compiled = new Map<string, IntlMessageFormat>()
  const count = { format: numbersOf(locale).count } as Intl.NumberFormat
  const formatters = {
    getNumberFormat: () => count,
    getDateTimeFormat: (...given: ConstructorParameters<typeof Intl.DateTimeFormat>) =>
      new Intl.DateTimeFormat(...given),
    getPluralRules: (...given: ConstructorParameters<typeof Intl.PluralRules>) =>
      new Intl.PluralRules(...given),
  }
  const compile = (key: string): IntlMessageFormat => {
    const message = messages.get(key)
    if (message === undefined) throw new TypeError(`no words are there for ${key} in ${locale}`)
    const { IntlMessageFormat } = loadPackage('intl-messageformat')
    return new IntlMessageFormat(message, locale, undefined, { ignoreTag: true, formatters })
  }
  return (key, values) => {
    const message = compiled.get(key) ?? compile(key)
    compiled.set(key, message)
    const text = String(message.format(values && isolateTexts(values)))
    // A date such as `20. Nov.` at the end of a sentence has its full stop already.
    return text.replace(/(?<!\.)\.\.(?!\.)/g, '.')
  }
}

/** Isolates texts that no block has cleaned, because a sentence must keep the order of its figures. */
function isolateTexts(values: WordValues): WordValues {
  const isolated = Object.entries(values).map(([name, value]) => {
    return [name, typeof value === 'string' ? isolate(value) : value]
  })
  return Object.fromEntries(isolated)
}

export function readCatalogue(language: string): ReadonlyMap<string, string> {
  const found =
    catalogues.get(language) ??
    new Map(flatten(JSON.parse(readFileSync(join(import.meta.dirname, `${language}.json`), 'utf8')), ''))
  catalogues.set(language, found)
  return found
}

function flatten(group: Readonly<Record<string, unknown>>, prefix: string): [key: string, message: string][] {
  return Object.entries(group).flatMap(([name, value]) => {
    const key = `${prefix}${name}`
    return typeof value === 'string' ? [[key, value]] : flatten(Object(value), `${key}.`)
  })
}
