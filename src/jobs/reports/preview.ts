/** Tries a report with made-up figures before it is used, and sends it as a test to one address. */
import type { ReportFigures } from '../../domain/figures.ts'
import { periodOf, priorOf } from '../../domain/period.ts'
import type { Transport } from '../../mail/transport.ts'
import { composeReport } from '../../report/compose-report.ts'
import { checkRendered, type Templates } from '../../report/render/templates.ts'
import { emptyFigures, sampleFigures, sampleTable } from '../../report/sample.ts'
import { createLocaleContext, nameReport } from '../../report/words/locale-context.ts'
import { tryReportQueries } from '../../store/queries/report-query.ts'
import { HOUR_MS } from '../../time.ts'
import { type MailSender, messageFor } from '../outbox/compose-message.ts'
import { sendTest } from '../outbox/send-due.ts'
import { type SnapshotPlace, withSnapshotSchema } from '../snapshot/publish-snapshot.ts'
import type { ReportDeps } from './enqueue-report.ts'
import { contentsOfNow, findPeriod, makeIssue } from './make-issue.ts'
import type { Recipient, Report } from './report-definition.ts'

/**
 * Checks that a report could be sent: that its SQL is valid, and that its templates can render both full and
 * empty figures.
 * @param deps.publishing says where the snapshot is, from which only the schema is read
 * @throws LeadsheetError report_template, report_failed, query_failed
 */
export async function tryReport(
  { templates, ...deps }: TrialDeps,
  report: Report,
  recipients: readonly Recipient[],
  signal: AbortSignal,
): Promise<void> {
  const { figures, renderedAt } = await makeUp(deps, report, signal)
  const locale = createLocaleContext(report.locale, report.timeZone, renderedAt)
  for (const each of [figures, emptyFigures(figures)]) {
    const view = composeReport(each, locale, {
      title: report.title ?? nameReport(report.name, locale),
      recipient: null,
      blocks: [...new Set([report, ...recipients].flatMap(({ blocks }) => blocks))],
      leadUrl: report.leadUrl,
      chart: null,
      attached: new Map(),
      leftOut: [],
      notMade: [],
      failed: [],
      resend: null,
      moreUrl: null,
      unsubscribe: null,
    })
    checkRendered(templates.render(report.template, view), view, report.name)
  }
}

interface TrialDeps {
  readonly templates: Templates
  readonly publishing: SnapshotPlace
  readonly now: () => Date
}

/**
 * Makes sample figures. The time of rendering is one hour after the time at which the figures were read, so
 * that the figures do not count as old.
 */
async function makeUp(
  { publishing, now }: Pick<TrialDeps, 'publishing' | 'now'>,
  report: Report,
  signal: AbortSignal,
): Promise<{ readonly figures: ReportFigures; readonly renderedAt: string }> {
  const { kind, timeZone, stalledDays, topScore } = report
  const tables =
    report.queries.length === 0
      ? []
      : await withSnapshotSchema(publishing, (file) => tryReportQueries(file, report.queries, { signal }))
  const period = periodOf(kind, now(), timeZone, { ...report, lastEnd: null })
  const prior = priorOf(kind, period)
  const figures = sampleFigures({
    kind,
    period,
    prior,
    stalledDays,
    topScore,
    queries: tables.map(sampleTable),
  })
  const readAt = Date.parse(figures.freshness.dataAsOf ?? period.to)
  return { figures, renderedAt: new Date(readAt + HOUR_MS).toISOString() }
}

/**
 * Sends the report with the present data to a single address.
 * @param address the address of a recipient, who gets the report with their own settings, or any other
 *   address, which gets the report as defined
 * @returns the Message-ID, and the answer of the mail server
 * @throws LeadsheetError report_no_data, report_failed, report_template, mail_unreachable, mail_rejected
 */
export async function sendTestReport(
  deps: ReportDeps & { readonly transport: Transport },
  report: Report,
  recipients: readonly Recipient[],
  address: string,
  signal: AbortSignal,
): Promise<{ readonly messageId: string; readonly response: string }> {
  const recipient = recipients.find((one) => one.address === address)
  const audience = recipient ?? report
  const period = await findPeriod(deps.store, report, deps.now(), audience)
  const { issue } = await makeIssue(deps, report, period, [audience], signal)
  const sender = withoutPage(deps.sender)
  const findContent = await contentsOfNow({ ...deps, sender }, report, issue, [audience], signal)
  const content = await findContent(audience, address)
  const to = { address, name: recipient?.name ?? null }
  const message = messageFor(deps.store, issue, to, content, sender, deps.now().getTime())
  return { messageId: message.messageId, response: await sendTest(deps, message, signal) }
}

/**
 * Removes the unsubscribe page, so that nobody is unsubscribed by a click on the button of a test message.
 */
export function withoutPage(sender: MailSender): MailSender {
  return { ...sender, unsubscribe: { ...sender.unsubscribe, pageOf: null } }
}
