/** Composes the verdict on numbers that are judged: how the new and the won leads lie to their normal ranges. */
import type { ReportFigures } from '../../../domain/figures.ts'
import {
  type DriverDimension,
  EXPECTED_FIGURES,
  type Expectation,
  type ExpectedFigure,
  type NormalRange,
  rateOfAll,
} from '../../../domain/insight.ts'
import { localDates } from '../../../domain/period.ts'
import type { News } from '../../change.ts'
import { isImplausible, newLeadsOf } from '../../context.ts'
import { oneLine, upperFirst } from '../../words/clean-text.ts'
import type { PeriodNames } from '../../words/dates.ts'
import { type LocaleContext, shortenNames } from '../../words/locale-context.ts'
import { formatMoneys } from '../lists.ts'

const NAME_LENGTH = 40
const NAMED_MAX = 3

export interface HeadlineText {
  /** One sentence. */
  readonly text: string
  /** Further sentences; empty if there are none. */
  readonly detail: string
  /** The facts for the subject, the most important first. */
  readonly facts: readonly string[]
}

/** Returns null if neither number is judged. The headline then compares them with the period before. */
export function composeJudged(
  figures: ReportFigures,
  names: PeriodNames,
  locale: LocaleContext,
): HeadlineText | null {
  const { words } = locale
  const ofAll = listTold(figures).filter(({ pipeline }) => pipeline === null)
  if (!ofAll.some(({ range, shift }) => range !== null || shift !== null)) return null
  const unusual = ofAll.filter(isNews)
  const others = EXPECTED_FIGURES.filter((wanted) => !unusual.some(({ figure }) => figure === wanted))
  const listClauses = (first?: ExpectedFigure) =>
    others
      .toSorted((one, other) => Number(other === first) - Number(one === first))
      .map((figure) => clauseOf(figure, figures, locale))
      .join(', ')
  const clauses = listClauses()
  const lasting = ofAll.filter(({ shift, judgement }) => judgement === 'normal' && shift?.isNew === false)
  const rate = composeRate(figures, locale)
  const facts = [
    ...unusual.map((each) => factOf(each, locale)),
    ...(rate === null ? [] : [rate.fact]),
    ...others.map((figure) => factOf(expectationOf(figures, figure) ?? countOf(figure, figures), locale)),
  ]
  const detail = [...lasting.map((each) => stillOf(each, locale)), rate?.sentence ?? '']
  if (unusual.length > 0) {
    const [text = '', ...more] = unusual.map((each) => sentenceOf(each, figures, names, locale))
    const counts = clauses === '' ? '' : `${upperFirst(clauses)}.`
    return { text, detail: [...more, counts, ...detail].filter(Boolean).join(' '), facts }
  }
  const [outside] = ofAll.filter((each) => lasting.length === 0 && sideOf(each) !== null)
  const isNormal =
    lasting.length === 0 && ofAll.length === EXPECTED_FIGURES.length && ofAll.every(isKnownNormal)
  const text =
    outside !== undefined
      ? words('headline.just', { direction: sideOf(outside), counts: listClauses(outside.figure) })
      : isNormal
        ? words('headline.normal', {
            ...names,
            counts: clauses,
            holidays: holidaysOf(figures, names),
            within: ofAll.map((each) => withinOf(each, figures, locale)).find(Boolean) ?? '',
          })
        : `${upperFirst(clauses)}.`
  return { text, detail: detail.filter(Boolean).join(' '), facts }
}

/** The number of working days that a week or longer period has fewer because of holidays. */
function holidaysOf({ insight }: ReportFigures, { shape }: PeriodNames): number {
  return shape === 'day' || shape === 'days' ? 0 : (insight?.holidayCount ?? 0)
}

/** With too few known periods, no win at all counts as normal, because a range would begin at 0. */
function isKnownNormal({ judgement, range, figure, actual }: Expectation): boolean {
  return judgement === 'normal'
    ? range !== null
    : figure === 'won' && judgement === 'learning' && actual === 0
}

