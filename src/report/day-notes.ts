/** Chooses and formats the notes about days (operators' annotations and holidays) that a report shows. */
import type { ReportFigures } from '../domain/figures.ts'
import type { DayNote } from '../domain/insight.ts'
import type { Period } from '../domain/model.ts'
import { localDates } from '../domain/period.ts'
import { oneLine } from './words/clean-text.ts'
import { formatLocalDay, formatLocalDays } from './words/dates.ts'
import { type LocaleContext, shortenNames } from './words/locale-context.ts'

const TEXT_LENGTH = 60
const NAME_LENGTH = 40
/** The maximum number of notes that one chart marks. If there are more, only the latest are marked. */
const MARKS_MAX = 3
/** The maximum number of holidays that a report names. */
const NAMED_MAX = 3

/** The numbers of such days are not judged as normal or unusual. */
export function notesOfPeriod({ insight, period }: ReportFigures): DayNote[] {
  const dates = datesOf(period)
  return (insight?.notes ?? []).filter((note) => note.isLeftOut && isWithin(note, dates))
}

/** Formats `Holiday: Thanksgiving Day.` or, for several days, `Holidays: Christmas Day (25 Dec) and Boxing Day (26 Dec).` */
export function writeHolidays({ insight, period }: ReportFigures, locale: LocaleContext): string {
  const { words, tag } = locale
  const dates = datesOf(period)
  const named = (insight?.holidays ?? [])
    .filter(({ day }) => isWithin({ firstDay: day, lastDay: day }, dates))
    .map(({ day, names }) => {
      const name = names[new Intl.Locale(tag).language]
      const written = formatLocalDay(tag, day)
      if (name === undefined) return written
      const text = oneLine(name, TEXT_LENGTH)
      return dates.first === dates.last ? text : words('headline.holiday', { name: text, day: written })
    })
  if (named.length === 0) return ''
  const names = locale.and(shortenNames(named, NAMED_MAX, locale))
  return words('headline.holidays', { n: named.length, names })
}

/** A note in a chart, with a letter: `A` for the earliest note. */
export interface Mark extends DayNote {
  readonly letter: string
}

/** The days of the chart are in order of time. */
export function marksOfDays(
  notes: readonly DayNote[] | undefined,
  days: readonly { readonly day: string }[],
): Mark[] {
  const dates = { first: days[0]?.day ?? '', last: days.at(-1)?.day ?? '' }
  const shown = (notes ?? []).filter((note) => isWithin(note, dates)).slice(-MARKS_MAX)
  return shown.map((note, index) => ({ ...note, letter: String.fromCharCode(65 + index) }))
}

interface Dates {
  readonly first: string
  readonly last: string
}

export function datesOf(period: Period): Dates {
  const [first = '', last = first] = localDates(period).split('--')
  return { first, last }
}

function isWithin(
  { firstDay, lastDay }: Pick<DayNote, 'firstDay' | 'lastDay'>,
  { first, last }: Dates,
): boolean {
  return firstDay <= last && lastDay >= first
}

/** Writes a note: `13 Nov: campaign`, or `13–15 Nov: trade fair (EU mid-market)`. */
export function writeNote(
  { firstDay, lastDay, text, pipeline }: DayNote,
  { words, tag }: LocaleContext,
): string {
  return words('noted', {
    days: formatLocalDays(tag, firstDay, lastDay),
    text: oneLine(text, TEXT_LENGTH),
    where: pipeline && oneLine(pipeline.name, NAME_LENGTH),
  })
}
