/** How a report speaks to one reader: the words of a language, the numbers and dates of a locale, a clock. */
import type { Language } from '../../domain/choices.ts'
import { LANGUAGES } from '../../domain/choices.ts'
import type { Instant } from '../../model.ts'
import { capitalise } from './clean-text.ts'
import type { Dates } from './dates.ts'
import { datesOf } from './dates.ts'
import { german } from './de.ts'
import type { Words } from './en.ts'
import { english } from './en.ts'
import type { Numbers } from './numbers.ts'
import { numbersOf } from './numbers.ts'

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

/* The names of statuses, which are the upstream's own words. */

/** The language's word for it; else its own name, `meeting_booked` as `Meeting booked`. All capitals stay so. */
export function nameStatus(status: string, { words }: Voice): string {
  const known = Object.hasOwn(words.statuses, status) ? words.statuses[status] : undefined
  return known ?? capitalise(status)
}
