/** `leadsheet report show`: lists the kept issues (reports made for a period), or shows who got one, and its mail. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { dkimOf } from '../../../app/configured-mail.ts'
import { findReport, openTemplatesOf, reportOf } from '../../../app/configured-reports.ts'
import { openDataToRead } from '../../../app/installation.ts'
import type { Period } from '../../../domain/model.ts'
import { inSnakeCase } from '../../../domain/names.ts'
import { formatDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { issueState, variantText } from '../../../jobs/archive/archive.ts'
import { findPeriod } from '../../../jobs/reports/make-issue.ts'
import type { Delivery } from '../../../store/outbox/delivery.ts'
import { findDeliveries } from '../../../store/outbox/delivery-problems.ts'
import { readMessage } from '../../../store/outbox/stored-message.ts'
import { type ListedIssue, listIssues } from '../../../store/reports/issue-list.ts'
import { addExamples, instant, showing, wholeNumber } from '../../command.ts'
import { fields, formatInstant, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { periodJson } from './outbox.ts'
import { writePreview } from './report-output.ts'

const LIMIT_DEFAULT = 50

interface ShowOptions {
  readonly list?: boolean
  readonly limit: number
  readonly at?: string
  readonly for?: string
  readonly output?: string
}

export function defineShow(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('show')
    .description(
      'list the kept issues; of one report, show who got its last issue, or one mail as it was sent',
    )
    .argument('[name]', 'name of the report (default: list the issues of all reports)')
    .option('--list', 'list the kept issues of the report, newest first')
    .option('--limit <number>', 'most issues to list', wholeNumber(1, 1_000_000), LIMIT_DEFAULT)
    .option('--at <time>', 'use the last issue made by this time (default: now)', instant)
    .option('--for <address>', 'show the mail to this recipient')
    .option('-o, --output <file>', 'write the mail to a file: .html, .txt or .eml')
    .action(showing(terminal, showIssues))
  addExamples(command, [
    'report show',
    'report show daily',
    'report show daily --list',
    'report show daily --at 2026-11-20T07:00:00Z --for dana@example.com -o sent.eml',
  ])
}

function showIssues(terminal: Terminal, name: string | undefined, options: ShowOptions): Promise<Result> {
  return name === undefined || options.list
    ? findIssues(terminal, name ?? null, options.limit)
    : findIssue(terminal, name, options)
}

async function findIssues(terminal: Terminal, report: string | null, limit: number): Promise<Result> {
  await using store = await openDataToRead(await terminal.dataConfig())
  const issues = await listIssues(store.db, report, limit)
  const which = report === null ? 'No issue' : `No issue of ${JSON.stringify(report)}`
  const none = `${which} has been made yet: make one with ${shellCommand(`report preview ${report ?? 'daily'}`)}.`
  return {
    data: issues.map(issueJson),
    text: [
      table(issues, [
        { title: 'REPORT', value: (issue) => issue.report },
        { title: 'PERIOD', value: ({ period }) => formatDates(period) },
        { title: 'LEADS', value: ({ variant }) => variantText(variant) ?? 'all' },
        { title: 'STATE', value: issueState },
        { title: 'MADE', value: ({ renderedAt }) => formatInstant(renderedAt) },
        { title: 'SUBJECT', value: ({ subject }) => subject },
      ]),
    ],
    notes: issues.length === 0 ? [none] : [],
  }
}

export function issueJson(issue: ListedIssue) {
  return {
    report: issue.report,
    period: periodJson(issue.period),
    filter: issue.variant === '' ? null : inSnakeCase(JSON.parse(issue.variant)),
    subject: issue.subject,
    made_at: issue.renderedAt,
    made_by: issue.programVersion,
    not_sent: issue.notSent,
    messages: issue.messages,
    copies: issue.copies,
  }
}

function messageJson({ messageId, recipient, state, stateAt, response }: Delivery) {
  return { message_id: messageId, recipient, state, state_at: stateAt, response }
}

/** @throws LeadsheetError report_unknown, report_not_kept */
async function findIssue(terminal: Terminal, name: string, options: ShowOptions): Promise<Result> {
  const { at, for: recipient = null, output = null } = options
  const config = await terminal.dataConfig()
  const settings = findReport(config, name)
  const templates = await openTemplatesOf(config, [settings.template])
  const { report, recipients } = reportOf(settings, config, templates)
  await using store = await openDataToRead(config)
  // A message may exist for an address that the settings no longer list. In this case, the default values of
  // the report are used.
  const audience = recipients.find(({ address }) => address === recipient) ?? report
  const period = await findPeriod(store, report, at === undefined ? new Date() : new Date(at), audience)
  const messages = await findDeliveries(store.db, { report: name, period }, Number.MAX_SAFE_INTEGER)
  const head = { report: name, period: periodJson(period) }
  if (recipient === null && output === null) {
    if (messages.length === 0) throw notKept(name, period)
    return {
      data: { ...head, messages: messages.map(messageJson) },
      text: [
        table(messages, [
          { title: 'RECIPIENT', value: (message) => message.recipient },
          { title: 'STATE', value: ({ state }) => state },
          { title: 'SINCE', value: ({ stateAt }) => formatInstant(stateAt) },
          { title: 'ANSWER', value: ({ response }) => response },
        ]),
      ],
    }
  }
  const kept = messages.find((message) => recipient === null || message.recipient === recipient)
  if (kept === undefined) throw notKept(name, period, recipient)
  const message = await readMessage(store.db, kept.messageId)
  if (output !== null) await writePreview(output, message, dkimOf(config.mail))
  const { subject } = message
  const file = output === null ? null : resolve(output)
  const files = message.files.filter(({ cid }) => cid === null).map((attached) => attached.name)
  return {
    data: { ...head, ...messageJson(kept), subject, files, output: file },
    text: [
      fields({
        Report: `${name}, ${formatDates(period)} (${period.timeZone})`,
        To: kept.recipient,
        State: `${kept.state} ${formatInstant(kept.stateAt)}`,
        Answer: kept.response,
        Subject: subject,
        Files: files.join(', '),
        Output: file,
      }),
    ],
  }
}

function notKept(report: string, period: Period, recipient: string | null = null): LeadsheetError {
  const what = recipient === null ? `issue of ${report}` : `message of ${report} to ${recipient}`
  return new LeadsheetError('report_not_kept', `No ${what} for ${formatDates(period)} is kept`, {
    hint: `${shellCommand('report show')} lists what is kept; --at chooses the time, --for the recipient.`,
  })
}
