/** A report as somebody who tries it gets it: as it would be now, to one address, and to nobody else. */
import type { Transport } from '../../mail/transport.ts'
import { writeArchiveIndex } from '../archive/archive-index.ts'
import { messageFor, type Sender } from '../outbox/message.ts'
import { sendTest } from '../outbox/send-due.ts'
import type { MailingDeps } from './enqueue-report.ts'
import { contentsOfNow, findPeriod, makeIssue } from './make-issue.ts'
import { reportAs } from './preferences.ts'
import type { Recipient, Report } from './report-definition.ts'

/**
 * @param address one of the recipients gets it as they usually do, anybody else as the report is
 * @returns what the server said
 * @throws LeadsheetError report_no_data, report_failed, report_template, mail_unreachable, mail_rejected
 */
export async function sendTestReport(
  deps: MailingDeps & { readonly transport: Transport },
  usual: Report,
  recipients: readonly Recipient[],
  address: string,
  signal: AbortSignal,
): Promise<string> {
  const recipient = recipients.find((one) => one.address === address)
  const reader = recipient ?? usual
  const report = await reportAs(deps.store, usual, recipient?.address ?? null)
  const period = await findPeriod(deps.store, report, deps.now(), reader)
  const { issue } = await makeIssue(deps, report, period, [reader], signal)
  await writeArchiveIndex(deps.archive, deps.store.db)
  const sender = withoutPage(deps.sender)
  const findContent = await contentsOfNow({ ...deps, sender }, report, issue, [reader], signal)
  const content = await findContent(reader, address)
  const to = { address, name: recipient?.name ?? null }
  const message = messageFor(deps.store, issue, to, content, sender, deps.now().getTime())
  return sendTest(deps, message, signal)
}

/** Who tries the button of a test is not to end what they or others get. */
export function withoutPage(sender: Sender): Sender {
  return { ...sender, unsubscribe: { ...sender.unsubscribe, pageOf: null } }
}
