/** How a report speaks to one reader: the words of a language, the numbers and dates of a locale, a clock. */
import type { Instant } from '../model.ts'
import { type Dates, datesOf } from './dates.ts'
import { type Numbers, numbersOf } from './numbers.ts'
import { german } from './words/de.ts'
import { english, type Words } from './words/en.ts'

export interface Voice {
  readonly locale: string
  readonly words: Words
  readonly numbers: Numbers
  readonly dates: Dates
  readonly timeZone: string
  readonly now: Instant
}

/** The languages that ship, each with the words of its file. */
const LANGUAGES: Readonly<Record<string, (numbers: Numbers, locale: string) => Words>> = {
  en: english,
  de: german,
}

export const LANGUAGE_CODES: readonly string[] = Object.keys(LANGUAGES)

/** Numbers as everywhere in English, dates as in most of it. */
export const DEFAULT_LOCALE = 'en-GB'

/**
 * @param locale BCP 47; its language is one of {@link LANGUAGE_CODES}
 * @param timeZone in which instants are told
 */
export function createVoice(locale: string, timeZone: string, now: Instant): Voice {
  const numbers = numbersOf(locale)
  const language = new Intl.Locale(locale).language
  const speak = LANGUAGES[language]
  if (speak === undefined) throw new TypeError(`no words are there for the locale ${locale}`)
  return {
    locale,
    words: speak(numbers, locale),
    numbers,
    dates: datesOf(locale, timeZone, now),
    timeZone,
    now,
  }
}
