/** The funnel block shows for each stage the leads, their share of the stage before, and the median days. */
import type { Funnel, ReportFigures } from '../../../domain/figures.ts'
import { composeHistory, type HistoryView } from '../../context.ts'
import { type LocaleContext, nameStatus } from '../../words/locale-context.ts'
import { FEW } from '../../words/numbers.ts'
import { joined } from '../lists.ts'

type Stage = Funnel['stages'][number]

/** If the history of fewer leads than this share is known, the stages would contradict the other numbers. */
const KNOWN_SHARE_MIN = 0.9

/** Returns no view if there are no stages, or if too little is known of the leads. */
export function composeFunnel({ funnel }: ReportFigures, locale: LocaleContext) {
  const { words, dates } = locale
  const { coverage, asOf } = funnel
  const isKnown = coverage === null || coverage.known >= coverage.of * KNOWN_SHARE_MIN
  if (asOf === null || funnel.stages.length === 0 || !isKnown) return []
  const most = Math.max(...funnel.stages.map((stage) => stage.reached), 0)
  const history = coverage === null ? null : composeHistory(coverage, locale)
  const days = composeHistory(funnel.daysCoverage, locale)
  const stages = funnel.stages.map((stage) => (days.isShown ? stage : { ...stage, medianDays: null }))
  const hasDays = stages.some(({ medianDays }) => medianDays !== null)
  const source = funnel.source === 'service' ? 'funnel.ofService' : 'funnel.ofOurs'
  return [
    {
      kind: 'funnel' as const,
      title: words('funnel.title'),
      note: joined([
        words(source, { asOf: dates.recent(asOf) }),
        history?.note ?? null,
        noteOfDays(days, hasDays, locale),
      ]),
      columns: {
        stage: words('funnel.stage'),
        reached: words('funnel.reached'),
        conversion: words('funnel.conversion'),
        inStage: hasDays ? words('funnel.inStage') : null,
      },
      stages: stages.map((stage, position) => rowOf(stage, stages[position - 1], most, locale)),
    },
  ]
}

function noteOfDays(
  { isShown, note }: HistoryView,
  isColumn: boolean,
  { words }: LocaleContext,
): string | null {
  const known = note || null
  if (isColumn) return words('funnel.median', { known })
  return isShown || known === null ? null : words('notShown', { what: words('funnel.inStage'), known })
}

function rowOf(stage: Stage, before: Stage | undefined, most: number, locale: LocaleContext) {
  const { words, numbers } = locale
  // If at least one lead has reached the stage, the bar is at least one percent wide.
  const bar = stage.reached === 0 ? 0 : Math.max(1, Math.round((stage.reached / most) * 100))
  const { medianDays } = stage
  return {
    label: nameStatus(stage.status, locale),
    reached: numbers.count(stage.reached),
    conversion: conversionOf(stage, before, locale),
    inStage:
      medianDays === null
        ? words('none')
        : words('funnel.medianDays', { value: writeDays(medianDays, locale) }),
    bar: bar === 0 ? '' : String(bar),
    rest: bar === 100 ? '' : String(100 - bar),
  }
}

/** Formats days: `<0.1`, `0.2`, `4.0`, `12`. */
function writeDays(days: number, { numbers }: LocaleContext): string {
  if (days < 0.05) return `<${numbers.fixed(0.1, 1)}`
  return days < 9.95 ? numbers.fixed(days, 1) : numbers.count(days)
}

function conversionOf(stage: Stage, before: Stage | undefined, { words, numbers }: LocaleContext): string {
  if (before === undefined || stage.conversion === null) return words('none')
  if (before.reached < FEW) return words('counts', { part: stage.reached, whole: before.reached })
  return numbers.share(stage.conversion)
}
