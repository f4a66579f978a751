/** How a report speaks to one reader: the words of a language, the numbers and dates of a locale, a clock. */
import { LANGUAGES, type Language } from '../choices.ts'
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

const SPEAK: Readonly<Record<Language, (numbers: Numbers, locale: string) => Words>> = {
  en: english,
  de: german,
}

/**
 * @param locale BCP 47; its language is one of `LANGUAGES`
 * @param timeZone in which instants are told
 */
export function createVoice(locale: string, timeZone: string, now: Instant): Voice {
  const numbers = numbersOf(locale)
  const language = LANGUAGES.find((code) => code === new Intl.Locale(locale).language)
  if (language === undefined) throw new TypeError(`no words are there for the locale ${locale}`)
  return {
    locale,
    words: SPEAK[language](numbers, locale),
    numbers,
    dates: datesOf(locale, timeZone, now),
    timeZone,
    now,
  }
}
