/** `leadsheet report show`: shows who got a stored issue (a report made for a period), and its mail. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { dkimOf } from '../../../app/configured-mail.ts'
import { findReport, openTemplatesOf, reportOf } from '../../../app/configured-reports.ts'
import { openDataToRead } from '../../../app/installation.ts'
import type { Period } from '../../../domain/model.ts'
import { formatDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { findPeriod } from '../../../jobs/reports/make-issue.ts'
import { reportAs } from '../../../jobs/reports/preferences.ts'
import type { DkimKey } from '../../../mail/message.ts'
import type { Store } from '../../../store/db/store.ts'
import { type KeptMessage, listKeptMessages } from '../../../store/outbox/kept-messages.ts'
import { readMessage } from '../../../store/outbox/stored-message.ts'
import type { IssueKey } from '../../../store/reports/issue.ts'
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