/** A number that is not judged, in the form of a judged one. */
function countOf(figure: ExpectedFigure, figures: ReportFigures) {
  const actual = figure === 'won' ? figures.won.current : newLeadsOf(figures)
  return { figure, actual, judgement: 'withheld', range: null, shift: null } as const
}

/** Formats `19 new leads (normal 14–31)` or `1 won, $3.5k`. The range of wins stands below their number. */
function clauseOf(figure: ExpectedFigure, figures: ReportFigures, locale: LocaleContext): string {
  const judged = expectationOf(figures, figure)
  const { actual } = judged ?? countOf(figure, figures)
  const isShown = judged?.range && (figure === 'new_leads' || sideOf(judged) !== null)
  const value = figure === 'won' ? formatMoneys(figures.wonValue.current, locale) : ''
  return locale.words(`headline.clause.${figure}`, {
    n: actual,
    value: actual > 0 && value !== '' ? value : null,
    range: judged?.range && isShown ? writeRange(judged.range, locale) : null,
  })
}

/** Formats `Only 19 new leads (normal 21–41), the 3rd low day in a row; all pipelines alike.` */
function sentenceOf(
  expectation: Expectation,
  figures: ReportFigures,
  names: PeriodNames,
  locale: LocaleContext,
): string {
  const { words, numbers } = locale
  const { figure, actual, judgement, range, shift, inARow } = expectation
  const direction = directionOf(expectation)
  const origin = originOf(expectation, figures, locale)
  if (range === null || !isUnusual(judgement)) {
    return `${words(`headline.shift.${figure}`, {
      direction,
      days: shift?.days ?? 0,
      actual: shift?.actual ?? actual,
      expected: numbers.count(Math.round(shift?.expected ?? 0)),
    })}${origin}.`
  }
  const value = figure === 'won' && actual > 0 ? formatMoneys(figures.wonValue.current, locale) : ''
  const number = words(`headline.unusual.${figure}`, {
    n: actual,
    direction,
    value: value || null,
    range: writeRange(range, locale),
  })
  const row = inARow > 1 ? words('headline.inARow', { ...names, direction, row: inARow }) : ''
  return `${number}${row}${withinOf(expectation, figures, locale)}${origin}.`
}

/** Formats ` in a normal week`: what is said of the longer period, if that differs. Empty if not. */
function withinOf(
  { within, judgement }: Expectation,
  { period }: ReportFigures,
  { words }: LocaleContext,
): string {
  if (!within || within.judgement === judgement) return ''
  const [first = '', last = first] = localDates(period).split('--')
  const isAfter = within.lastDay < last
  return words('headline.within', { kind: within.kind, judgement: within.judgement, isAfter })
}

/** Says where an unusual number came from; empty if nothing is known of it. */
function originOf(expectation: Expectation, figures: ReportFigures, locale: LocaleContext): string {
  const { words, numbers } = locale
  const { figure } = expectation
  const direction = directionOf(expectation)
  const driver = figures.insight?.drivers.find((each) => each.figure === figure)
  const [part] = driver?.parts ?? []
  if (driver && part && part.difference < 0 === (direction === 'low')) {
    return words('headline.origin', {
      isMost: 2 * Math.abs(part.difference) >= Math.abs(driver.actual - driver.expected),
      name: nameOf(part.name, driver.dimension, locale),
      actual: part.actual,
      expected: numbers.count(Math.round(part.expected)),
    })
  }
  const ofPipelines = (figures.insight?.expectations ?? []).filter(
    (each) => each.pipeline !== null && each.figure === figure,
  )
  const moved = ofPipelines.filter((each) => isNews(each) && directionOf(each) === direction)
  const isAlike = ({ actual, expected }: Expectation) =>
    expected !== null && (direction === 'low' ? actual < expected : actual > expected)
  if (ofPipelines.length > 1 && ofPipelines.every(isAlike)) return words('headline.alike')
  if (moved.length === 0) return ''
  const listed = shortenNames(moved.map(nameOfPipeline), NAMED_MAX, locale)
  return words('headline.in', { direction, pipelines: locale.and(listed) })
}

function nameOf(name: string | null, dimension: DriverDimension, { words }: LocaleContext): string {
  return name === null ? words('drivers.without', { dimension }) : oneLine(name, NAME_LENGTH)
}

