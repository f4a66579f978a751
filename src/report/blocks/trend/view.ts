/** The trend block shows the new and won leads per day over 90 days, as a chart and as a sentence. */
import type { ReportFigures, TrendDay } from '../../../domain/figures.ts'
import { shownDays } from '../../charts/draw.ts'
import { meansOfWeek, writeMean } from '../../charts/trend-layout.ts'
import type { BlockContext } from '../../context.ts'
import { marksOfDays, writeNote } from '../../day-notes.ts'
import { formatLocalDay } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'

// The minimum number of days between two weekly means that are compared. Two means with a shorter distance
// would have days in common.
const APART = 7

export function composeTrend(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const shown = shownDays(figures.trend)
  const days = shown.length
  const marks = marksOfDays(figures.insight?.notes, shown)
  const notes = marks.map((mark) => `${mark.letter}\u00a0${writeNote(mark, locale)}`).join('; ')
  return {
    kind: 'trend' as const,
    title: locale.words('trend.title'),
    note: days === 0 ? locale.words('trend.empty') : locale.words('trend.note', { n: days }),
    ofLines: locale.words('trend.ofLines'),
    finding: days === 0 ? '' : findingOf(figures.trend, locale),
    marked: notes === '' ? '' : locale.words('trend.marked', { notes }),
    chart: context.charts.get('trend') ?? null,
  }
}

/** Returns a sentence that compares the last weekly mean with the first known weekly mean. */
function findingOf(days: readonly TrendDay[], locale: LocaleContext): string {
  const { words, numbers, tag } = locale
  const [newLeads, won] = [
    meansOfWeek(days.map((day) => day.newLeads)),
    meansOfWeek(days.map((day) => day.won)),
  ]
  const first = newLeads.findIndex((mean) => mean !== null)
  const last = newLeads.findLastIndex((mean) => mean !== null)
  const at = (means: readonly (number | null)[], index: number) => writeMean(means[index] ?? 0, numbers)
  const [newNow, wonNow] = [at(newLeads, last), at(won, last)]
  const dayAt = (index: number) => formatLocalDay(tag, days[index]?.day ?? '')
  const week = words('trend.week', { end: last === days.length - 1 ? null : dayAt(last) })
  if (last - first < APART) return words('trend.short', { week, newLeads: newNow, won: wonNow })
  return words('trend.finding', {
    week,
    newLeads: newNow,
    won: wonNow,
    from: dayAt(first),
    newBefore: at(newLeads, first),
    wonBefore: at(won, first),
  })
}
