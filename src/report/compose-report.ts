/** Composes all texts of a report once, so that subject, HTML and plain text agree. */

import type { BlockName } from '../domain/choices.ts'
import type { FailedSection, ReportFigures } from '../domain/figures.ts'
import { errorText } from '../errors.ts'
import { composeFreshness } from './blocks/freshness/view.ts'
import { composeGoals } from './blocks/goals/view.ts'
import { composeHeadline } from './blocks/headline/view.ts'
import { composeKpis } from './blocks/kpis/view.ts'
import { type BlockView, blockOf, composeBlockViews } from './blocks/registry.ts'
import { composeToday } from './blocks/today/view.ts'
import { type BlockContext, coverageOf, isBeforeAll } from './context.ts'
import { composeFailed, composeFailedCharts, type FailedView } from './failed-blocks.ts'
import { oneLine, withoutAutoLinks } from './words/clean-text.ts'
import { namePeriod } from './words/dates.ts'
import type { LocaleContext } from './words/locale-context.ts'

/** The view that a template gets; `kind` is the name of the template. */
type View = BlockView | FailedView

export interface ReportView {
  /** The language, BCP 47. */
  readonly lang: string
  readonly dir: string
  readonly title: string
  readonly period: { readonly long: string; readonly short: string }
  /** The subject: the title, the period and the headline's facts in at most 60 characters. */
  readonly subjectLine: string
  /** The facts of the subject: `19 new (normal), 1 won`. */
  readonly summary: string
  /** The text that a mail client shows after the subject in the list of mails. */
  readonly preheader: string
  /** Everything that failed: figures that could not be read, and texts or charts that could not be made. */
  readonly failed: readonly FailedSection[]
  /** In the order of the report. A block with nothing to show is left out, or its view says so. */
  readonly blocks: readonly View[]
  /** The views by kind, for templates that place them one by one. */
  readonly block: Readonly<Record<string, View>>
  /** The address at which the dashboard shows the full lists; empty if there is none. */
  readonly moreUrl: string
  readonly footer: {
    readonly lines: readonly string[]
    readonly unsubscribe: { readonly url: string; readonly text: string } | null
  }
}

const TITLE_LENGTH = 80
const SUBJECT_LENGTH = 60
/** A title is not cut to fewer characters than this to make room for a fact. */
const TITLE_MIN = 12

export function composeReport(
  figures: ReportFigures,
  locale: LocaleContext,
  context: BlockContext,
): ReportView {
  const { words } = locale
  const title = oneLine(context.title, TITLE_LENGTH)
  const names = namePeriod(locale.tag, figures.kind, figures.period)
  const { facts } = composeHeadline(figures, locale, context)
  const wanted = listBlocks(figures, locale, context).filter(
    (name) => isShown(name, figures) || figures.failed.some(({ block }) => block === name),
  )
  const made = wanted.map((name) => composeBlock(name, figures, locale, context))
  const blocks = made.flatMap((each) => each.views)
  const failed = [...figures.failed, ...context.failed, ...made.flatMap((each) => each.failed)]
  const period = { long: words('period.long', { ...names }), short: words('period.short', { ...names }) }
  const view = {
    lang: locale.tag,
    dir: words('direction'),
    title,
    period,
    subjectLine: subjectOf(title, period.short, facts),
    summary: facts.join(', '),
    preheader: preheaderOf(figures, locale, context),
    failed,
    blocks,
    block: Object.fromEntries(blocks.map((block) => [block.kind, block])),
    moreUrl: context.moreUrl ?? '',
    footer: { lines: [words('footer.zone', { name: locale.timeZone })], unsubscribe: null },
  }
  return addressReport({ ...unlinked(view), failed }, locale, context)
}

/** Formats `Daily leads, Mon 23 Nov: 19 new (normal), 1 won`, with as many facts as there is room for. */
function subjectOf(title: string, period: string, facts: readonly string[]): string {
  const [first = ''] = facts
  const room = SUBJECT_LENGTH - `, ${period}: ${first}`.length
  const start = `${oneLine(title, Math.max(TITLE_MIN, room))}, ${period}: `
  return facts.slice(1).reduce((line, fact) => {
    const longer = `${line}, ${fact}`
    return longer.length > SUBJECT_LENGTH ? line : longer
  }, start + first)
}

