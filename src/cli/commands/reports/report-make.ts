/**
 * `leadsheet report preview` and `send`: makes the report of a period, either to look at or to mail.
 */
import { type Command, InvalidArgumentError } from 'commander'
import { deliveryPolicyOf, dkimOf, openMail } from '../../../app/configured-mail.ts'
import {
  findAudience,
  findReport,
  openReportDeps,
  openTemplatesOf,
  reportOf,
} from '../../../app/configured-reports.ts'
import { openDataIfThere } from '../../../app/installation.ts'
import { type Config, requireMail } from '../../../config/config.ts'
import type { ReportConfig } from '../../../config/report-config.ts'
import { localeFault } from '../../../config/validators.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { messageFor } from '../../../jobs/outbox/compose-message.ts'
import { deliverIssues, sendTest } from '../../../jobs/outbox/send-due.ts'
import { enqueueReportNow } from '../../../jobs/reports/enqueue-report.ts'
import { requireGoodData } from '../../../jobs/reports/freshness-gate.ts'
import { contentsOfNow, findPeriod, makeIssue } from '../../../jobs/reports/make-issue.ts'
import { pauseRefused } from '../../../jobs/reports/preferences.ts'
import { tryReport, withoutPage } from '../../../jobs/reports/preview.ts'
import { contentsOf } from '../../../jobs/reports/report-content.ts'
import type { Audience, Recipient, Report } from '../../../jobs/reports/report-definition.ts'
import { addExamples, instant, showing } from '../../command.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { publishAfterwards } from '../analysis/snapshot.ts'
import { issuesResult, previewKind, writePreview } from './report-output.ts'

interface Options {
  readonly at?: string
  readonly for?: string
  readonly locale?: string
  readonly output?: string
  readonly to?: string
}

const AT = 'make the report as of this time: it covers the last whole period before (default: now)'

export function definePreview(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('preview')
    .description(
      'make a report without sending it: print its subject and page, write it to a file or mail it as a test',
    )
    .argument('<name>', 'name of a configured report, or of a folder of templates')
    .option('-o, --output <file>', 'write the report to a file: .html, .txt or .eml')
    .option('--to <address>', 'mail it to this address as a test, which does not count as sending it')
    .option('--for <address>', 'make the report as this recipient gets it')
    .option(
      '--locale <locale>',
      "language and format of numbers and dates, such as de-DE (default: the recipient's)",
      locale,
    )
    .option('--at <time>', AT, instant)
    .action(showing(terminal, makeOne))
  addExamples(command, [
    'report preview daily',
    'report preview daily -o daily.html',
    'report preview daily --to me@example.com',
    'report preview daily --for dana@example.com --locale de-DE -o daily.eml',
    'report preview daily --at 2026-11-20T07:00:00Z',
  ])
}

export function defineSend(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('send')
    .description('send a report to its recipients; nobody gets the same issue twice')
    .argument('<name>', 'name of the report')
    .option('--at <time>', AT, instant)
    .option('-f, --force', 'send the report even if its settings hold it because the data is old or odd')
    .action((name: string, options: SendOptions) => sendReport(terminal, name, options))
  addExamples(command, ['report send daily', 'report send daily --at 2026-11-20T07:00:00Z'])
}

/** Makes the report for one recipient, and writes it to a file or mails it to one address if asked. */
async function makeOne(terminal: Terminal, name: string, options: Options): Promise<Result> {
  const { output = null, to = null } = options
  const config = await terminal.config()
  const settings = findReport(config, name)
  if (to !== null) requireMail(config)
  const kind = output === null ? null : previewKind(output)
  const at = instantIn(options.at)
  const templates = await openTemplatesOf(config, [settings.template])
  const { report, recipients } = reportOf(settings, config, templates)
  const audience = audienceIn(options, report, recipients)
  await using store = await openDataIfThere(config)
  const deps = await openReportDeps(config, store, templates)
  // The report is tried for all recipients before it is mailed, because its blocks (parts) can differ from
  // recipient to recipient.
  await tryReport(deps, report, recipients, terminal.signal)
  const period = await findPeriod(store, report, at, audience)
  const { issue, page } = await makeIssue(deps, report, period, [audience], terminal.signal)
  const somebody = kind === '.eml' ? (recipients[0]?.address ?? deps.sender.from) : null
  const addressed = to ?? options.for ?? somebody
  const sender = to === null ? deps.sender : withoutPage(deps.sender)
  // A preview file or a test mail is made from the current data. If neither is asked for, the content of the
  // stored issue is shown.
  const isTried = kind !== null || to !== null
  const contents = isTried
    ? contentsOfNow({ ...deps, sender }, report, issue, [audience], terminal.signal)
    : contentsOf({ ...deps, sender }, report, issue)
  const content = await (await contents)(audience, addressed)
  if (isTried && issue.isEnqueued) {
    const sent = shellCommand(`report show ${report.name} -o sent.html`)
    terminal.note(
      `This report is made from the current data. The issue sent on ${issue.renderedAt.slice(0, 10)} is unchanged: ${sent}`,
    )
  }
  const revision = to === null ? 0 : deps.now().getTime()
  const message = messageFor(store, issue, addressee(addressed, recipients), content, sender, revision)
  if (output !== null) await writePreview(output, message, dkimOf(config.mail))

  const { notSent } = issue
  const { failed } = issue.figures
  const enqueuedIssues = [
    { issue: { ...issue, subject: content.subject }, page, notSent, messages: 0, failed },
  ]
  const made = { enqueuedIssues, preview: output, leftOut: [] }
  const lack = recipients.length === 0 ? recipientsHint(config, settings) : null
  if (to === null) return issuesResult(terminal, report, { ...made, deliveries: null, lack })
  await using transport = openMail(config, await terminal.log())
  const response = await sendTest({ transport }, message, terminal.signal)
  const test = { recipient: message.to, state: 'sent' as const, response, isNew: true }
  return issuesResult(terminal, report, { ...made, deliveries: [test] })
}

