/**
 * Enqueues a report: makes one issue for each filter that its recipients use, and writes one message per
 * recipient to the outbox. To save memory, the messages of one issue are released before the next issue is
 * made.
 */
import type { FailedSection, MissedWarning, ReportWarning } from '../../domain/figures.ts'
import type { Period } from '../../domain/model.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import { savePublishedRanges } from '../../store/insight/published-range.ts'
import { enqueueMessages, listDeliveries } from '../../store/outbox/delivery.ts'
import { addToPack, createMessagePack, type MessagePack } from '../../store/outbox/stored-message.ts'
import { type Issue, noteNotSent, wasEnqueuedOrSkipped } from '../../store/reports/issue.ts'
import { type Lease, withLease } from '../../store/schedule/lease.ts'
import { listNotDoneBefore } from '../../store/schedule/scheduled-run.ts'
import { rangesOf } from '../insight/published-ranges.ts'
import { type MailSender, messageFor } from '../outbox/compose-message.ts'
import { tryQuietly } from '../schedule/job-failure.ts'
import type { RunEnd, Schedule, ScheduleSettings } from '../schedule/schedule.ts'
import { checkFreshness, type GateDeps } from './freshness-gate.ts'
import type { ComposedIssue, IssueDeps } from './make-issue.ts'
import { composeIssue, findPeriod, keepIssue, putInArchive } from './make-issue.ts'
import { type LeftOut, resolveRecipients } from './preferences.ts'
import { type Recipient, type Report, variantOf } from './report-definition.ts'
import { reasonNotToSend } from './send-policy.ts'

export interface ReportDeps extends IssueDeps {
  readonly sender: MailSender
}

interface DueReport {
  readonly at: Date
  /** The lease of the report's schedule. Only the process that holds it may write the report's messages. */
  readonly lease: Pick<Lease, 'renew'>
  /** Facts that readers are told, such as that the report is late; absent if it is made by hand. */
  readonly notes?: readonly ReportWarning[]
}

export interface EnqueuedIssue {
  readonly issue: Pick<Issue, 'id' | 'period' | 'variant' | 'subject'>
  /** Null if the page could not be written. */
  readonly page: string | null
  readonly notSent: string | null
  readonly messages: number
  readonly failed: readonly FailedSection[]
}

/** The issues that were made for a report's recipients, and the recipients who were left out. */
interface Enqueued {
  readonly enqueuedIssues: readonly EnqueuedIssue[]
  readonly leftOut: readonly LeftOut[]
  /** The first error of writing archive pages. The messages are in the outbox in spite of it. */
  readonly archiveFault: unknown
}

type Recipients = readonly [Recipient, ...Recipient[]]

const LEFT_OUT_NAMED = 3

/**
 * Makes the report's issues and writes their messages to the outbox, as the recipients' preferences require.
 * A recipient who already has a message of this issue gets no second one. A new recipient gets the same issue
 * as the others. An issue and all its messages are written in one transaction; the issue's folder in the
 * archive is written after that.
 * @throws LeadsheetError report_no_data, report_failed, report_template, job_busy, data_unwritable
 */
export async function enqueueReport(
  deps: ReportDeps,
  report: Report,
  recipients: readonly Recipient[],
  due: DueReport,
  signal: AbortSignal,
): Promise<Enqueued> {
  const resolved = await resolveRecipients(deps.store, report, recipients)
  const enqueuedIssues: EnqueuedIssue[] = []
  let archiveFault: unknown = null
  for (const [first, ...others] of Map.groupBy(resolved.recipients, (one) =>
    variantOf(report, one),
  ).values()) {
    if (first === undefined || signal.aborted) continue
    const sharing: Recipients = [first, ...others]
    const { issue, messages, failed, findContent } = await enqueueIssue(deps, report, sharing, due, signal)
    // An error while the folder is written does not stop the messages, because the folder can be made again
    // later.
    const page = await putInArchive(deps, report, issue, sharing, findContent).catch((thrown: unknown) => {
      archiveFault ??= thrown
      return null
    })
    const { id, period, variant, subject, notSent } = issue
    enqueuedIssues.push({ issue: { id, period, variant, subject }, page, notSent, messages, failed })
  }
  return { enqueuedIssues, leftOut: resolved.leftOut, archiveFault }
}

/**
 * Claims the lease of the report's schedule.
 * @throws LeadsheetError the errors of {@link enqueueReport}, and job_busy
 */
export async function enqueueReportNow(
  deps: ReportDeps,
  report: Report,
  recipients: readonly Recipient[],
  at: Date,
  signal: AbortSignal,
): Promise<Enqueued> {
  return withLease(deps.store, `report:${report.name}`, deps.now, (lease) =>
    enqueueReport(deps, report, recipients, { at, lease }, AbortSignal.any([signal, lease.lost])),
  )
}

/** Writes `Daily leads: 59 new …: 12 messages to send`. Whether they were sent, only the outbox knows. */
export function enqueuedText({
  enqueuedIssues,
  leftOut,
}: Pick<Enqueued, 'enqueuedIssues' | 'leftOut'>): string {
  return [writtenText(enqueuedIssues), ...failedText(enqueuedIssues), ...leftOutText(leftOut)].join('; ')
}

function failedText(enqueuedIssues: readonly EnqueuedIssue[]): string[] {
  const failed = new Set(
    enqueuedIssues.flatMap(({ failed }) => failed).map(({ block, query }) => query ?? block),
  )
  return failed.size === 0 ? [] : [`could not be made: ${[...failed].join(', ')}`]
}

function leftOutText(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return []
  const named = leftOut.slice(0, LEFT_OUT_NAMED).map(({ address, why }) => `${address} (${why})`)
  const others = leftOut.length - named.length
  return [`left out: ${[...named, ...(others > 0 ? [`${others} more`] : [])].join(', ')}`]
}

