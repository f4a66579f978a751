/** `leadsheet report compare` and `show`: reads a stored issue (a report made for a period). */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { dkimOf } from '../../../app/configured-mail.ts'
import { findAudience, findReport, openTemplatesOf, reportOf } from '../../../app/configured-reports.ts'
import { openDataToRead } from '../../../app/installation.ts'
import type { Period } from '../../../domain/model.ts'
import { formatDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { findPeriod } from '../../../jobs/reports/make-issue.ts'
import { reportAs } from '../../../jobs/reports/preferences.ts'
import type { FigureDifference } from '../../../jobs/reports/recompute-issue.ts'
import { compareIssue, type IssueComparison } from '../../../jobs/reports/recompute-issue.ts'
import { variantOf } from '../../../jobs/reports/report-definition.ts'
import type { DkimKey } from '../../../mail/message.ts'
import { readVersion } from '../../../packages.ts'
import type { Store } from '../../../store/db/store.ts'
import { type KeptMessage, listKeptMessages } from '../../../store/outbox/kept-messages.ts'
import { readMessage } from '../../../store/outbox/stored-message.ts'
import { findIssue, type Issue, type IssueKey } from '../../../store/reports/issue.ts'
import { addExamples, instant } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { periodJson } from './outbox.ts'
import { previewKind, writePreview } from './report-output.ts'

const AT = 'use the last issue made by this time (default: now)'

interface KeptOptions {
  readonly at?: string
  readonly for?: string
}

export function defineCompare(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('compare')
    .description('compare the figures of a kept issue with the current data')
    .argument('<name>', 'name of the report')
    .option('--at <time>', AT, instant)
    .option('--for <address>', 'use the issue that this recipient got')
    .option('--as-known', 'compare with figures computed only from the data known when the issue was made')
    .action((name: string, options: KeptOptions & { asKnown?: boolean }) =>
      runCompare(terminal, name, options, options.asKnown === true),
    )
  addExamples(command, [
    'report compare daily',
    'report compare daily --at 2026-11-20T07:00:00Z --as-known --json',
  ])
}

export function defineShow(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('show')
    .description('show who got a kept issue; with --for or --output, show one mail as it was sent')
    .argument('<name>', 'name of the report')
    .option('--at <time>', AT, instant)
    .option('--for <address>', 'show the mail to this recipient')
    .option('-o, --output <file>', 'write the mail to a file: .html, .txt or .eml')
    .action((name: string, options: KeptOptions & { output?: string }) => runShow(terminal, name, options))
  addExamples(command, [
    'report show daily',
    'report show daily --at 2026-11-20T07:00:00Z --for dana@example.com -o sent.eml',
  ])
}

/** @throws LeadsheetError report_unknown, report_not_kept, report_unreadable, usage_invalid */
async function runCompare(
  terminal: Terminal,
  name: string,
  options: KeptOptions,
  isAsKnown: boolean,
): Promise<void> {
  const { for: recipient = null } = options
  const { usual, recipients, config } = await readDefinition(terminal, name)
  await using store = await openDataToRead(config)
  const report = await reportAs(store, usual, recipient)
  const audience = findAudience(report, recipients, recipient)
  const period = await findPeriod(store, report, momentOf(options.at), audience)
  await compareKept(
    terminal,
    store,
    { report: name, period, variant: variantOf(report, audience) },
    isAsKnown,
  )
}

/** @throws LeadsheetError report_unknown, report_not_kept */
async function runShow(
  terminal: Terminal,
  name: string,
  options: KeptOptions & { readonly output?: string },
): Promise<void> {
  const { for: recipient = null, output = null } = options
  const { usual, recipients, config } = await readDefinition(terminal, name)
  await using store = await openDataToRead(config)
  const report = await reportAs(store, usual, recipient)
  // A message may exist for an address that the settings no longer list. In this case, the default values of
  // the report are used.
  const audience = recipients.find(({ address }) => address === recipient) ?? report
  const period = await findPeriod(store, report, momentOf(options.at), audience)
  await showAsSent(terminal, store, { report: name, period, recipient, output, dkim: dkimOf(config.mail) })
}

async function readDefinition(terminal: Terminal, name: string) {
  const config = await terminal.dataConfig()
  const settings = findReport(config, name)
  const templates = await openTemplatesOf(config, [settings.template])
  const { report: usual, recipients } = reportOf(settings, config, templates)
  return { config, usual, recipients }
}

function momentOf(at: string | undefined): Date {
  return at === undefined ? new Date() : new Date(at)
}

/**
 * Prints the differences between the figures of a stored issue and the same figures counted now. If there is
 * any difference, the command ends as `partly`, with exit status 3.
 * @param isAsKnown true ignores data that was read after the issue was made
 * @throws LeadsheetError report_not_kept, report_unreadable
 */
async function compareKept(
  terminal: Terminal,
  store: Store,
  key: IssueKey,
  isAsKnown: boolean,
): Promise<void> {
  const issue = await findIssue(store.db, key)
  if (issue === undefined) throw notKept(key.report, key.period)
  if (issue.programVersion === null) {
    const what = `The issue of ${key.report} for ${formatDates(key.period)}`
    throw new LeadsheetError(
      'report_unreadable',
      `${what} cannot be compared: its figures are damaged, or another version of leadsheet made them`,
      {
        hint: `${shellCommand(`report show ${key.report} --at ${key.period.to} -o sent.html`)} writes its mail as it was sent.`,
      },
    )
  }
  const comparison = await compareIssue(store, issue, isAsKnown)
  const { differences, leadsKnownLater } = comparison
  if (differences.length > 0) terminal.end('partly')
  if (terminal.json) {
    const { subject, renderedAt, programVersion } = issue
    terminal.printJson({
      ...{
        report: key.report,
        period: periodJson(key.period),
        subject,
        made_at: renderedAt,
        made_by: programVersion,
      },
      ...{ leads_known_later: leadsKnownLater, differences },
    })
    return
  }
  await terminal.printFields({
    Report: `${key.report}, ${formatDates(key.period)} (${key.period.timeZone})`,
    Subject: issue.subject,
    Made: `${formatInstant(issue.renderedAt)} by leadsheet ${issue.programVersion}`,
  })
  terminal.print('', conclusionOf(comparison, issue))
  if (differences.length === 0) return
  terminal.print('')
  await terminal.printTable<FigureDifference>(
    [
      { title: 'FIGURE', value: ({ figure }) => figure, isWhole: true },
      { title: 'KEPT', value: ({ kept }) => kept },
      { title: 'NOW', value: ({ now }) => now },
      { title: 'DIFFERENCE', value: differenceOf },
    ],
    differences,
  )
}

/** Says that all figures are the same, or why they may differ. */
function conclusionOf({ differences, leadsKnownLater }: IssueComparison, { programVersion }: Issue): string {
  if (differences.length === 0) return 'All figures are unchanged.'
  const reasons = [
    ...(leadsKnownLater > 0
      ? [`data of that time was read for ${leadsKnownLater} leads after the issue was made`]
      : []),
    ...(programVersion === readVersion()
      ? []
      : ['another version of leadsheet made the issue and may count differently']),
  ]
  const why =
    reasons.join('; ') ||
    'no data of that time was read since; a filter on current columns, or a deleted lead that came back, may be the reason'
  const count = differences.length === 1 ? '1 figure differs' : `${differences.length} figures differ`
  return `${count}: ${why}.`
}

function differenceOf({ kept, now }: FigureDifference): number | null {
  if (typeof kept !== 'number' || typeof now !== 'number') return null
  return now - kept
}

interface SentRequest extends Pick<IssueKey, 'report' | 'period'> {
  /** The recipient whose message is shown; null for the first message. */
  readonly recipient: string | null
  /** The file to write the message to; null to write no file. */
  readonly output: string | null
  readonly dkim: DkimKey | null
}

/**
 * Lists the messages of an issue. If a recipient or a file is given, shows one message exactly as it was sent
 * or will be sent.
 * @throws LeadsheetError report_not_kept
 */
async function showAsSent(
  terminal: Terminal,
  store: Store,
  { report, period, recipient, output, dkim }: SentRequest,
): Promise<void> {
  const messages = await listKeptMessages(store.db, report, period)
  const head = { report, period: periodJson(period) }
  if (recipient === null && output === null) {
    if (messages.length === 0) throw notKept(report, period)
    if (terminal.json) return terminal.printJson({ ...head, messages: messages.map(messageJson) })
    return await printMessages(terminal, messages)
  }
  const kept = messages.find((message) => recipient === null || message.recipient === recipient)
  if (kept === undefined) throw notKept(report, period, recipient)
  const message = await readMessage(store.db, kept.messageId)
  if (output !== null) await writePreview(output, previewKind(output), message, dkim)
  const { subject } = message
  const file = output === null ? null : resolve(output)
  const files = message.files.filter(({ cid }) => cid === null).map(({ name }) => name)
  if (terminal.json)
    return terminal.printJson({ ...head, ...messageJson(kept), subject, files, output: file })
  await terminal.printFields({
    Report: `${report}, ${formatDates(period)} (${period.timeZone})`,
    To: kept.recipient,
    State: `${kept.state} ${formatInstant(kept.stateAt)}`,
    Answer: kept.response,
    Subject: subject,
    Files: files.join(', '),
    Output: file,
  })
}

function printMessages(terminal: Terminal, messages: readonly KeptMessage[]): Promise<void> {
  return terminal.printTable<KeptMessage>(
    [
      { title: 'RECIPIENT', value: ({ recipient }) => recipient, isWhole: true },
      { title: 'STATE', value: ({ state }) => state, isWhole: true },
      { title: 'SINCE', value: ({ stateAt }) => formatInstant(stateAt), isWhole: true },
      { title: 'ANSWER', value: ({ response }) => response },
    ],
    messages,
  )
}

function messageJson({ recipient, messageId, state, stateAt, response }: KeptMessage) {
  return { recipient, message_id: messageId, state, state_at: stateAt, response }
}

function notKept(report: string, period: Period, recipient: string | null = null): LeadsheetError {
  const what = recipient === null ? `issue of ${report}` : `message of ${report} to ${recipient}`
  return new LeadsheetError('report_not_kept', `No ${what} for ${formatDates(period)} is kept`, {
    hint: `${shellCommand('report history')} lists what is kept; --at chooses the time, --for the recipient.`,
  })
}