interface SendOptions {
  readonly at?: string
  readonly force?: boolean
}

/** @throws LeadsheetError config_missing, report_unknown, report_held, report_failed */
async function sendReport(terminal: Terminal, name: string, options: SendOptions): Promise<void> {
  const config = await terminal.config()
  const settings = findReport(config, name)
  requireMail(config)
  if (settings.recipients.length === 0) {
    throw new LeadsheetError('config_missing', `the report ${name} has no recipients`, {
      hint: recipientsHint(config, settings),
    })
  }
  const at = instantIn(options.at)
  const templates = await openTemplatesOf(config, [settings.template])
  const { report, recipients } = reportOf(settings, config, templates)
  await using store = await openDataIfThere(config)
  const deps = await openReportDeps(config, store, templates)
  await tryReport(deps, report, recipients, terminal.signal)
  if (!options.force) await requireGoodData(deps, report, recipients, at)

  const { enqueuedIssues, leftOut, archiveFault } = await enqueueReportNow(
    deps,
    report,
    recipients,
    at,
    terminal.signal,
  )
  const log = await terminal.log()
  await using transport = openMail(config, log)
  const issues = enqueuedIssues.map(({ issue }) => issue)
  const deliveries = await deliverIssues(
    { ...deps, transport, log, policy: deliveryPolicyOf(config) },
    issues,
    terminal.signal,
  )
  await pauseRefused({ ...deps, log, suppressAfterBounces: config.mail.suppressAfterBounces })
  terminal.show(issuesResult(terminal, report, { enqueuedIssues, preview: null, deliveries, leftOut }))
  await publishAfterwards(terminal, deps.store)
  // The error of the archive is thrown last. An earlier throw would keep the messages from being sent, and no
  // daemon would send the messages later.
  if (archiveFault !== null) throw archiveFault
  if (deliveries.some((one) => one.state !== 'sent' && one.state !== 'withdrawn')) {
    terminal.end(deliveries.some((one) => one.state === 'sent') ? 'partly' : 'failed')
  }
}

function recipientsHint({ reports }: Config, settings: ReportConfig): string {
  return reports.includes(settings)
    ? 'Set recipients (LEADSHEET_RECIPIENTS), or `recipients` of the report.'
    : 'Add the report to `reports` in the settings.'
}

/** @throws LeadsheetError usage_invalid if the time is in the future */
function instantIn(at: string | undefined): Date {
  const now = new Date()
  if (at === undefined || new Date(at) <= now) return at === undefined ? now : new Date(at)
  throw new LeadsheetError('usage_invalid', `--at ${at} is in the future`, {
    hint: 'Give a time in the past: the report covers the last whole period before it.',
  })
}

/** Returns the recipient of a message. The message of a preview may have no address. */
function addressee(address: string | null, recipients: readonly Recipient[]) {
  return recipients.find((one) => one.address === address) ?? { address: address ?? '', name: null }
}

/**
 * Returns the recipient that `--for` names. Without `--for`, returns the report, which has default values.
 */
function audienceIn(options: Options, report: Report, recipients: readonly Recipient[]): Audience {
  const { for: address = null, locale } = options
  const audience = findAudience(report, recipients, address)
  return locale === undefined ? audience : { ...audience, locale }
}

function locale(value: string): string {
  const fault = localeFault(value)
  if (fault !== null) throw new InvalidArgumentError(`Expected a locale such as en-GB or de-DE; ${fault}.`)
  return new Intl.Locale(value).toString()
}
