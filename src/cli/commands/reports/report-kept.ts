/** `leadsheet report NAME --diff` and `--as-sent`: of an issue that is kept, not of one made anew. */
import { resolve } from 'node:path'
import { dkimOf } from '../../../app/configured-mail.ts'
import { findReader, findReport, openTemplatesOf, reportOf } from '../../../app/configured-reports.ts'
import { openDataIfThere } from '../../../app/installation.ts'
import { tellDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { findPeriod } from '../../../jobs/reports/make-issue.ts'
import { reportAs } from '../../../jobs/reports/preferences.ts'
import type { FigureDifference } from '../../../jobs/reports/recompute-issue.ts'
import { compareIssue, type IssueComparison } from '../../../jobs/reports/recompute-issue.ts'
import { variantOf } from '../../../jobs/reports/report-definition.ts'
import { readVersion } from '../../../leadsheet.ts'
import type { DkimKey } from '../../../mail/dkim.ts'
import type { Period } from '../../../model.ts'
import type { Store } from '../../../store/db/store.ts'
import { type KeptMessage, listKeptMessages } from '../../../store/outbox/kept-messages.ts'
import { readMessage } from '../../../store/outbox/message.ts'
import { findIssue, type Issue, type IssueKey } from '../../../store/reports/issue.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { previewKind, writePreview } from './report-output.ts'

export interface KeptOptions {
  readonly at?: string
  readonly for?: string
  readonly preview?: string
  readonly diff?: boolean
  readonly asKnown?: boolean
  readonly asSent?: boolean
  readonly send?: boolean
  readonly testTo?: string
  readonly locale?: string
  readonly watch?: boolean
}

/** @throws LeadsheetError report_unknown, report_not_kept, usage_invalid */
export async function runKept(terminal: Terminal, name: string, options: KeptOptions): Promise<void> {
  refuseTogether(options)
  const config = await terminal.config()
  const settings = findReport(config, name)
  const { report: usual, recipients } = reportOf(
    settings,
    config,
    await openTemplatesOf(config, [settings.template]),
  )
  await using store = await openDataIfThere(config)
  const { for: recipient = null, preview = null } = options
  const report = await reportAs(store, usual, recipient)
  // Who is no recipient any more may still have a message.
  const reader = options.asSent
    ? (recipients.find(({ address }) => address === recipient) ?? report)
    : findReader(report, recipients, recipient)
  const at = options.at === undefined ? new Date() : new Date(options.at)
  const period = await findPeriod(store, report, at, reader)
  if (options.asSent) {
    const request = { report: name, period, recipient, preview, dkim: dkimOf(config.mail) }
    return await showAsSent(terminal, store, request)
  }
  const key = { report: name, period, variant: variantOf(report, reader) }
  await compareKept(terminal, store, key, options.asKnown === true)
}

function refuseTogether({ asSent, diff, asKnown, preview, send, testTo, locale, watch }: KeptOptions): void {
  const [mode, others] = asSent
    ? ['--as-sent', { '--diff': diff, '--as-known': asKnown }]
    : ['--diff', { '--preview': preview }]
  const given = { ...others, '--send': send, '--test-to': testTo, '--locale': locale, '--watch': watch }
  const other = Object.entries(given).find(([, value]) => value !== undefined)
  if (other) {
    throw new LeadsheetError('usage_invalid', `${mode} and ${other[0]} cannot be given together`, {
      hint: `${mode} is of what is kept; what is made or sent anew is looked at without it.`,
    })
  }
  if (asSent || diff) return
  throw new LeadsheetError('usage_invalid', '--as-known is given without --diff', {
    hint: 'It says with what the issue is compared: `--diff --as-known`.',
  })
}

/**
 * Ends partly where anything differs.
 * @param isAsKnown whether only what was known when it was made counts
 * @throws LeadsheetError report_not_kept
 */
async function compareKept(
  terminal: Terminal,
  store: Store,
  key: IssueKey,
  isAsKnown: boolean,
): Promise<void> {
  const issue = await findIssue(store.db, key)
  if (issue === undefined || issue.programVersion === null) throw notKept(key.report, key.period)
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
    Report: `${key.report}, ${tellDates(key.period)} (${key.period.timeZone})`,
    Subject: issue.subject,
    Made: `${formatInstant(issue.renderedAt)} by leadsheet ${issue.programVersion}`,
  })
  terminal.print('', verdictOf(comparison, issue))
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

/** What is the same or why it may not be. */
function verdictOf({ differences, leadsKnownLater }: IssueComparison, { programVersion }: Issue): string {
  if (differences.length === 0) return 'Every figure is as it was kept.'
  const reasons = [
    ...(leadsKnownLater > 0
      ? [`of ${leadsKnownLater} leads something of that time was read only after it was made`]
      : []),
    ...(programVersion === readVersion()
      ? []
      : ['another version of leadsheet made it, which may have counted otherwise']),
  ]
  const why =
    reasons.join('; ') ||
    'nothing of that time was read since, so a filter by columns as they are now, or a gone lead that came back, may be why'
  const count = differences.length === 1 ? '1 figure differs' : `${differences.length} figures differ`
  return `${count}: ${why}.`
}

function differenceOf({ kept, now }: FigureDifference): number | null {
  if (typeof kept !== 'number' || typeof now !== 'number') return null
  return now - kept
}

interface SentRequest extends Pick<IssueKey, 'report' | 'period'> {
  /** Null for the first of them. */
  readonly recipient: string | null
  /** A file to write it to. */
  readonly preview: string | null
  readonly dkim: DkimKey | null
}

/**
 * Who has a message; or one message to the byte as it went out, or is to, where a recipient or a file is given.
 * @throws LeadsheetError report_not_kept
 */
async function showAsSent(
  terminal: Terminal,
  store: Store,
  { report, period, recipient, preview, dkim }: SentRequest,
): Promise<void> {
  const messages = await listKeptMessages(store.db, report, period)
  const head = { report, period: periodJson(period) }
  if (recipient === null && preview === null) {
    if (messages.length === 0) throw notKept(report, period)
    if (terminal.json) return terminal.printJson({ ...head, messages: messages.map(messageJson) })
    return await printMessages(terminal, messages)
  }
  const kept = messages.find((message) => recipient === null || message.recipient === recipient)
  if (kept === undefined) throw notKept(report, period, recipient)
  const message = await readMessage(store.db, kept.messageId)
  if (preview !== null) await writePreview(preview, previewKind(preview), message, dkim)
  const { subject } = message
  const file = preview === null ? null : resolve(preview)
  const files = message.files.filter(({ cid }) => cid === null).map(({ name }) => name)
  if (terminal.json)
    return terminal.printJson({ ...head, ...messageJson(kept), subject, files, preview: file })
  await terminal.printFields({
    Report: `${report}, ${tellDates(period)} (${period.timeZone})`,
    To: kept.recipient,
    State: `${kept.state} ${formatInstant(kept.stateAt)}`,
    Answer: kept.response,
    Subject: subject,
    Files: files.join(', '),
    Preview: file,
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

function periodJson({ from, to, timeZone }: Period) {
  return { from, to, time_zone: timeZone }
}

function notKept(report: string, period: Period, recipient: string | null = null): LeadsheetError {
  const what = recipient === null ? `issue of ${report}` : `message of ${report} to ${recipient}`
  return new LeadsheetError('report_not_kept', `No ${what} for ${tellDates(period)} is kept`, {
    hint: `${shellCommand('issues')} lists those that are; --at says of which time, --for of whose leads.`,
  })
}
