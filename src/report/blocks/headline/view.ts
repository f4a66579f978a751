/** The verdict on a period: one sentence for the top of the mail, and its short form for the subject. */
import type { FilterCondition, ReportFigures } from '../../../domain/figures.ts'
import { localDay } from '../../../schedule/zone.ts'
import { percentOf } from '../../change.ts'
import type { ReportContext } from '../../context.ts'
import { coverageOf, isBeforeAll, isDoubtful, isFirst, isLongAfter, isStalledKnown } from '../../coverage.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { PeriodNames } from '../../words/dates.ts'
import { namePeriod } from '../../words/dates.ts'
import type { Voice } from '../../words/locale-context.ts'
import { FEW } from '../../words/numbers.ts'
import { listFailing } from '../agents/view.ts'
import { composeAttention } from '../attention/view.ts'

export interface HeadlineView {
  readonly kind: 'headline'
  /** What the report is called, and what it covers. */
  readonly title: string
  readonly period: string
  readonly text: string
  /** What adds to it in smaller letters; empty when nothing does. */
  readonly detail: string
  /** Which leads are covered, and what they are compared with. */
  readonly scope: string
  /** The verdict as the subject has it, without title and date. */
  readonly subject: string
}

interface Verdict {
  readonly text: string
  readonly subject: string
  readonly detail?: string
}

const TITLE_LENGTH = 80
/** Pipelines named one by one, and values of a condition; more are only counted. */
const NAMED = 2
const NAME_LENGTH = 40

export function composeHeadline(figures: ReportFigures, voice: Voice, context: ReportContext): HeadlineView {
  const { words } = voice
  const names = namePeriod(voice.locale, figures.kind, figures.period)
  const verdict = verdictOf(figures, names, voice)
  const isWhole = coverageOf(figures) === 'whole' && figures.leads > 0
  // Of what could not be read nobody knows that it is well.
  const isKnown = figures.failed.length === 0 && figures.warnings.every(({ kind }) => kind !== 'unusual')
  const isOfThen = !isLongAfter(figures.agents.asOf, figures)
  const areTimesRight = !isDoubtful(figures, 'newLeads') && !isDoubtful(figures, 'won')
  const isCalm =
    isWhole &&
    isKnown &&
    isOfThen &&
    areTimesRight &&
    composeAttention(figures, voice, context).items.length === 0
  const failing = listFailing(figures).length
  const needs = [
    isWhole &&
      figures.stalled.total > 0 &&
      isStalledKnown(figures) &&
      words.subject.stalled(figures.stalled.total),
    failing > 0 && words.subject.failing(failing),
  ]
  return {
    kind: 'headline',
    title: oneLine(context.title, TITLE_LENGTH),
    period: words.period.long(names),
    text: verdict.text,
    detail: [verdict.detail, isCalm && words.headline.allWell].filter(Boolean).join(' '),
    scope: scopeOf(figures, voice),
    subject: [verdict.subject, ...needs].filter(Boolean).join(', '),
  }
}

/** Whether nothing came and nothing was won in a period that was read whole. */
export function isQuiet(figures: ReportFigures): boolean {
  return (
    coverageOf(figures) === 'whole' &&
    figures.leads > 0 &&
    !isDoubtful(figures, 'newLeads') &&
    !isDoubtful(figures, 'won') &&
    figures.newLeads.current + figures.won.current === 0
  )
}

function verdictOf(figures: ReportFigures, names: PeriodNames, voice: Voice): Verdict {
  const { words, dates } = voice
  const { freshness, newLeads, won } = figures
  const end = freshness.dataAsOf && dates.instant(freshness.dataAsOf)
  const coverage = coverageOf(figures)
  if (coverage === 'none') return { text: words.headline.noData(end), subject: words.subject.noData(end) }
  if (coverage === 'part') {
    return {
      text: words.headline.incomplete(newLeads.current, won.current),
      subject: words.subject.incomplete(newLeads.current, won.current),
    }
  }
  if (isBeforeAll(figures)) return { text: words.headline.beforeAll, subject: words.subject.beforeAll }
  if (figures.leads === 0) {
    const isFiltered = figures.filter.pipelineIds !== null || figures.filter.conditions.length > 0
    return { text: words.headline[isFiltered ? 'emptyFilter' : 'empty'], subject: words.subject.empty }
  }
  if (isQuiet(figures)) return quiet(figures, names, voice)
  const counts = words.headline.counts(newLeads.current, won.current)
  const subject = [subjectOfNew(figures, voice), words.subject.won(won.current)].join(', ')
  return isFirst(figures)
    ? { text: words.headline.first(counts), detail: words.headline.firstDetail, subject }
    : { text: comparison(figures, counts, voice), subject }
}

