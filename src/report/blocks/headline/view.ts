/**
 * The headline block is one sentence about the period for the top of the mail, and its short form for the
 * subject. `isUsual` decides whether a period may be called better or slower.
 */
import type { FilterCondition, ReportFigures } from '../../../domain/figures.ts'
import { localDay } from '../../../schedule/zone.ts'
import { percentOf } from '../../change.ts'
import type { BlockContext } from '../../context.ts'
import {
  coverageOf,
  isBeforeAll,
  isFirst,
  isImplausible,
  isLongAfter,
  isStalledKnown,
} from '../../context.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { PeriodNames } from '../../words/dates.ts'
import { namePeriod } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { FEW } from '../../words/numbers.ts'
import { listFailing } from '../agents/view.ts'
import { composeAttention } from '../attention/view.ts'

export interface HeadlineView {
  readonly kind: 'headline'
  /** The title of the report and its period. */
  readonly title: string
  readonly period: string
  readonly text: string
  /** A second sentence in smaller print; empty if there is none. */
  readonly detail: string
  /** The leads that the report covers, and the period with which it compares. */
  readonly scope: string
  /** The short form of the headline for the subject, without title and date. */
  readonly subject: string
}

interface Verdict {
  readonly text: string
  readonly subject: string
  readonly detail?: string
}

const TITLE_LENGTH = 80
// The maximum number of pipelines or values that are named; all others are only counted.
const NAMED = 2
const NAME_LENGTH = 40

export function composeHeadline(
  figures: ReportFigures,
  locale: LocaleContext,
  context: BlockContext,
): HeadlineView {
  const { words } = locale
  const names = namePeriod(locale.tag, figures.kind, figures.period)
  const summary = summarize(figures, names, locale)
  const isWhole = coverageOf(figures) === 'whole' && figures.leads > 0
  // The period is not called calm if figures failed or data is unusual, because these may hide a problem.
  const isKnown = figures.failed.length === 0 && figures.warnings.every(({ kind }) => kind !== 'unusual')
  const isOfThen = !isLongAfter(figures.agents.asOf, figures)
  const areTimesRight = !isImplausible(figures, 'newLeads') && !isImplausible(figures, 'won')
  const isCalm =
    isWhole &&
    isKnown &&
    isOfThen &&
    areTimesRight &&
    composeAttention(figures, locale, context).items.length === 0
  const failing = listFailing(figures).length
  const needs = [
    isWhole &&
      figures.stalled.total > 0 &&
      isStalledKnown(figures) &&
      words('subject.stalled', { n: figures.stalled.total }),
    failing > 0 && words('subject.failing', { n: failing }),
  ]
  return {
    kind: 'headline',
    title: oneLine(context.title, TITLE_LENGTH),
    period: words('period.long', { ...names }),
    text: summary.text,
    detail: [summary.detail, isCalm && words('headline.allWell')].filter(Boolean).join(' '),
    scope: scopeOf(figures, locale),
    subject: [summary.subject, ...needs].filter(Boolean).join(', '),
  }
}

/** Returns whether the period was fully read and has no new and no won lead. */
export function isQuiet(figures: ReportFigures): boolean {
  return (
    coverageOf(figures) === 'whole' &&
    figures.leads > 0 &&
    !isImplausible(figures, 'newLeads') &&
    !isImplausible(figures, 'won') &&
    figures.newLeads.current + figures.won.current === 0
  )
}

function summarize(figures: ReportFigures, names: PeriodNames, locale: LocaleContext): Verdict {
  const { words, dates } = locale
  const { freshness, newLeads, won } = figures
  const end = freshness.dataAsOf && dates.instant(freshness.dataAsOf)
  const coverage = coverageOf(figures)
  if (coverage === 'none')
    return {
      text: words('headline.noData', { since: end }),
      subject: words('subject.noData', { since: end }),
    }
  if (coverage === 'part') {
    return {
      text: words('headline.incomplete', { newLeads: newLeads.current, won: won.current }),
      subject: words('subject.incomplete', { newLeads: newLeads.current, won: won.current }),
    }
  }
  if (isBeforeAll(figures)) return { text: words('headline.beforeAll'), subject: words('subject.beforeAll') }
  if (figures.leads === 0) {
    const isFiltered = figures.filter.pipelineIds !== null || figures.filter.conditions.length > 0
    return {
      text: words(`headline.${isFiltered ? 'emptyFilter' : 'empty'}`),
      subject: words('subject.empty'),
    }
  }
  if (isQuiet(figures)) return quiet(figures, names, locale)
  const counts = words('headline.counts', { newLeads: newLeads.current, won: won.current })
  const subject = [subjectOfNew(figures, locale), words('subject.won', { n: won.current })].join(', ')
  return isFirst(figures)
    ? { text: words('headline.first', { counts }), detail: words('headline.firstDetail'), subject }
    : { text: comparison(figures, counts, locale), subject }
}

function quiet(figures: ReportFigures, names: PeriodNames, locale: LocaleContext): Verdict {
  const { words } = locale
  const { newLeads, won } = figures
  const text = words('headline.quiet', { ...names })
  const subject = words('subject.quiet')
  if (newLeads.prior + won.prior === 0) return { text, subject }
  const than = before(figures, locale)
  return {
    text,
    detail: words('headline.quietBefore', {
      before: `${than.charAt(0).toUpperCase()}${than.slice(1)}`,
      newLeads: newLeads.prior,
      won: won.prior,
    }),
    subject,
  }
}

