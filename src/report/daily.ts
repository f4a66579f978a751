/**
 * The daily report as a view model: every string that subject, HTML and text show, computed once, so that the
 * three cannot contradict one another. No HTML here, and no words: those are in `messages.ts`.
 */
import type { DailyFigures, Instant } from '../model.ts'
import { type AgentsView, composeAgents, listFailing } from './agents.ts'
import { composeAttention } from './attention.ts'
import { composeFreshness, type FreshnessView, isFirstDay } from './coverage.ts'
import { composeFunnel, type FunnelView } from './funnel.ts'
import { composeHeadline, type HeadlineView } from './headline.ts'
import { composeKpis, type KpiView } from './kpis.ts'
import { composeStalled, composeTopLeads, type StalledView, type TopLeadsView } from './lead-lists.ts'
import { words } from './messages.ts'
import { type DayNames, formatInstant, nameDay, type Reader } from './moment.ts'
import { oneLine } from './text.ts'

export interface DailyContext {
  /** What the report is called, such as `Daily leads`; begins the subject. */
  readonly title: string
  /** The address it goes to; null for the archive. */
  readonly recipient: string | null
  readonly generatedAt: Instant
}

/** What `templates/layout/page.hbs` needs of any report. */
export interface PageView {
  readonly lang: string
  readonly dir: string
  /** What a mail client shows behind the subject. */
  readonly preheader: string
  readonly footer: readonly string[]
}

export interface DailyView extends PageView {
  readonly title: string
  readonly day: DayNames
  /** What is covered and what it is compared with. */
  readonly scope: string
  readonly headline: HeadlineView
  readonly freshness: FreshnessView
  readonly attentionTitle: string
  readonly attention: readonly string[]
  readonly kpis: readonly KpiView[]
  readonly funnel: FunnelView
  readonly topLeads: TopLeadsView
  readonly stalled: StalledView
  readonly agents: AgentsView
}

const TITLE_LENGTH = 80
/** Pipelines named one by one; more are only counted. */
const NAMED_PIPELINES = 2
const PIPELINE_LENGTH = 40

export function composeDaily(figures: DailyFigures, context: DailyContext): DailyView {
  const reader = { timeZone: figures.period.timeZone, now: context.generatedAt }
  const title = oneLine(context.title, TITLE_LENGTH)
  const attention = composeAttention(figures, reader)
  const kpis = composeKpis(figures)
  const headline = composeHeadline(figures, reader, {
    failingAgents: listFailing(figures).length,
    attention: attention.length > 0,
  })
  return {
    lang: words.lang,
    dir: words.dir,
    preheader: preheaderOf(headline.text, kpis),
    title,
    day: nameDay(figures.period),
    scope: scopeOf(figures),
    headline,
    freshness: composeFreshness(figures, reader),
    attentionTitle: words.attention.title,
    attention,
    kpis,
    funnel: composeFunnel(figures, reader),
    topLeads: composeTopLeads(figures),
    stalled: composeStalled(figures),
    agents: composeAgents(figures, reader),
    footer: footerOf(figures, context, reader, title),
  }
}

/** The headline and the two numbers that the subject does not have. */
function preheaderOf(headline: string, kpis: readonly KpiView[]): string {
  const numbers = kpis
    .slice(2)
    .map(({ label, value, change }) => `${label} ${value}${change ? `, ${change}` : ''}`)
  return `${headline} ${numbers.join('; ')}.`
}

function scopeOf(figures: DailyFigures): string {
  const pipelines = namePipelines(figures.pipelines)
  return isFirstDay(figures) ? pipelines : `${pipelines}, ${words.comparedWith(nameDay(figures.prior).long)}`
}

function namePipelines(names: readonly string[]): string {
  if (names.length === 0) return words.noPipelines
  if (names.length > NAMED_PIPELINES) return words.pipelines(names.length)
  return words.and(names.map((name) => oneLine(name, PIPELINE_LENGTH)))
}

function footerOf(
  figures: DailyFigures,
  context: DailyContext,
  reader: Reader,
  title: string,
): readonly string[] {
  const { dataAsOf, runId, requests } = figures.freshness
  const data = [
    words.footer.dataAsOf(dataAsOf && formatInstant(dataAsOf, reader)),
    words.footer.leads(figures.leads),
    ...(runId === null ? [] : [words.footer.run(oneLine(runId, 40), requests)]),
    words.footer.zone(reader.timeZone),
  ].join(' · ')
  return context.recipient === null
    ? [data]
    : [data, words.footer.recipient(oneLine(context.recipient, 254), title)]
}
