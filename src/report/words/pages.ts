/** The words of the pages for recipients, by language. */
import { LANGUAGES, type Language } from '../../domain/choices.ts'
import { GERMAN_PAGE } from './page-de.ts'
import { ENGLISH_PAGE, type PageWords } from './page-en.ts'

const WORDS: Readonly<Record<Language, PageWords>> = { en: ENGLISH_PAGE, de: GERMAN_PAGE }

/** @param locale BCP 47; English for a language that there are no words in */
export function pageWordsIn(locale: string): PageWords {
  const { language } = new Intl.Locale(locale)
  return WORDS[LANGUAGES.find((code) => code === language) ?? 'en']
}