/**
 * Compares the period with the period before. It is called better or slower only if the counts of new and won
 * leads do not move in opposite directions and at least one of them changed more than usual.
 */
function comparison(figures: ReportFigures, counts: string, locale: LocaleContext): string {
  const { newLeads, won } = figures

  const moves = [newLeads, won].map(({ current, prior }) => Math.sign(current - prior))
  const isNews = !isUsual(figures, 'newLeads') || !isUsual(figures, 'won')
  const key =
    !isNews || (moves.includes(1) && moves.includes(-1))
      ? 'headline.beside'
      : moves.includes(1)
        ? 'headline.better'
        : 'headline.slower'
  const { count } = locale.numbers
  return locale.words(key, {
    counts,
    before: before(figures, locale),
    newLeads: count(newLeads.prior),
    won: count(won.prior),
  })
}

function subjectOfNew(figures: ReportFigures, locale: LocaleContext): string {
  const { newLeads } = figures
  const isPlain = newLeads.current < FEW || newLeads.prior < FEW || isUsual(figures, 'newLeads')
  const percent = isPlain ? null : percentOf(newLeads.current, newLeads.prior, locale)
  return locale.words('subject.newLeads', { n: newLeads.current, percent })
}

/** Returns the name of the period with which the report compares, as the subject of a sentence. */
function before({ kind, prior }: ReportFigures, locale: LocaleContext): string {
  return locale.words('period.before', { ...namePeriod(locale.tag, kind, prior) })
}

/**
 * Formats `2 pipelines, only Germany or Austria, score 60 or more, compared with Friday 13 November 2026`.
 */
function scopeOf(figures: ReportFigures, locale: LocaleContext): string {
  const prior = locale.words('period.long', { ...namePeriod(locale.tag, figures.kind, figures.prior) })
  const conditions = figures.filter.conditions.map((condition) => nameCondition(condition, locale))
  return [
    namePipelines(figures.pipelines, locale),
    ...(conditions.length > 0 ? [locale.words('scope.only', { conditions: locale.and(conditions) })] : []),
    ...(isFirst(figures) ? [] : [locale.words('scope.comparedWith', { period: prior })]),
  ].join(', ')
}

function namePipelines(names: readonly string[], locale: LocaleContext): string {
  if (names.length === 0) return locale.words('scope.noPipelines')
  if (names.length > NAMED) return locale.words('scope.pipelines', { n: names.length })
  return locale.and(names.map((name) => oneLine(name, NAME_LENGTH)))
}

/** Formats a condition: `score 60 or more`. */
export function nameCondition(condition: FilterCondition, locale: LocaleContext): string {
  const { field: column } = condition
  const field = locale.words('field', { column, label: column.replaceAll('_', ' ') })
  if ('in' in condition) {
    const values = condition.in.map((value) => oneLine(value, NAME_LENGTH))
    const others = values.length - NAMED
    const named =
      others > 1 ? [...values.slice(0, NAMED), locale.words('scope.others', { n: others })] : values
    return `${field} ${locale.or(named)}`
  }
  const [min, max] = [condition.min, condition.max].map(
    (bound) => bound !== null && locale.numbers.decimal(bound, 2),
  )
  if (min && max) return locale.words('scope.between', { field, min, max })
  return min
    ? locale.words('scope.atLeast', { field, value: min })
    : locale.words('scope.atMost', { field, value: max || '' })
}

// The minimum number of earlier differences that are needed to say which difference is usual.
const DIFFERENCES_LEAST = 8
// The number of standard deviations up to which a difference is usual; about 19 of 20 ordinary differences
// are within it.
const WIDTH = 2

/**
 * Returns whether a count has changed no more than it usually does. Two ordinary periods nearly always
 * differ, often by a fifth. The limit is twice the usual difference. Two estimates of that difference are
 * made, and the larger one counts: the difference of independent events (Poisson), and the differences of
 * earlier periods on the same weekdays (for months, of earlier months).
 */
export function isUsual(figures: ReportFigures, name: 'newLeads' | 'won'): boolean {
  const { current, prior } = figures[name]
  if (isImplausible(figures, name)) return true
  const squares = listDifferences(figures, name).map((each) => each * each)
  const mean = squares.reduce((sum, each) => sum + each, 0) / squares.length
  const variance = squares.length < DIFFERENCES_LEAST ? 0 : mean
  return Math.abs(current - prior) <= WIDTH * Math.sqrt(Math.max(current + prior, variance))
}

/**
 * Lists how much each earlier period differed from the period with which it was compared, if both counts are
 * known. Only periods on the same weekdays count.
 */
function listDifferences(figures: ReportFigures, name: 'newLeads' | 'won'): number[] {
  const { kind, period, prior, sparklines, trend } = figures
  const dayOf = (instant: string) => localDay(Date.parse(instant), period.timeZone)
  const isMonth = kind === 'month'
  const counts = isMonth ? sparklines[name] : trend.map((day) => day[name])
  const length = isMonth ? 1 : dayOf(period.to) - dayOf(period.from)
  const back = isMonth ? 1 : dayOf(period.from) - dayOf(prior.from)
  const step = isMonth ? 1 : 7
  const differences: number[] = []
  for (let end = counts.length - step; end >= length + back; end -= step) {
    const [is, was] = [end, end - back].map((to) => counts.slice(to - length, to))
    if (is && was && ![...is, ...was].includes(null)) differences.push(sumOf(is) - sumOf(was))
  }
  return differences
}

function sumOf(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((sum, each) => sum + (each ?? 0), 0)
}
