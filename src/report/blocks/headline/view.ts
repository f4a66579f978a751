/** The headline block says in one sentence how the period was, with facts for the subject. */
import type { FilterCondition, ReportFigures, UnusualWarning } from '../../../domain/figures.ts'
import type { BlockContext } from '../../context.ts'
import {
  coverageOf,
  importsOf,
  isBeforeAll,
  isFirst,
  isImplausible,
  isLeftOut,
  newLeadsOf,
} from '../../context.ts'
import { notesOfPeriod, writeHolidays, writeNote } from '../../day-notes.ts'
import { oneLine, upperFirst } from '../../words/clean-text.ts'
import { formatLocalDay, namePeriod, type PeriodNames } from '../../words/dates.ts'
import { type LocaleContext, shortenNames } from '../../words/locale-context.ts'
import { formatMoneys } from '../lists.ts'
import {
  composeJudged,
  composeLearning,
  directionOf,
  type HeadlineText,
  listUnusual,
  nameOfPipeline,
} from './judged.ts'

const TITLE_LENGTH = 80
// The maximum number of pipelines, or of values in a condition, that are named. If there are more, they are
// only counted.
const NAMED = 2
const NAME_LENGTH = 40

export function composeHeadline(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const names = namePeriod(locale.tag, figures.kind, figures.period)
  const { text, detail, facts } = judge(figures, names, locale)
  const isRead = coverageOf(figures) !== 'none'
  return {
    kind: 'headline' as const,
    title: oneLine(context.title, TITLE_LENGTH),
    period: locale.words('period.long', { ...names }),
    text,
    detail: [detail, ...(isRead ? listRemarks(figures, locale) : [])].filter(Boolean).join(' '),
    scope: scopeOf(figures, locale),
    facts,
  }
}

/** Says first what makes the numbers doubtful, then how the numbers are. */
function judge(figures: ReportFigures, names: PeriodNames, locale: LocaleContext): HeadlineText {
  const { words, dates } = locale
  const { freshness, newLeads, won, leads, filter, warnings } = figures
  const { dataAsOf } = freshness
  const at = dataAsOf && dates.instant(dataAsOf)
  const coverage = coverageOf(figures)
  const counts = `${upperFirst(words('headline.counts', countsOf(figures, locale)))}.`
  if (coverage === 'none')
    return { text: words('headline.noData', { at }), detail: '', facts: [words('subject.noData', { at })] }
  if (coverage === 'part') {
    const soFar = { newLeads: newLeads.current, won: won.current }
    // Otherwise a sync broke off after the data that was read whole.
    const isEnd = dataAsOf !== null && dataAsOf > figures.period.from
    const end = isEnd ? (names.shape === 'day' ? dates.time : dates.day)(dataAsOf) : null
    const text = words('headline.incomplete', { ...soFar, at: isEnd ? at : null })
    return { text, detail: '', facts: [words('subject.incomplete', { ...soFar, at: end })] }
  }
  const [doubt] = warnings.filter((each): each is UnusualWarning => each.kind === 'unusual')
  if (doubt !== undefined) {
    const { what, is, was } = doubt
    const facts = [words('subject.doubt', { is, was })]
    return { text: words(`warnings.${what}`, { is, was }), detail: counts, facts }
  }
  if (isBeforeAll(figures)) return alone(words('headline.beforeAll'), words('subject.empty'))
  if (leads === 0) {
    const isFiltered = filter.pipelineIds !== null || filter.conditions.length > 0
    return alone(words(`headline.${isFiltered ? 'emptyFilter' : 'empty'}`), words('subject.empty'))
  }
  const facts = factsOf(figures, locale)
  if (isLeftOut(figures)) {
    const [note] = notesOfPeriod(figures)
    return { text: counts, detail: note === undefined ? '' : `${writeNote(note, locale)}.`, facts }
  }
  if (isFirst(figures)) return { text: counts, detail: words('headline.firstDetail'), facts }
  const judged = composeJudged(figures, names, locale)
  if (judged !== null) return withPipelines(judged, figures, locale)
  return {
    text: counts,
    detail: [before(figures, locale), composeLearning(figures, names, locale)].filter(Boolean).join(' '),
    facts,
  }
}

function alone(text: string, fact: string): HeadlineText {
  return { text, detail: '', facts: [fact] }
}

/** Adds a pipeline that is unusual to the subject of a report whose whole is not. */
function withPipelines(headline: HeadlineText, figures: ReportFigures, locale: LocaleContext): HeadlineText {
  const unusual = listUnusual(figures)
  const [first] = unusual
  if (first === undefined || first.pipeline === null) return headline
  return {
    ...headline,
    facts: [
      locale.words('unusual.name', { name: nameOfPipeline(first), direction: directionOf(first) }),
      ...headline.facts,
    ],
  }
}

function countsOf(figures: ReportFigures, locale: LocaleContext) {
  const { won, wonValue } = figures
  const value = won.current > 0 ? formatMoneys(wonValue.current, locale) : ''
  return { newLeads: newLeadsOf(figures), won: won.current, value: value || null }
}

function factsOf(figures: ReportFigures, { words }: LocaleContext): string[] {
  const plain = { isOnly: false, how: 'unknown', range: null }
  return [
    words('subject.new_leads', { ...plain, n: newLeadsOf(figures) }),
    words('subject.won', { ...plain, n: figures.won.current }),
  ]
}

/** Formats `The Friday before: 22 new leads, 2 won.`; empty if one of the numbers may be wrong. */
function before(figures: ReportFigures, locale: LocaleContext): string {
  const { kind, prior, newLeads, won } = figures
  if (isImplausible(figures, 'newLeads') || isImplausible(figures, 'won')) return ''
  const name = locale.words('period.before', { ...namePeriod(locale.tag, kind, prior) })
  const counts = { newLeads: newLeads.prior, won: won.prior, value: null }
  return locale.words('headline.before', {
    name: upperFirst(name),
    counts: locale.words('headline.counts', counts),
  })
}

/** Lists what a reader must know to compare the numbers: the year before, holidays, and leads that came at once. */
function listRemarks(figures: ReportFigures, locale: LocaleContext): string[] {
  const { words, tag } = locale
  const { backfill } = figures.insight ?? {}
  return [
    writeYearBefore(figures, locale),
    writeHolidays(figures, locale),
    ...importsOf(figures).map(({ day, leads, source }) =>
      words('headline.imported', {
        leads,
        day: formatLocalDay(tag, day),
        source: source && oneLine(source, NAME_LENGTH),
      }),
    ),
    backfill
      ? words('headline.backfill', {
          leads: backfill.leads,
          value: formatMoneys(backfill.openValue, locale) || null,
        })
      : '',
  ]
}

/** Formats `October 2025: 190 new leads, 9 won.`; empty if that period is not known. */
function writeYearBefore({ kind, insight }: ReportFigures, locale: LocaleContext): string {
  if (!insight?.yearBefore) return ''
  const { period, newLeads, won } = insight.yearBefore
  const name = namePeriod(locale.tag, kind, period).long
  const counts = locale.words('headline.counts', { newLeads, won, value: null })
  return locale.words('headline.before', { name, counts })
}

/** Formats `EU mid-market, only score 60 or more`; empty for a report about all leads. */
function scopeOf({ filter, pipelines }: ReportFigures, locale: LocaleContext): string {
  const conditions = filter.conditions.map((condition) => nameCondition(condition, locale))
  return [
    ...(filter.pipelineIds === null ? [] : [namePipelines(pipelines, locale)]),
    ...(conditions.length > 0 ? [locale.words('scope.only', { conditions: locale.and(conditions) })] : []),
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