function writtenText(enqueuedIssues: readonly EnqueuedIssue[]): string {
  const [first, second] = enqueuedIssues
  if (first === undefined) return 'nobody gets it'
  const count = enqueuedIssues.reduce((sum, { messages }) => sum + messages, 0)
  const written =
    count === 0
      ? 'all messages were written before'
      : count === 1
        ? '1 message to send'
        : `${count} messages to send`
  if (second === undefined) {
    return `${first.issue.subject}: ${first.notSent === null ? written : `not sent: ${first.notSent}`}`
  }
  const quiet = enqueuedIssues.filter(({ notSent }) => notSent !== null)
  const unsent = quiet.length === 0 ? '' : `, ${quiet.length} not sent: ${quiet[0]?.notSent}`
  return `${enqueuedIssues.length} issues${unsent}; ${written}`
}

async function enqueueIssue(
  deps: ReportDeps,
  report: Report,
  recipients: Recipients,
  { at, lease, notes = [] }: DueReport,
  signal: AbortSignal,
): Promise<Pick<ComposedIssue, 'failed' | 'findContent'> & { issue: Issue; messages: number }> {
  const period = await findPeriod(deps.store, report, at, recipients[0])
  const composed = await composeIssue(deps, report, period, recipients, signal, notes)
  const notSent = composed.enqueued === null ? reasonNotToSend(report.sendWhen, composed.issue.figures) : null
  const pack = createMessagePack()
  if (notSent === null) await packMessages(pack, deps, composed, recipients)
  return deps.store.write(async (trx) => {
    await lease.renew(trx, deps.now())
    const kept = await keepIssue(trx, composed)
    if (notSent !== kept.notSent) await noteNotSent(trx, kept.id, notSent)
    const messages = await enqueueMessages(
      trx,
      { issueId: kept.id, revision: 0 },
      pack,
      deps.now().toISOString(),
    )
    if (composed.enqueued === null && messages > 0)
      await savePublishedRanges(trx, kept.id, period.timeZone, rangesOf(kept.figures, report.goals))
    const issue = { ...kept, isEnqueued: notSent === null, notSent }
    return { issue, messages, failed: composed.failed, findContent: composed.findContent }
  })
}

async function packMessages(
  pack: MessagePack,
  { store, sender }: ReportDeps,
  { issue, enqueued, findContent }: ComposedIssue,
  recipients: Recipients,
): Promise<void> {
  const written = enqueued === null ? [] : await listDeliveries(store.db, enqueued.id)
  const known = new Set(written.map(({ recipient }) => recipient.toLowerCase()))
  for (const recipient of recipients.filter(({ address }) => !known.has(address.toLowerCase()))) {
    const content = await findContent(recipient, recipient.address)
    addToPack(pack, messageFor(store, issue, recipient, content, sender))
    // Lets other tasks run, because making a message takes milliseconds and there may be ten thousand
    // messages.
    await new Promise(setImmediate)
  }
}

// A report that is due passes the freshness gate, and its messages are enqueued.

export interface ScheduledReportDeps extends ReportDeps, GateDeps {
  readonly wake: () => void
  readonly publish: (signal: AbortSignal) => Promise<void>
}

export function reportSchedule(
  work: ScheduledReportDeps,
  report: Report,
  { recipients, ...settings }: ScheduleSettings & { readonly recipients: readonly Recipient[] },
): Schedule {
  return {
    ...settings,
    leaseName: settings.name,
    runsAtFirstSight: false,
    async run(due, lease, signal) {
      const { dueAt: at } = due
      const kept = await checkFreshness(
        work,
        report,
        recipients,
        due,
        nextScheduledRun(settings.timing, at),
        signal,
      )
      if (signal.aborted) return stopped('stopped before the report was made')
      if (kept !== null) return kept
      const notes = [
        ...(due.late === null ? [] : [{ kind: 'late', ...due.late } as const]),
        ...(await findMissed(work.store, settings.name, report, at)),
      ]
      const enqueued = await enqueueReport(work, report, recipients, { at, lease, notes }, signal)
      if (signal.aborted) return stopped('stopped before all messages were written')
      work.wake()
      for (const { block, query, message } of enqueued.enqueuedIssues.flatMap(({ failed }) => failed))
        work.log.error({ report: report.name, block, query }, `could not be made: ${message}`)
      if (enqueued.archiveFault !== null) throw enqueued.archiveFault
      await tryQuietly(work.log, signal, () => work.publish(signal))
      return { state: 'done', message: enqueuedText(enqueued) }
    },
  }
}

/** Returns a note of the periods before this one for which no report was made, or none. */
async function findMissed(
  store: Pick<ReportDeps['store'], 'db'>,
  schedule: string,
  report: Report,
  at: Date,
): Promise<MissedWarning[]> {
  // A `since_last` report covers everything since the last one, so nothing is missing.
  if (report.kind === 'since_last') return []
  const present = await findPeriod(store, report, at)
  const periods = new Map<string, Period>()
  for (const { due_at } of await listNotDoneBefore(store.db, schedule, at.toISOString())) {
    const period = await findPeriod(store, report, new Date(due_at))
    if (period.to >= present.to || periods.has(period.to)) continue
    const justAfter = new Date(Date.parse(period.to) + 1).toISOString()
    // A person may have sent it by hand.
    if (await wasEnqueuedOrSkipped(store.db, report.name, { from: period.to, to: justAfter })) continue
    periods.set(period.to, period)
  }
  return periods.size === 0 ? [] : [{ kind: 'missed', periods: [...periods.values()] }]
}

function stopped(message: string): RunEnd {
  return { state: 'again', message, notBefore: null }
}
