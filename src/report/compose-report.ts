/** Composes all texts of a report once, so that subject, HTML and plain text agree. */

import type { BlockName } from '../domain/choices.ts'
import type { FailedSection, ReportFigures } from '../domain/figures.ts'
import { errorText } from '../errors.ts'
import { composeHeadline, isQuiet } from './blocks/headline/view.ts'
import { composeKpis } from './blocks/kpis/view.ts'
import { type BlockView, blockOf, composeBlockViews } from './blocks/registry.ts'
import type { BlockContext } from './context.ts'
import { isBeforeAll } from './context.ts'
import { composeFailed, composeFailedCharts, type FailedView } from './failed-blocks.ts'
import { type BannerView, composeBanner, markOf } from './warnings-banner.ts'
import { oneLine, withoutAutoLinks } from './words/clean-text.ts'
import { namePeriod } from './words/dates.ts'
import type { LocaleContext } from './words/locale-context.ts'

/** The view that a template gets; `kind` is the name of the template. */
export type View = BlockView | FailedView

export interface ReportContext extends BlockContext {
  readonly blocks: readonly BlockName[]
}

export interface ReportView {
  /** The language, BCP 47. */
  readonly lang: string
  readonly dir: string
  readonly title: string
  readonly period: { readonly long: string; readonly short: string }
  readonly summary: string
  /** The text that a mail client shows after the subject in the list of mails. */
  readonly preheader: string
  /** The mark at the start of the subject if data is old or unusual; otherwise empty. */
  readonly mark: string
  /** The warnings above the report; null if there are none. */
  readonly banner: BannerView | null
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

export function composeReport(
  figures: ReportFigures,
  locale: LocaleContext,
  context: ReportContext,
): ReportView {
  const { words } = locale
  const title = oneLine(context.title, TITLE_LENGTH)
  const names = namePeriod(locale.tag, figures.kind, figures.period)
  const headline = composeHeadline(figures, locale, context)
  const wanted = context.blocks.filter(
    (name) => isShown(name, figures) || figures.failed.some(({ block }) => block === name),
  )
  const made = wanted.map((name) => composeBlock(name, figures, locale, context))
  const blocks = made.flatMap((each) => each.views)
  const failed = [...figures.failed, ...context.failed, ...made.flatMap((each) => each.failed)]
  const banner = composeBanner(figures, failed, locale, context)
  const [first = ''] = banner?.lines ?? []
  const view = {
    lang: locale.tag,
    dir: words('direction'),
    title,
    period: { long: words('period.long', { ...names }), short: words('period.short', { ...names }) },
    summary: headline.subject,
    preheader: `${first} ${preheaderOf(headline.text, figures, locale, context)}`.trim(),
    mark: markOf(figures, locale),
    banner,
    failed,
    blocks,
    block: Object.fromEntries(blocks.map((block) => [block.kind, block])),
    moreUrl: context.moreUrl ?? '',
    footer: { lines: [footerLine(figures, locale)], unsubscribe: null },
  }
  return addressReport({ ...unlinked(view), failed }, locale, context)
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
  { recipient, unsubscribe }: Pick<ReportContext, 'recipient' | 'unsubscribe'>,
): ReportView {
  if (recipient === null) return view
  const sentTo = words('footer.recipient', { address: oneLine(recipient, 254), title: view.title })
  const does = unsubscribe?.startsWith('mailto:') ? 'unsubscribe' : 'change'
  const link = unsubscribe === null ? null : { url: unsubscribe, text: words(`footer.${does}`) }
  return { ...view, footer: { lines: [...view.footer.lines, sentTo], unsubscribe: link } }
}

/**
 * Decides whether a block is shown. Most figures would be wrong before the first complete sync, and for a
 * period from which no lead is known. In these cases, only blocks that are always shown appear. A quiet
 * report leaves out blocks that would repeat the last report.
 */
function isShown(name: BlockName, figures: ReportFigures): boolean {
  const { isShown: when } = blockOf(name)
  if (figures.freshness.dataAsOf === null || isBeforeAll(figures)) return when === 'always'
  return when !== 'unless quiet' || !isQuiet(figures)
}

interface MadeBlock {
  readonly views: readonly View[]
  /** The failures to compose texts. Failures to read figures are not in this list. */
  readonly failed: readonly FailedSection[]
}

/** Composes a block. If the block fails, a box replaces it. If only its charts fail, a box is added below. */
function composeBlock(
  block: BlockName,
  figures: ReportFigures,
  locale: LocaleContext,
  context: ReportContext,
): MadeBlock {
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

/** Returns the preheader, which has the headline and two figures that are not in the subject. */
function preheaderOf(
  headline: string,
  figures: ReportFigures,
  locale: LocaleContext,
  context: ReportContext,
): string {
  const numbers = composeKpis(figures, locale, context)
    .tiles.slice(2)
    .map(({ label, value, change }) => `${label} ${value}${change ? `, ${change}` : ''}`)
  return `${headline} ${numbers.join('; ')}.`
}

function footerLine({ freshness, leads }: ReportFigures, { words, dates, timeZone }: LocaleContext): string {
  const { dataAsOf, runId, requests } = freshness
  return [
    words('footer.dataAsOf', { at: dataAsOf && dates.instant(dataAsOf) }),
    words('footer.leads', { n: leads }),
    ...(runId === null ? [] : [words('footer.run', { id: oneLine(runId, 40), requests })]),
    words('footer.zone', { name: timeZone }),
  ].join(' · ')
}
