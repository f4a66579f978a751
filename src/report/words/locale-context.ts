/** Provides all that depends on a recipient's locale: texts, formats of numbers and dates, the time zone. */
import type { Instant } from '../../domain/model.ts'
import { hasWordsIn, type Words, wordsIn } from './catalogue.ts'
import { capitalise } from './clean-text.ts'
import { type Dates, datesOf } from './dates.ts'
import { type Numbers, numbersOf } from './numbers.ts'

export interface LocaleContext {
  readonly tag: string
  readonly words: Words
  readonly numbers: Numbers
  readonly dates: Dates
  /** Joins parts: `Ana, Ben and Cleo`. */
  readonly and: (parts: readonly string[]) => string
  /** Joins parts: `Ana, Ben or Cleo`. */
  readonly or: (parts: readonly string[]) => string
  readonly timeZone: string
  readonly now: Instant
}

/**
 * Creates the context of a locale.
 * @param tag the locale (BCP 47), whose language must be in `LANGUAGES`
 * @param timeZone the time zone in which instants are written
 * @param now the current time, which decides whether an instant is of today or of this year
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

/** Adds a text such as `5 others`. If only one name would be left out, returns all names. */
export function shortenNames(
  names: readonly string[],
  most: number,
  { words }: Pick<LocaleContext, 'words'>,
): readonly string[] {
  const others = names.length - most
  return others > 1 ? [...names.slice(0, most), words('scope.others', { n: others })] : names
}

/** Returns a title for a report that has none. The report `eu-daily` gets the title `Eu daily leads`. */
export function nameReport(name: string, { words }: Pick<LocaleContext, 'words'>): string {
  return words('title', { name, label: capitalise(name) })
}

/** `meeting_booked` becomes `Meeting booked` by the catalogue, or else by the word itself. */
export function nameStatus(status: string, { words }: Pick<LocaleContext, 'words'>): string {
  return words('status', { status, label: capitalise(status) })
}
