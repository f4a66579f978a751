/**
 * The messages of a report: an issue for each choice of leads that its recipients have, and in the ledger a message
 * for each of them. What was made for some is let go before the next, so that it takes no more room for a thousand.
 */
import type { FailedSection, LateWarning } from '../../domain/figures.ts'
import { enqueueMessages, listDeliveries } from '../../store/outbox/delivery.ts'
import { addToPack, createMessagePack, type MessagePack } from '../../store/outbox/message.ts'
import { findLastSent, type Issue, noteNotSent, type UnsavedIssue } from '../../store/reports/issue.ts'
import { claimLease, type Lease } from '../../store/schedule/lease.ts'
import { messageFor, type Sender } from '../outbox/message.ts'
import {
  type ComposedIssue,
  composeIssue,
  findPeriod,
  type IssueDeps,
  keepIssue,
  putInArchive,
} from './make-issue.ts'
import { findAttendance, type LeftOut } from './preferences.ts'
import { type Recipient, type Report, variantOf } from './report-definition.ts'
import { reasonNotToSend } from './send-policy.ts'

export interface MailingDeps extends IssueDeps {
  readonly sender: Sender
}

/** A report that is due. */
export interface DueReport {
  readonly at: Date
  /** Of its schedule: whoever has it alone may write its messages. */
  readonly lease: Pick<Lease, 'renew'>
  /** What kept it; absent where it is made at its time, or by hand. */
  readonly late?: LateWarning | null
}

/** An issue and what is to become of it. */
export interface Mailing {
  readonly issue: Pick<Issue, 'id' | 'period' | 'variant' | 'subject'>
  /** Path of its page in the archive; null where that could not be written. */
  readonly page: string | null
  /** Null where its messages are in the ledger. */
  readonly notSent: string | null
  /** How many were put there now. */
  readonly messages: number
  /** What of it could not be made, as it says itself. */
  readonly failed: readonly FailedSection[]
}

/** What was made of a report for its recipients, and who wants none of it now. */
export interface Enqueued {
  readonly mailings: readonly Mailing[]
  readonly leftOut: readonly LeftOut[]
  /** Why a page of the archive could not be written, although the messages are in the ledger; null where all are. */
  readonly archiveFault: unknown
}

type Recipients = readonly [Recipient, ...Recipient[]]

const LEFT_OUT_NAMED = 3

/**
 * Who has a message already keeps it, and who is new gets the issue that the others got; preferences are obeyed. An
 * issue and all its messages are written at once, so that a kill leaves all of it or nothing; its folder in the archive
 * follows.
 * @throws LeadsheetError report_no_data, report_failed, report_template, job_busy, data_unwritable
 */
export async function enqueueReport(
  deps: MailingDeps,
  report: Report,
  recipients: readonly Recipient[],
  due: DueReport,
  signal: AbortSignal,
): Promise<Enqueued> {
  const { groups, leftOut } = await findAttendance(deps.store, report, recipients, due.at)
  const mailings: Mailing[] = []
  let archiveFault: unknown = null
  const audiences = groups.flatMap((group) =>
    [...Map.groupBy(group.recipients, (one) => variantOf(report, one)).values()].map(
      ([first, ...others]) => ({ as: group.report, first, others }),
    ),
  )
  for (const { as, first, others } of audiences) {
    if (first === undefined || signal.aborted) continue
    const audience: Recipients = [first, ...others]
    const { issue, messages, failed, findContent } = await enqueueIssue(deps, as, audience, due, signal)
    // No mail is to wait for a folder that can be made at any time.
    const page = await putInArchive(deps, as, issue, audience, findContent).catch((thrown: unknown) => {
      archiveFault ??= thrown
      return null
    })
    const { id, period, variant, subject, notSent } = issue
    mailings.push({ issue: { id, period, variant, subject }, page, notSent, messages, failed })
  }
  return { mailings, leftOut, archiveFault }
}

/**
 * The same for who is no schedule: under the lease of the one that the report has.
 * @throws LeadsheetError as enqueueReport, also job_busy while another process makes the report
 */
export async function enqueueReportNow(
  deps: MailingDeps,
  report: Report,
  recipients: readonly Recipient[],
  at: Date,
  signal: AbortSignal,
): Promise<Enqueued> {
  const lease = await claimLease(deps.store, `report:${report.name}`, deps.now)
  try {
    const stop = AbortSignal.any([signal, lease.lost])
    return await enqueueReport(deps, report, recipients, { at, lease }, stop)
  } finally {
    await lease.release()
  }
}

