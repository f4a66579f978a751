/** How a report is written for one recipient: the words of a language, the numbers and dates of a locale, a clock. */
import type { Instant } from '../../model.ts'
import { hasWordsIn, type Words, wordsIn } from './catalogue.ts'
import { capitalise } from './clean-text.ts'
import { type Dates, datesOf } from './dates.ts'
import { type Numbers, numbersOf } from './numbers.ts'

export interface LocaleContext {
  /** BCP 47. */
  readonly tag: string
  readonly words: Words
  readonly numbers: Numbers
  readonly dates: Dates
  /** `Ana, Ben and Cleo` */
  readonly and: (parts: readonly string[]) => string
  /** `Ana, Ben or Cleo` */
  readonly or: (parts: readonly string[]) => string
  readonly timeZone: string
  readonly now: Instant
}

/**
 * @param tag BCP 47; its language is one of `LANGUAGES`
 * @param timeZone the zone in which instants are written
 */
export function createLocaleContext(tag: string, timeZone: string, now: Instant): LocaleContext {
  if (!hasWordsIn(tag)) throw new TypeError(`no words are there for the locale ${tag}`)
  const conjunction = new Intl.ListFormat(tag, { type: 'conjunction' })
  const disjunction = new Intl.ListFormat(tag, { type: 'disjunction' })
  return {
    tag,
    words: wordsIn(tag),
    numbers: numbersOf(tag),
    dates: datesOf(tag, timeZone, now),
    and: (parts) => conjunction.format(parts),
    or: (parts) => disjunction.format(parts),
    timeZone,
    now,
  }
}

/** The title of a report that has none of its own: `eu-daily` is `Eu daily leads`. */
export function nameReport(name: string, { words }: Pick<LocaleContext, 'words'>): string {
  return words('title', { name, label: capitalise(name) })
}

/** The language's word for a status of the upstream; else the status itself, `meeting_booked` as `Meeting booked`. */
export function nameStatus(status: string, { words }: Pick<LocaleContext, 'words'>): string {
  return words('status', { status, label: capitalise(status) })
}