/** The names of the texts of a view that are addresses or file names on purpose. */
const LINKS: readonly string[] = ['url', 'moreUrl', 'light', 'dark', 'kind']

/** Breaks what mail programs would turn into a link in all texts of a view, because any may have a name in it. */
function unlinked<View>(view: View): View {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return withoutAutoLinks(value)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, LINKS.includes(name) ? each : walk(each)]),
    )
  }
  return walk(view) as View
}

/** The footer is all that differs between recipients. Without one (in the archive), nothing changes. */
export function addressReport(
  view: ReportView,
  { words }: LocaleContext,
  { recipient, unsubscribe }: Pick<BlockContext, 'recipient' | 'unsubscribe'>,
): ReportView {
  if (recipient === null) return view
  const sentTo = words('footer.recipient', { address: oneLine(recipient, 254) })
  const does = unsubscribe?.startsWith('mailto:') ? 'unsubscribe' : 'change'
  const link = unsubscribe === null ? null : { url: unsubscribe, text: words(`footer.${does}`) }
  return { ...view, footer: { lines: [...view.footer.lines, sentTo], unsubscribe: link } }
}

/** Adds the block that tells of old data and other warnings, if there are any, to blocks without it. */
function listBlocks(
  figures: ReportFigures,
  locale: LocaleContext,
  context: BlockContext,
): readonly BlockName[] {
  const { blocks } = context
  const [, ...warnings] = composeFreshness(figures, locale, context).lines
  const isNeeded = warnings.length > 0 || coverageOf(figures) !== 'whole'
  return isNeeded && !blocks.includes('freshness') ? [...blocks, 'freshness'] : blocks
}

/**
 * Most figures would be wrong before the first complete sync, and for a period from which no lead is known.
 * In these cases, only the core blocks appear.
 */
function isShown(name: BlockName, figures: ReportFigures): boolean {
  return blockOf(name).isAlwaysShown ?? !(figures.freshness.dataAsOf === null || isBeforeAll(figures))
}

/**
 * Composes a block. If the block fails, a box replaces it. If only its charts fail, a box is added below. `failed` has
 * the failures to compose texts, and none to read figures.
 */
function composeBlock(
  block: BlockName,
  figures: ReportFigures,
  locale: LocaleContext,
  context: BlockContext,
) {
  const isCore = blockOf(block).isCore ?? false
  const unread = figures.failed.find((each) => each.block === block && each.query === null)
  const box = (section: FailedSection) => composeFailed(section, figures, locale)
  if (unread !== undefined && !isCore) return { views: [box(unread)], failed: [] }
  const charts = [
    ...(unread === undefined ? [] : [unread]),
    ...context.failed.filter((each) => each.block === block),
  ]
  try {
    return {
      views: [
        ...composeBlockViews(block, figures, locale, context),
        ...charts.map((each) => composeFailedCharts(each, locale)),
      ],
      failed: [],
    }
  } catch (thrown) {
    if (isCore) throw thrown
    const section = { block, query: null, message: errorText(thrown) }
    return { views: [box(section)], failed: [section] }
  }
}

/** Returns the preview text, which adds to the subject: what to do, goals at risk, and two more figures. */
function preheaderOf(figures: ReportFigures, locale: LocaleContext, context: BlockContext): string {
  const [today] = composeToday(figures, locale, context)
  const [goals] = composeGoals(figures.insight?.pace ?? [], locale)
  const risks = goals?.goals.filter(({ tone }) => tone !== 'good' && tone !== '') ?? []
  const tiles = composeKpis(figures, locale).tiles.slice(2)
  const numbers = tiles.filter(({ value }) => value !== locale.words('none'))
  const parts = [
    today?.title ?? '',
    ...risks.map(({ name, state }) => `${name}: ${state}`),
    numbers.map(({ label, value }) => `${label}: ${value}`).join('; '),
  ]
  return parts.flatMap((part) => (part === '' ? [] : [`${part.replace(/\.$/, '')}.`])).join(' ')
}