/**
 * `Daily leads: 59 new …: 12 messages to send`; of several issues how many there are. What became of the messages is
 * asked of the ledger.
 */
export function mailingText({ mailings, leftOut }: Pick<Enqueued, 'mailings' | 'leftOut'>): string {
  return [writtenText(mailings), ...failedText(mailings), ...leftOutText(leftOut)].join('; ')
}

/** Each once, with the reason of the first. */
function failedText(mailings: readonly Mailing[]): string[] {
  const failed = new Map(
    mailings
      .flatMap((mailing) => mailing.failed)
      .toReversed()
      .map(({ block, query, message }) => [query ?? block, message]),
  )
  if (failed.size === 0) return []
  return [`could not be made: ${[...failed].map(([name, message]) => `${name} (${message})`).join(', ')}`]
}

function leftOutText(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return []
  const named = leftOut.slice(0, LEFT_OUT_NAMED).map(({ address, why }) => `${address} (${why})`)
  const others = leftOut.length - named.length
  return [`left out: ${[...named, ...(others > 0 ? [`${others} more`] : [])].join(', ')}`]
}

function writtenText(mailings: readonly Mailing[]): string {
  const [first, second] = mailings
  if (first === undefined) return 'nobody gets it'
  const count = mailings.reduce((sum, { messages }) => sum + messages, 0)
  const written =
    count === 0
      ? 'all messages were written before'
      : count === 1
        ? '1 message to send'
        : `${count} messages to send`
  if (second === undefined) {
    return `${first.issue.subject}: ${first.notSent === null ? written : `not sent: ${first.notSent}`}`
  }
  const quiet = mailings.filter(({ notSent }) => notSent !== null)
  const unsent = quiet.length === 0 ? '' : `, ${quiet.length} not sent: ${quiet[0]?.notSent}`
  return `${mailings.length} issues${unsent}; ${written}`
}

async function enqueueIssue(
  deps: MailingDeps,
  report: Report,
  recipients: Recipients,
  { at, lease, late = null }: DueReport,
  signal: AbortSignal,
): Promise<Pick<ComposedIssue, 'failed' | 'findContent'> & { issue: Issue; messages: number }> {
  const period = await findPeriod(deps.store, report, at, recipients[0])
  const composed = await composeIssue(deps, report, period, recipients, signal, late)
  const notSent = composed.mailed === null ? await judge(deps, report, composed.issue) : null
  using pack = createMessagePack(deps.store.place)
  if (notSent === null) await packMessages(pack, deps, composed, recipients)
  // Awaited here: else the pack would be gone before it is written.
  return await deps.store.write(async (trx) => {
    await lease.renew(trx, deps.now())
    const kept = await keepIssue(trx, composed)
    if (notSent !== kept.notSent) await noteNotSent(trx, kept.id, notSent)
    const messages = await enqueueMessages(
      trx,
      { issueId: kept.id, revision: 0 },
      pack,
      deps.now().toISOString(),
    )
    const issue = { ...kept, isMailed: notSent === null, notSent }
    return { issue, messages, failed: composed.failed, findContent: composed.findContent }
  })
}

async function judge({ store }: MailingDeps, report: Report, issue: UnsavedIssue): Promise<string | null> {
  const last = await findLastSent(store.db, { ...issue, kind: report.kind }, issue.period.to)
  return reasonNotToSend(report.sendWhen, issue.figures, last?.figures ?? null)
}

/** Of those who have none yet. */
async function packMessages(
  pack: MessagePack,
  { store, sender }: MailingDeps,
  { issue, mailed, findContent }: ComposedIssue,
  recipients: Recipients,
): Promise<void> {
  const written = mailed === null ? [] : await listDeliveries(store.db, mailed.id)
  const known = new Set(written.map(({ recipient }) => recipient.toLowerCase()))
  for (const recipient of recipients.filter(({ address }) => !known.has(address.toLowerCase()))) {
    const content = await findContent(recipient, recipient.address)
    addToPack(pack, messageFor(store, issue, recipient, content, sender))
    // What waits gets its turn: of ten thousand each takes some milliseconds.
    await new Promise(setImmediate)
  }
}
