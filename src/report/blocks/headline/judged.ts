/** Composes the sentences of the headline that name unusual numbers, or say that all are usual. */
import type { ReportFigures } from '../../../domain/figures.ts'
import {
  type DriverDimension,
  EXPECTED_FIGURES,
  type Expectation,
  type ExpectedFigure,
  rateOfAll,
  type UsualRange,
} from '../../../domain/insight.ts'
import type { News } from '../../change.ts'
import { isImplausible } from '../../context.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { PeriodNames } from '../../words/dates.ts'
import { type LocaleContext, shortenNames } from '../../words/locale-context.ts'

const SENTENCES_MAX = 3
const NAME_LENGTH = 40
const NAMED_MAX = 3

export interface Sentences {
  readonly text: string
  readonly detail: string
  readonly subject: string
}

/**
 * Composes the sentences of the headline that say which numbers lie outside their usual ranges. Returns null
 * if no number is unusual, and the new or the won leads have no usual range yet. The headline then compares
 * the counts with those of the period before.
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
  const lasting = listTold(figures).filter(
    ({ judgement, shift }) => judgement === 'usual' && shift?.isNew === false,
  )
  const rate = sentenceOfRate(figures, locale)
  const outside = listOutside(figures)
  const asides = outside.map((each) => asideOf(each, locale))
  const countOf = (figure: ExpectedFigure) => words(`subject.${figure}`, { n: counts[figure] })
  if (unusual.length === 0 && rate === null) {
    if (!usual.some(({ figure }) => figure === 'new_leads') || !isWonAsEver(figures)) return null
    const both = words('headline.counts', { newLeads: counts.new_leads, won: counts.won })
    const key = lasting.length > 0 ? 'noFurtherChange' : outside.length > 0 ? 'noClearChange' : 'usual'
    return {
      text: words(`headline.${key}`, { counts: both, ...names }),
      detail: [...lasting.map((each) => stillOf(each, locale)), ...asides]
        .slice(0, SENTENCES_MAX - 1)
        .join(' '),
      subject: words(`subject.${key}`, { counts: EXPECTED_FIGURES.map(countOf).join(', '), ...names }),
    }
  }
  const ofAll = unusual.filter(({ pipeline }) => pipeline === null)
  const named = new Set(ofAll.map(({ figure }) => figure))
  const single = unusual.filter(({ figure }) => !named.has(figure))
  const isAside = (figure: ExpectedFigure) => outside.some((each) => each.figure === figure)
  const left = usual.flatMap(({ figure, shift }) =>
    named.has(figure) || shift !== null || isAside(figure) ? [] : [figure],
  )
  const asUsual =
    left.length === EXPECTED_FIGURES.length
      ? [words('headline.asUsual.all', { newLeads: counts.new_leads, won: counts.won })]
      : [...left.map((figure) => words(`headline.asUsual.${figure}`, { n: counts[figure] })), ...asides]
  const news = [
    ...ofAll.flatMap((each) => [sentenceOf(each, names, locale), originOf(each, figures, unusual, locale)]),
    ...single.map((each) => sentenceOf(each, names, locale)),
    ...(rate === null ? [] : [rate.sentence]),
  ].filter(Boolean)
  const told = news.slice(0, Math.max(1, SENTENCES_MAX - asUsual.length))
  const [text = '', ...others] = [...told, ...asUsual].slice(0, SENTENCES_MAX)
  const subject = EXPECTED_FIGURES.map((figure) => {
    const one = unusual.find((each) => each.pipeline === null && each.figure === figure)
    return one === undefined ? countOf(figure) : `${countOf(figure)} ${inBrackets(one, locale)}`
  })
  const [pipeline] = unusual.flatMap((each) => each.pipeline ?? [])
  return {
    text,
    detail: others.join(' '),
    subject: [
      ...subject,
      ...(named.size > 0 || pipeline === undefined
        ? []
        : [words('subject.unusualIn', { name: oneLine(pipeline.name, NAME_LENGTH) })]),
      ...(rate === null ? [] : [rate.subject]),
    ].join(', '),
  }
}

/** Returns a sentence about an unusual win rate; null if the rate is usual or not judged. */
function sentenceOfRate(
  { insight }: ReportFigures,
  locale: LocaleContext,
): { readonly sentence: string; readonly subject: string } | null {
  const { words, numbers } = locale
  const { judgement = 'usual', range = null, won = 0, decided = 0 } = rateOfAll(insight) ?? {}
  if (range === null || !isUnusual(judgement)) return null
  const rateWords = { direction: judgement, rate: numbers.rate(won / decided) }
  return {
    sentence: words('headline.rate', {
      ...rateWords,
      range: words('rateRangeInWords', percentsOf(range, decided)),
    }),
    subject: words('subject.rate', { ...rateWords, range: words('rateRange', percentsOf(range, decided)) }),
  }
}

/** If too few periods are known to judge the number, no won lead counts as usual. */
function isWonAsEver({ insight, won }: ReportFigures): boolean {
  const expectation = insight?.expectations.find(
    ({ figure, pipeline }) => figure === 'won' && pipeline === null,
  )
  return expectation?.judgement === 'usual' || (expectation?.judgement === 'learning' && won.current === 0)
}

/** Numbers of all leads come first. A lasting change is listed only in the first report that finds it. */
export function listUnusual(figures: ReportFigures): readonly Expectation[] {
  return listTold(figures).filter(({ judgement, shift }) => isUnusual(judgement) || shift?.isNew)
}

/** Leaves out numbers that were counted from times of leads that cannot be right. */
function listTold(figures: ReportFigures): readonly Expectation[] {
  return (figures.insight?.expectations ?? []).filter(
    ({ figure }) => !isImplausible(figures, figure === 'won' ? 'won' : 'newLeads'),
  )
}

