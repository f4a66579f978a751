/** The headline block is one sentence about the period, in a short form also for the subject. */
import type { FilterCondition, ReportFigures } from '../../../domain/figures.ts'
import type { BlockContext } from '../../context.ts'
import {
  coverageOf,
  isBeforeAll,
  isFirst,
  isImplausible,
  isLongAfter,
  isStalledKnown,
} from '../../context.ts'
import { notesOfPeriod, writeNote } from '../../day-notes.ts'
import { oneLine, upperFirst } from '../../words/clean-text.ts'
import type { PeriodNames } from '../../words/dates.ts'
import { namePeriod } from '../../words/dates.ts'
import { type LocaleContext, shortenNames } from '../../words/locale-context.ts'
import { listFailing } from '../agents/view.ts'
import { composeAttention } from '../attention/view.ts'
import { composeJudged, composeLearning, listUnusual } from './judged.ts'

interface Verdict {
  readonly text: string
  readonly subject: string
  readonly detail?: string
}

const TITLE_LENGTH = 80
// The maximum number of pipelines, or of values in a condition, that are named. If there are more, they are
// only counted.
const NAMED = 2
const NOTES = 2
const NAME_LENGTH = 40

export function composeHeadline(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words } = locale
  const names = namePeriod(locale.tag, figures.kind, figures.period)
  const summary = summarize(figures, names, locale)
  const isWhole = coverageOf(figures) === 'whole' && figures.leads > 0
  // If figures failed or the data is unusual, the headline does not say that all is well.
  const isKnown = figures.failed.length === 0 && figures.warnings.every(({ kind }) => kind !== 'unusual')
  const isOfThen = !isLongAfter(figures.agents.asOf, figures)
  const areTimesRight = !isImplausible(figures, 'newLeads') && !isImplausible(figures, 'won')
  const isCalm =
    isWhole &&
    isKnown &&
    isOfThen &&
    areTimesRight &&
    listUnusual(figures).length === 0 &&
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
    kind: 'headline' as const,
    title: oneLine(context.title, TITLE_LENGTH),
    period: words('period.long', { ...names }),
    text: summary.text,
    detail: [summary.detail, explanationOf(figures, locale), isCalm && words('headline.allWell')]
      .filter(Boolean)
      .join(' '),
    scope: scopeOf(figures, locale),
    subject: [summary.subject, ...needs].filter(Boolean).join(', '),
  }
}

/** The notes explain why numbers are not judged. Empty if there are none. */
function explanationOf(figures: ReportFigures, locale: LocaleContext): string {
  const isExplained = figures.insight?.expectations.some(({ judgement }) => judgement === 'left_out')
  const notes = isExplained ? notesOfPeriod(figures).slice(0, NOTES) : []
  return notes.length === 0 ? '' : `${notes.map((note) => writeNote(note, locale)).join('; ')}.`
}

/** Returns whether the period was fully read and has neither new nor won leads. */
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
  if (isQuiet(figures) && listUnusual(figures).length === 0) return quiet(figures, names, locale)
  const counts = words('headline.counts', { newLeads: newLeads.current, won: won.current })
  const subject = words('subject.counts', { newLeads: newLeads.current, won: won.current })
  if (isFirst(figures))
    return { text: words('headline.first', { counts }), detail: words('headline.firstDetail'), subject }
  const judged = composeJudged(figures, names, locale)
  if (judged !== null) return judged
  return {
    text: words('headline.beside', {
      counts,
      before: before(figures, locale),
      newLeads: locale.numbers.count(newLeads.prior),
      won: locale.numbers.count(won.prior),
    }),
    detail: composeLearning(figures, names, locale),
    subject,
  }
}

function quiet(figures: ReportFigures, names: PeriodNames, locale: LocaleContext): Verdict {
  const { words } = locale
  const { newLeads, won } = figures
  const text = words('headline.quiet', { ...names })
  const subject = words('subject.quiet')
  if (newLeads.prior + won.prior === 0) return { text, subject }
  return {
    text,
    detail: words('headline.quietBefore', {
      before: upperFirst(before(figures, locale)),
      newLeads: newLeads.prior,
      won: won.prior,
    }),
    subject,
  }
}

/** Returns the name of the period with which the report compares, as the subject of a sentence. */
function before({ kind, prior }: ReportFigures, locale: LocaleContext): string {
  return locale.words('period.before', { ...namePeriod(locale.tag, kind, prior) })
}

/** Formats `2 pipelines, score 60 or more, compared with Friday 13 November 2026`. */
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
    return `${field} ${locale.or(shortenNames(values, NAMED, locale))}`
  }
  const [min, max] = [condition.min, condition.max].map(
    (bound) => bound !== null && locale.numbers.decimal(bound, 2),
  )
  if (min && max) return locale.words('scope.between', { field, min, max })
  return min
    ? locale.words('scope.atLeast', { field, value: min })
    : locale.words('scope.atMost', { field, value: max || '' })
}
