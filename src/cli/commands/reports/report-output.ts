/** Prints issues and sent messages for the `leadsheet report` commands, and writes preview files. */
import { writeFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import type { Message } from '../../../domain/message.ts'
import { formatDates } from '../../../domain/period.ts'
import { faultText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { variantText } from '../../../jobs/archive/archive.ts'
import type { DeliverySummary } from '../../../jobs/outbox/send-due.ts'
import type { EnqueuedIssue } from '../../../jobs/reports/enqueue-report.ts'
import type { LeftOut } from '../../../jobs/reports/preferences.ts'
import type { Report } from '../../../jobs/reports/report-definition.ts'
import type { DkimKey } from '../../../mail/message.ts'
import { buildMessage } from '../../../mail/message.ts'
import { withPictures } from '../../../report/archive/page.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { periodJson, wordOf } from './outbox.ts'

const PREVIEWS = ['.html', '.txt', '.eml'] as const
type PreviewKind = (typeof PREVIEWS)[number]

interface Output {
  readonly enqueuedIssues: readonly EnqueuedIssue[]
  readonly preview: string | null
  /** The results of sending, one for each message; null if nothing was to be sent. */
  readonly deliveries: readonly DeliverySummary[] | null
  readonly leftOut: readonly LeftOut[]
}

/** @throws LeadsheetError usage_invalid if the file has another extension */
export function previewKind(file: string): PreviewKind {
  const kind = PREVIEWS.find((extension) => extension === extname(file).toLowerCase())
  if (kind) return kind
  throw new LeadsheetError(
    'usage_invalid',
    `--output: found ${file}, expected a file that ends in .html, .txt or .eml`,
    {
      hint: 'Name the file daily.html, for example.',
    },
  )
}

/** @throws LeadsheetError data_unwritable */
export async function writePreview(
  file: string,
  kind: PreviewKind,
  message: Message,
  dkim: DkimKey | null,
): Promise<void> {
  const content =
    kind === '.eml'
      ? await buildMessage(message, dkim)
      : kind === '.html'
        ? withPictures(message)
        : message.text
  await writeFile(file, content).catch((cause: unknown) => {
    throw new LeadsheetError('data_unwritable', `${resolve(file)} cannot be written: ${faultText(cause)}`, {
      hint: 'Choose a file in an existing, writable folder.',
      cause,
    })
  })
}

export async function printIssues(terminal: Terminal, report: Report, output: Output): Promise<void> {
  const { enqueuedIssues, deliveries, leftOut } = output
  const preview = output.preview === null ? null : resolve(output.preview)
  noteFailed(terminal, enqueuedIssues)
  if (terminal.json)
    return terminal.printJson(jsonOf(report, { enqueuedIssues, deliveries, preview, leftOut }))
  for (const { issue, page, notSent } of enqueuedIssues) {
    const { period, variant, subject } = issue
    await terminal.printFields({
      Report: `${report.name}, ${formatDates(period)} (${period.timeZone})`,
      Leads: variantText(variant),
      Subject: subject,
      Page: page,
      Preview: preview,
      'Not sent': notSent,
    })
  }
  if (deliveries === null) {
    terminal.note(
      `Nothing was sent. ${shellCommand(`report test ${report.name} --to ADDRESS`)} sends a test; ${shellCommand(`report send ${report.name}`)} sends it to the recipients.`,
    )
    return
  }
  for (const { address, why } of leftOut) terminal.note(`not sent to ${address}: ${why}.`)
  if (deliveries.length === 0) return
  terminal.print('')
  await terminal.printTable(
    [
      { title: 'RECIPIENT', value: (one) => one.recipient, isWhole: true },
      { title: 'STATE', value: (one) => (one.isNew ? wordOf(one.state) : `${wordOf(one.state)} before`) },
      { title: 'ANSWER', value: (one) => one.response },
    ],
    deliveries,
  )
}

/** Warns of blocks (parts of a report) that failed. The command then ends as `partly`, exit status 3. */
function noteFailed(terminal: Terminal, enqueuedIssues: readonly EnqueuedIssue[]): void {
  const failed = enqueuedIssues.flatMap(({ failed }) => failed)
  for (const { block, query, message } of failed)
    terminal.note(`warning: ${query ?? block} could not be made: ${message}`)
  if (failed.length > 0) terminal.end('partly')
}

function jsonOf(report: Report, { enqueuedIssues, preview, deliveries, leftOut }: Output) {
  return {
    report: report.name,
    issues: enqueuedIssues.map(({ issue: { period, variant, subject }, page, notSent, failed }) => ({
      period: periodJson(period),
      leads: variantText(variant),
      subject,
      page,
      not_sent: notSent,
      failed,
    })),
    preview,
    deliveries: (deliveries ?? []).map(({ recipient, state, response, isNew }) => ({
      recipient,
      state,
      response,
      is_new: isNew,
    })),
    left_out: leftOut.map(({ address, why }) => ({ recipient: address, why })),
  }
}