export function nameOfPipeline({ pipeline }: Expectation): string {
  return oneLine(pipeline?.name ?? '', NAME_LENGTH)
}

function stillOf(expectation: Expectation, { words }: LocaleContext): string {
  const days = expectation.shift?.days ?? 0
  return words(`headline.still.${expectation.figure}`, { direction: directionOf(expectation), days })
}

/** Returns null if the win rate is normal or not judged, or counted from times that cannot be right. */
function composeRate(
  figures: ReportFigures,
  { words, numbers }: LocaleContext,
): { readonly sentence: string; readonly fact: string } | null {
  const { judgement = 'normal', range = null, won = 0, decided = 0 } = rateOfAll(figures.insight) ?? {}
  if (range === null || !isUnusual(judgement) || isImplausible(figures, 'won')) return null
  const values = { rate: numbers.rate(won / decided), range: words('rateRange', percentsOf(range, decided)) }
  return {
    sentence: words('headline.rate', { ...values, direction: judgement }),
    fact: words('subject.rate', values),
  }
}

/** Formats a number for the subject: `only 19 new (normal 21–41)`, `19 new (normal)`, `1 won`. */
function factOf(
  expectation: Pick<Expectation, 'figure' | 'actual' | 'judgement' | 'range' | 'shift'>,
  locale: LocaleContext,
): string {
  const { figure, actual, judgement, range, shift } = expectation
  const side = isUnusual(judgement) ? judgement : sideOf(expectation)
  const isSaid = range !== null && shift === null && (figure === 'new_leads' || isUnusual(judgement))
  return locale.words(`subject.${figure}`, {
    n: actual,
    isOnly: judgement === 'low' && actual > 0,
    how: !isSaid ? 'unknown' : isUnusual(judgement) ? 'range' : (side ?? 'normal'),
    range: range && writeRange(range, locale),
  })
}

/** Numbers of all leads come first. A lasting change is listed only in the first report that finds it. */
export function listUnusual(figures: ReportFigures): readonly Expectation[] {
  return listTold(figures).filter(isNews)
}

function isNews({ judgement, shift }: Expectation): boolean {
  return isUnusual(judgement) || shift?.isNew === true
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

function isUnusual(judgement: Expectation['judgement']): judgement is 'high' | 'low' {
  return judgement === 'high' || judgement === 'low'
}

/** The side on which a number lies outside its printed range although chance explains it; else null. */
function sideOf({ judgement, range, actual }: Pick<Expectation, 'judgement' | 'range' | 'actual'>): News {
  if (judgement !== 'normal' || range === null) return null
  return actual > range.high ? 'high' : actual < range.low ? 'low' : null
}

export function directionOf({ judgement, shift }: Expectation): 'high' | 'low' {
  if (isUnusual(judgement) || shift === null) return judgement === 'high' ? 'high' : 'low'
  return shift.actual > shift.expected ? 'high' : 'low'
}

/** @param pipelineId null for all leads of the report */
export function expectationOf(
  figures: ReportFigures,
  wanted: ExpectedFigure,
  pipelineId: string | null = null,
): Expectation | undefined {
  return listTold(figures).find(
    ({ pipeline, figure }) => figure === wanted && (pipeline?.id ?? null) === pipelineId,
  )
}

/** `high` or `low`, by itself or as part of a lasting change; null if normal or not judged. */
export function newsOf(judged: Expectation | undefined): News {
  if (judged === undefined) return null
  const isNews = isUnusual(judged.judgement) || (judged.judgement === 'normal' && judged.shift !== null)
  return isNews ? directionOf(judged) : null
}

/** Formats `14–31`. */
export function writeRange({ low, high }: NormalRange, { words }: LocaleContext): string {
  return words('range', { low, high, isOne: low === high })
}

/** Converts a range of won leads to whole percent of the decided (won or lost) leads. */
export function percentsOf({ low, high }: NormalRange, decided: number) {
  return { low: Math.round((100 * low) / decided), high: Math.round((100 * high) / decided) }
}
