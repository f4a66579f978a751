/** The result of the `leadsheet report` commands that make issues, and the files of previews. */
import { writeFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import type { Message } from '../../../domain/message.ts'
import { inSnakeCase } from '../../../domain/names.ts'
import { formatDates } from '../../../domain/period.ts'
import { faultText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { variantText } from '../../../jobs/archive/archive.ts'
import type { DeliverySummary } from '../../../jobs/outbox/send-due.ts'
import type { EnqueuedIssue } from '../../../jobs/reports/enqueue-report.ts'
import type { LeftOut } from '../../../jobs/reports/preferences.ts'
import type { Report } from '../../../jobs/reports/report-definition.ts'
import { buildMessage, type DkimKey } from '../../../mail/message.ts'
import { withPictures } from '../../../report/archive/page.ts'
import { fields, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { periodJson, wordOf } from './outbox.ts'

const PREVIEWS = ['.html', '.txt', '.eml'] as const
type PreviewKind = (typeof PREVIEWS)[number]

interface Output {
  readonly enqueuedIssues: readonly EnqueuedIssue[]
  readonly preview: string | null
  /** The results of sending, one for each message; null if nothing was to be sent. */
  readonly deliveries: readonly DeliverySummary[] | null
  readonly leftOut: readonly LeftOut[]
  /** The hint for a report without recipients. */
  readonly lack?: string | null
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

/** @throws LeadsheetError usage_invalid, data_unwritable */
export async function writePreview(file: string, message: Message, dkim: DkimKey | null): Promise<void> {
  const kind = previewKind(file)
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

/** Shows issues and their mails. If a block could not be made, the command ends as `partly`, exit status 3. */
export function issuesResult(terminal: Terminal, report: Report, output: Output): Result {
  const { enqueuedIssues, deliveries, leftOut, lack = null } = output
  const preview = output.preview === null ? null : resolve(output.preview)
  const failed = enqueuedIssues.flatMap((each) => each.failed)
  if (failed.length > 0) terminal.end('partly')
  const sending = `${shellCommand(`report send ${report.name}`)} sends it to the recipients.`
  const nothing = `Nothing was sent. ${shellCommand(`report preview ${report.name} --to ADDRESS`)} sends a test; ${lack === null ? sending : `the report has no recipients. ${lack}`}`
  return {
    data: jsonOf(report, { ...output, preview }),
    text: [
      ...enqueuedIssues.map(({ issue: { period, variant, subject }, page, notSent }) =>
        fields({
          Report: `${report.name}, ${formatDates(period)} (${period.timeZone})`,
          Leads: variantText(variant),
          Subject: subject,
          Page: page,
          Preview: preview,
          'Not sent': notSent,
        }),
      ),
      table(deliveries ?? [], [
        { title: 'RECIPIENT', value: (one) => one.recipient },
        { title: 'STATE', value: (one) => (one.isNew ? wordOf(one.state) : `${wordOf(one.state)} before`) },
        { title: 'ANSWER', value: (one) => one.response },
      ]),
    ],
    notes: [
      ...failed.map(
        ({ block, query, message }) => `warning: ${query ?? block} could not be made: ${message}`,
      ),
      ...(deliveries === null
        ? [nothing]
        : leftOut.map(({ address, why }) => `not sent to ${address}: ${why}.`)),
    ],
  }
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
    deliveries: (deliveries ?? []).map(inSnakeCase),
    left_out: leftOut.map(({ address, why }) => ({ recipient: address, why })),
  }
}