/** Returns a sentence on how many periods are needed to judge numbers; empty if enough are known. */
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
      ...names,
      where,
      actual,
      direction: judgement,
      range: words('rangeInWords', boundsOf(range)),
    })
  if (shift === null) return ''
  return words(`headline.shift.${figure}`, {
    where,
    actual: shift.actual,
    days: shift.days,
    direction: directionOf(expectation),
    expected: numbers.count(Math.round(shift.expected)),
  })
}

interface Outside {
  readonly figure: ExpectedFigure | 'win_rate'
  readonly direction: 'high' | 'low'
  readonly range: UsualRange
  /** The number of decided (won or lost) leads of a win rate; null for a count. */
  readonly decided: number | null
}

/**
 * Lists the numbers that lie outside their printed range, but are not called unusual, because among many
 * numbers a few lie outside by chance. The headline must not call such a number usual. Numbers of single
 * pipelines are left out.
 */
function listOutside(figures: ReportFigures): Outside[] {
  const counts = listTold(figures)
    .filter(({ pipeline, shift }) => pipeline === null && shift === null)
    .map((each) => ({ ...each, decided: null }))
  const rate = rateOfAll(figures.insight)
  return [...counts, ...(rate ? [{ ...rate, figure: 'win_rate' as const, actual: rate.won }] : [])].flatMap(
    ({ figure, judgement, range, actual, decided }) =>
      judgement !== 'usual' || range === null || (actual >= range.low && actual <= range.high)
        ? []
        : [{ figure, range, decided, direction: actual > range.high ? 'high' : 'low' }],
  )
}

function asideOf({ figure, direction, range, decided }: Outside, { words }: LocaleContext): string {
  const inWords =
    decided === null
      ? words('rangeInWords', boundsOf(range))
      : words('rateRangeInWords', percentsOf(range, decided))
  return words(`headline.aside.${figure}`, { direction, range: inWords })
}

function stillOf(expectation: Expectation, { words }: LocaleContext): string {
  const { figure, pipeline, shift } = expectation
  return words(`headline.still.${figure}`, {
    where: pipeline && oneLine(pipeline.name, NAME_LENGTH),
    direction: directionOf(expectation),
    days: shift?.days ?? 0,
  })
}

/**
 * Returns a sentence on where an unusual number came from. It names the source, country or agent with the
 * largest part. If there is none, it names the pipelines in which the number is unusual too. Returns an empty
 * text if there is no such pipeline either.
 */
function originOf(
  expectation: Expectation,
  { insight }: ReportFigures,
  unusual: readonly Expectation[],
  locale: LocaleContext,
): string {
  const { words, numbers } = locale
  const { figure } = expectation
  const direction = directionOf(expectation)
  const driver = insight?.drivers.find((each) => each.figure === figure)
  const [part] = driver?.parts ?? []
  if (driver && part && part.difference < 0 === (direction === 'low')) {
    const isMost = 2 * Math.abs(part.difference) >= Math.abs(driver.actual - driver.expected)
    return words('headline.origin', {
      isMost,
      name: nameOf(part.name, driver.dimension, locale),
      actual: part.actual,
      expected: numbers.count(Math.round(part.expected)),
    })
  }
  const alike = unusual.filter((each) => each.figure === figure && directionOf(each) === direction)
  const pipelines = alike.flatMap(({ pipeline }) =>
    pipeline === null ? [] : [oneLine(pipeline.name, NAME_LENGTH)],
  )
  if (pipelines.length === 0) return ''
  const listed = locale.and(shortenNames(pipelines, NAMED_MAX, locale))
  return words('headline.alike', { direction, pipelines: listed })
}

function nameOf(name: string | null, dimension: DriverDimension, { words }: LocaleContext): string {
  return name === null ? words('drivers.without', { dimension }) : oneLine(name, NAME_LENGTH)
}

export function directionOf({ judgement, shift }: Expectation): 'high' | 'low' {
  if (isUnusual(judgement) || shift === null) return judgement === 'high' ? 'high' : 'low'
  return shift.actual > shift.expected ? 'high' : 'low'
}

/** @param pipelineId null for all leads of the report */
export function expectationOf(
  { insight }: ReportFigures,
  wanted: ExpectedFigure,
  pipelineId: string | null = null,
): Expectation | undefined {
  return insight?.expectations.find(
    ({ pipeline, figure }) => figure === wanted && (pipeline?.id ?? null) === pipelineId,
  )
}

/** `high` or `low`, by itself or as part of a lasting change; null if usual or not judged. */
export function newsOf(judged: Expectation | undefined): News {
  if (judged === undefined) return null
  const isNews = isUnusual(judged.judgement) || (judged.judgement === 'usual' && judged.shift !== null)
  return isNews ? directionOf(judged) : null
}

export function boundsOf({ low, high }: UsualRange) {
  return { low, high, isOne: low === high }
}

/** Converts a range of won leads to whole percent of the decided (won or lost) leads. */
export function percentsOf({ low, high }: UsualRange, decided: number) {
  return { low: Math.round((100 * low) / decided), high: Math.round((100 * high) / decided) }
}

/** Formats the brackets after a count in the subject: the range, or how long a change has lasted. */
function inBrackets(expectation: Expectation, { words }: LocaleContext): string {
  const { judgement, range, shift } = expectation
  if (shift !== null && !isUnusual(judgement))
    return words('subject.shift', {
      direction: directionOf(expectation),
      days: shift.days,
    })
  return range === null ? '' : words('subject.range', { range: words('range', boundsOf(range)) })
}