function quiet(figures: ReportFigures, names: PeriodNames, voice: Voice): Verdict {
  const { words } = voice
  const { newLeads, won } = figures
  const text = words.headline.quiet(names)
  const subject = words.subject.quiet
  if (newLeads.prior + won.prior === 0) return { text, subject }
  return {
    text,
    detail: words.headline.quietBefore(before(figures, voice), newLeads.prior, won.prior),
    subject,
  }
}

/** A word only where neither count says otherwise, and at least one has moved further than it usually does. */
function comparison(figures: ReportFigures, counts: string, voice: Voice): string {
  const { newLeads, won } = figures
  const { headline } = voice.words
  const moves = [newLeads, won].map(({ current, prior }) => Math.sign(current - prior))
  const isNews = !isUsual(figures, 'newLeads') || !isUsual(figures, 'won')
  const say =
    !isNews || (moves.includes(1) && moves.includes(-1))
      ? headline.beside
      : headline[moves.includes(1) ? 'better' : 'slower']
  const { count } = voice.numbers
  return say(counts, before(figures, voice), count(newLeads.prior), count(won.prior))
}

function subjectOfNew(figures: ReportFigures, voice: Voice): string {
  const { newLeads } = figures
  const isPlain = newLeads.current < FEW || newLeads.prior < FEW || isUsual(figures, 'newLeads')
  const percent = isPlain ? null : percentOf(newLeads.current, newLeads.prior, voice)
  return voice.words.subject.newLeads(newLeads.current, percent)
}

/** What the period is compared with, as the subject of a sentence. */
function before({ kind, prior }: ReportFigures, voice: Voice): string {
  return voice.words.period.before(namePeriod(voice.locale, kind, prior))
}

/** `2 pipelines, only Germany or Austria, score 60 or more, compared with Friday 13 November 2026` */
function scopeOf(figures: ReportFigures, voice: Voice): string {
  const { scope, period } = voice.words
  const prior = period.long(namePeriod(voice.locale, figures.kind, figures.prior))
  const conditions = figures.filter.conditions.map((condition) => nameCondition(condition, voice))
  return [
    namePipelines(figures.pipelines, voice),
    ...(conditions.length > 0 ? [scope.only(voice.words.and(conditions))] : []),
    ...(isFirst(figures) ? [] : [scope.comparedWith(prior)]),
  ].join(', ')
}

function namePipelines(names: readonly string[], voice: Voice): string {
  if (names.length === 0) return voice.words.scope.noPipelines
  if (names.length > NAMED) return voice.words.scope.pipelines(names.length)
  return voice.words.and(names.map((name) => oneLine(name, NAME_LENGTH)))
}

/** `score 60 or more` */
export function nameCondition(condition: FilterCondition, voice: Voice): string {
  const { fields, scope, or } = voice.words
  const field = fields[condition.field] ?? condition.field.replaceAll('_', ' ')
  if ('in' in condition) {
    const values = condition.in.map((value) => oneLine(value, NAME_LENGTH))
    const others = values.length - NAMED
    const named = others > 1 ? [...values.slice(0, NAMED), scope.others(others)] : values
    return `${field} ${or(named)}`
  }
  const [min, max] = [condition.min, condition.max].map(
    (bound) => bound !== null && voice.numbers.decimal(bound, 2),
  )
  if (min && max) return scope.between(field, min, max)
  return min ? scope.atLeast(field, min) : scope.atMost(field, max || '')
}

/*
 * Whether a count has moved further than it usually does. This is the one place that decides whether a period may be
 * called better or slower: counts of two ordinary periods differ nearly always, and often by a fifth.
 */

/** Fewer differences than these are no measure of what is usual. */
const DIFFERENCES_LEAST = 8
/** Standard deviations within which about 19 of 20 ordinary differences lie. */
const WIDTH = 2

/**
 * Whether the difference is within twice its usual size: that of counts of independent events (Poisson), or, where it
 * is larger, that of the same difference in the weeks before, on the same weekdays; of months, in the months before.
 */
export function isUsual(figures: ReportFigures, name: 'newLeads' | 'won'): boolean {
  const { current, prior } = figures[name]
  if (isDoubtful(figures, name)) return true
  const squares = listDifferences(figures, name).map((each) => each * each)
  const mean = squares.reduce((sum, each) => sum + each, 0) / squares.length
  const variance = squares.length < DIFFERENCES_LEAST ? 0 : mean
  return Math.abs(current - prior) <= WIDTH * Math.sqrt(Math.max(current + prior, variance))
}

/** Of earlier periods of the same weekdays how they differed from what they are compared with, where both are known. */
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
