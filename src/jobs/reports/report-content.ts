/**
 * Renders an issue for each recipient: texts, charts and files. Charts are drawn once per language. Files and
 * views are made once for all recipients with the same locale, blocks and attachments. Only the footer
 * differs between these recipients.
 */

import type { FailedSection, ReportFigures } from '../../domain/figures.ts'
import type { MessageFile } from '../../domain/message.ts'
import type { Instant } from '../../domain/model.ts'
import { fitFiles, unsubscribeLink } from '../../mail/message.ts'
import { type ChartFile, drawCharts, findChart } from '../../report/charts/draw.ts'
import { chartLabels } from '../../report/charts/trend-layout.ts'
import { addressReport, composeReport } from '../../report/compose-report.ts'
import type { Resend } from '../../report/context.ts'
import { checkRendered, type Templates } from '../../report/render/templates.ts'
import { createLocaleContext, type LocaleContext, nameReport } from '../../report/words/locale-context.ts'
import type { Issue } from '../../store/reports/issue.ts'
import { type MailSender, type MessageContent, unsubscribeFor } from '../outbox/compose-message.ts'
import { type Attachment, makeAttachments } from './attachment.ts'
import type { Audience, Report } from './report-definition.ts'

export interface ContentDeps {
  readonly templates: Templates
  readonly maxBytes: number
  readonly sender: Pick<MailSender, 'unsubscribe'>
  readonly dashboardUrl?: string | null
}

interface IssueContent extends MessageContent {
  /** Left out because the message would become too large, which names them. */
  readonly leftOut: readonly MessageFile[]
  readonly failed: readonly FailedSection[]
}

/**
 * Renders the issue for one recipient.
 * @param recipient the address; null renders the version of the archive
 * @param resend given if the recipient already had a message of this issue
 * @throws LeadsheetError report_template, report_failed
 */
export type FindContent = (
  audience: Audience,
  recipient: string | null,
  resend?: Resend | null,
) => Promise<IssueContent>

const MEGABYTE = 1_000_000

/**
 * An issue of an older program version has figures of another format, so everyone gets the stored content.
 */
export function contentsOf(deps: ContentDeps, report: Report, issue: Issue): FindContent {
  if (issue.programVersion !== null) return createContents(deps, report, issue)
  const { subject, text } = issue
  // The charts of that time are not stored, so their places go.
  const html = issue.html.replace(/<img\b[^<>]*>/g, (tag) => (tag.includes(' src="cid:') ? '' : tag))
  return async () => ({
    subject,
    html,
    text,
    lang: 'en',
    files: [],
    notAttached: '',
    leftOut: [],
    failed: [],
  })
}

export function createContents(
  deps: ContentDeps,
  report: Report,
  issue: { readonly figures: ReportFigures; readonly renderedAt: Instant },
): FindContent {
  const { figures, renderedAt } = issue
  const pictures = new Map<string, ReturnType<typeof drawCharts>>()
  const views = new Map<string, ReturnType<typeof compose>>()
  const draw = (locale: LocaleContext) =>
    once(pictures, locale.tag, () => drawCharts(figures, chartLabels(locale)))
  const compose = async (
    audience: Audience,
    locale: LocaleContext,
    isMail: boolean,
    resend: Resend | null,
  ) => {
    const { files: charts, failed } = await draw(locale)
    const notMade = audience.attachments.filter((name) => isOfFailed(name, [...figures.failed, ...failed]))
    const { name, leadUrl } = report
    const attachments = await makeAttachments(
      audience.attachments.filter((each) => !notMade.includes(each)),
      { report: name, figures, charts, locale, leadUrl },
    )
    const shown = charts.map(pictureOf)
    const { left } = fitFiles([...shown, ...attachments.map(({ file }) => file)], deps.maxBytes)
    const kept = attachments.filter(({ file }) => !left.includes(file))
    const view = composeReport(figures, locale, {
      title: report.title ?? nameReport(report.name, locale),
      blocks: audience.blocks,
      leadUrl: report.leadUrl,
      moreUrl: isMail ? moreUrlOf(deps, report) : null,
      chart: findChart(charts, (name) => `cid:${cidOf(name)}`),
      attached: attachedLists(kept),
      leftOut: left.map(({ name, content }) => ({ name, megabytes: content.length / MEGABYTE })),
      notMade,
      failed,
      resend,
      recipient: null,
      unsubscribe: null,
    })
    return { view, shown, left, files: kept.map(({ file }) => file) }
  }
  return async (audience, recipient, resend = null) => {
    const locale = createLocaleContext(audience.locale, audience.timeZone, renderedAt)
    const isMail = recipient !== null
    const shared = [locale.tag, locale.timeZone, audience.blocks, audience.attachments, isMail, resend]
    const composed = await once(views, JSON.stringify(shared), () =>
      compose(audience, locale, isMail, resend),
    )
    const { shown, left, files } = composed
    const unsubscribe =
      recipient && unsubscribeLink(unsubscribeFor(deps.sender, report.name, recipient), report.name)
    const view = addressReport(composed.view, locale, { recipient, unsubscribe })
    const rendered = deps.templates.render(report.template, view)
    checkRendered(rendered, view, report.name)
    const used = shown.filter(({ cid }) => rendered.html.includes(`cid:${cid}`))
    const lang = new Intl.Locale(audience.locale).language
    const notAttached = locale.words('freshness.notAttached')
    return { ...rendered, lang, files: [...used, ...files], notAttached, leftOut: left, failed: view.failed }
  }
}

export async function drawPictures(figures: ReportFigures, locale: LocaleContext): Promise<MessageFile[]> {
  const { files } = await drawCharts(figures, chartLabels(locale))
  return files.map(pictureOf)
}

function moreUrlOf({ dashboardUrl = null }: ContentDeps, { name }: Report): string | null {
  return dashboardUrl === null ? null : `${dashboardUrl}/archive?report=${encodeURIComponent(name)}`
}

function isOfFailed(attachment: string, failed: readonly FailedSection[]): boolean {
  const list = attachment === 'charts' ? 'trend' : attachment.replace(/\.\w+$/, '')
  return failed.some(({ block, query }) => (query ?? block) === list)
}

/** If a list is attached in two formats, the first is used. */
function attachedLists(attachments: readonly Attachment[]): ReadonlyMap<string, string> {
  return new Map(attachments.toReversed().map(({ of, file }) => [of, file.name]))
}

function once<T>(made: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = made.get(key) ?? make()
  made.set(key, known)
  return known
}

function pictureOf({ name, content }: ChartFile): MessageFile {
  return { name, contentType: 'image/png', content, cid: cidOf(name) }
}

/** Converts `trend-light.png` to `trend-light@leadsheet`, the format of a Content-ID (RFC 2392). */
function cidOf(name: string): string {
  return `${name.replace(/\.png$/, '')}@leadsheet`
}
