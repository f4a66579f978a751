/** What people noted about days, as reports write it. */
import type { ReportFigures } from '../domain/figures.ts'
import type { DayNote } from '../domain/insight.ts'
import { localDates } from '../domain/period.ts'
import { oneLine } from './words/clean-text.ts'
import { formatLocalDays } from './words/dates.ts'
import type { LocaleContext } from './words/locale-context.ts'

const TEXT_LENGTH = 60
const NAME_LENGTH = 40

/** Lists the notes for which the numbers of the period are not judged. */
export function notesOfPeriod({ insight, period }: ReportFigures): DayNote[] {
  const [first = '', last = first] = localDates(period).split('--')
  return (insight?.notes ?? []).filter(
    (note) => note.isLeftOut && note.firstDay <= last && note.lastDay >= first,
  )
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
