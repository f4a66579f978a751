/** The sentences of the headline about what is unusual, or about how usual the period was. */
import type { ReportFigures } from '../../../domain/figures.ts'
import { EXPECTED_FIGURES, type Expectation, type ExpectedFigure } from '../../../domain/insight.ts'
import { isImplausible } from '../../context.ts'
import { oneLine } from '../../words/clean-text.ts'
import { formatLocalDay, type PeriodNames } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'

/** The most sentences about unusual numbers. */
const SENTENCES_MAX = 3
const NAME_LENGTH = 40

export interface Sentences {
  readonly text: string
  readonly detail: string
  /** The short form for the subject. */
  readonly subject: string
}

/**
 * Says what is unusual, or that nothing is. Returns null if no number was judged, so that the counts are only
 * set beside those of the period before.
 */
export function composeJudged(
  figures: ReportFigures,
  names: PeriodNames,
  locale: LocaleContext,
): Sentences | null {
  const { words } = locale
  const counts = { new_leads: figures.newLeads.current, won: figures.won.current }
  const unusual = listUnusual(figures)
  const usual = listTold(figures).filter(
    ({ pipeline, judgement }) => pipeline === null && judgement === 'usual',
  )
  const countOf = (figure: ExpectedFigure) => words(`subject.${figure}`, { n: counts[figure] })
  if (unusual.length === 0) {
    if (!usual.some(({ figure }) => figure === 'new_leads') || !isWonAsEver(figures)) return null
    const both = words('headline.counts', { newLeads: counts.new_leads, won: counts.won })
    return {
      text: words('headline.usual', { counts: both, ...names }),
      detail: '',
      subject: words('subject.usual', { counts: EXPECTED_FIGURES.map(countOf).join(', '), ...names }),
    }
  }
  const [text = '', ...others] = unusual
    .slice(0, SENTENCES_MAX)
    .map((each) => sentenceOf(each, names, locale))
  const named = new Set(unusual.filter(({ pipeline }) => pipeline === null).map(({ figure }) => figure))
  const asUsual = usual
    .filter(({ figure }) => !named.has(figure))
    .map(({ figure }) => words(`headline.asUsual.${figure}`, { n: counts[figure] }))
  const subject = EXPECTED_FIGURES.map((figure) => {
    const one = unusual.find((each) => each.pipeline === null && each.figure === figure)
    return one === undefined ? countOf(figure) : `${countOf(figure)} ${rangeInBrackets(one, locale)}`.trim()
  })
  const [pipeline] = unusual.flatMap((each) => each.pipeline ?? [])
  return {
    text,
    detail: [...others, ...asUsual].join(' '),
    subject: [
      ...subject,
      ...(named.size > 0 || pipeline === undefined
        ? []
        : [words('subject.unusualIn', { name: oneLine(pipeline.name, NAME_LENGTH) })]),
    ].join(', '),
  }
}

/** Returns whether the wins are usual, or nothing has ever been won, so that none is usual too. */
function isWonAsEver({ insight, won }: ReportFigures): boolean {
  const told = insight?.expectations.find(({ figure, pipeline }) => figure === 'won' && pipeline === null)
  return told?.judgement === 'usual' || (told?.judgement === 'learning' && won.current === 0)
}

/** Lists the unusual numbers of a report, all leads before single pipelines. */
export function listUnusual(figures: ReportFigures): readonly Expectation[] {
  return listTold(figures).filter(({ judgement, shift }) => isUnusual(judgement) || shift !== null)
}

/** Lists what is known of the numbers, without those whose times cannot be right. */
function listTold(figures: ReportFigures): readonly Expectation[] {
  return (figures.insight?.expectations ?? []).filter(
    ({ figure }) => !isImplausible(figures, figure === 'won' ? 'won' : 'newLeads'),
  )
}

/** Says from when on usual ranges will be known; empty if no number waits for earlier periods. */
export function composeLearning(
  { insight }: Pick<ReportFigures, 'insight'>,
  names: PeriodNames,
  { words }: LocaleContext,
): string {
  const learning = insight?.expectations.find(
    ({ figure, pipeline, judgement }) =>
      figure === 'new_leads' && pipeline === null && judgement === 'learning',
  )
  return learning === undefined ? '' : words('headline.learning', { ...names, ...learning.periods })
}

function isUnusual(judgement: Expectation['judgement']): boolean {
  return judgement === 'high' || judgement === 'low'
}

function sentenceOf(expectation: Expectation, names: PeriodNames, locale: LocaleContext): string {
  const { figure, pipeline, actual, judgement, range, shift } = expectation
  const { words, numbers } = locale
  const where = pipeline && oneLine(pipeline.name, NAME_LENGTH)
  if (range !== null && isUnusual(judgement))
    return words(`headline.unusual.${figure}`, {
      ...{ ...names, where, actual, direction: judgement, low: range.low, high: range.high },
    })
  if (shift === null) return ''
  return words(`headline.shift.${figure}`, {
    ...{ where, actual: shift.actual, days: shift.days },
    direction: shift.actual > shift.expected ? 'high' : 'low',
    since: formatLocalDay(locale.tag, shift.since),
    expected: numbers.count(Math.round(shift.expected)),
  })
}

function rangeInBrackets({ range }: Expectation, { words }: LocaleContext): string {
  return range === null ? '' : words('subject.range', { low: range.low, high: range.high })
}
