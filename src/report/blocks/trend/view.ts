/** The trend block shows the new leads of each day over 90 days, as a chart and as a sentence. */
import type { ReportFigures, TrendDay } from '../../../domain/figures.ts'
import { shownDays } from '../../charts/draw.ts'
import { meansOfWeek, writeMean } from '../../charts/trend-layout.ts'
import { type BlockContext, trendOf } from '../../context.ts'
import { marksOfDays, writeNote } from '../../day-notes.ts'
import { formatLocalDay } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'

/** Returns no view if there are not enough days for a chart. */
export function composeTrend(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words } = locale
  const trend = trendOf(figures)
  const shown = shownDays(trend)
  if (shown.length === 0) return []
  const last = shown.findLastIndex(({ newLeads }) => newLeads !== null)
  const marks = marksOfDays(figures.insight?.notes, shown)
  const imports = (figures.insight?.imports ?? [])
    .filter(({ day }) => day >= (shown[0]?.day ?? ''))
    .map(({ leads, day }) => words('trend.without', { leads, day: formatLocalDay(locale.tag, day) }))
  const notes = marks.map((mark) => `${mark.letter}\u00a0${writeNote(mark, locale)}`).join('; ')
  return [
    {
      kind: 'trend' as const,
      title: words('trend.title'),
      note: [
        words('trend.note', { n: last + 1, end: formatLocalDay(locale.tag, shown[last]?.day ?? '') }),
        ...imports,
      ].join('; '),
      finding: findingOf(trend, locale),
      marked: notes === '' ? '' : words('trend.marked', { notes }),
      chart: context.chart,
    },
  ]
}

/** Returns a sentence with the last weekly mean, which stands for the chart where pictures are not shown. */
function findingOf(days: readonly TrendDay[], { words, numbers, tag }: LocaleContext): string {
  const means = meansOfWeek(days.map((day) => day.newLeads))
  const last = means.findLastIndex((mean) => mean !== null)
  const mean = writeMean(means[last] ?? 0, numbers)
  return words('trend.finding', { mean, end: formatLocalDay(tag, days[last]?.day ?? '') })
}
