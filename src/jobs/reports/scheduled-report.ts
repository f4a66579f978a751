/**
 * The schedule of a report: when the report is due, passes the freshness gate, enqueues the messages and
 * updates the archive.
 */
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import { writeArchiveIndex } from '../archive/archive.ts'
import type { RunEnd, Schedule, ScheduleSettings } from '../schedule/schedule.ts'
import { publishQuietly } from '../snapshot/publish-snapshot.ts'
import { enqueueReport, type MailingDeps, mailingText } from './enqueue-report.ts'
import { type GateDeps, passGate } from './freshness-gate.ts'
import type { Recipient, Report } from './report-definition.ts'

export interface ScheduledReportDeps extends MailingDeps, GateDeps {
  /** Makes the outbox worker send at once; called when messages are in the outbox. */
  readonly wake: () => void
  /** Publishes the snapshot of the data, if the settings ask for that. */
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
      const { due_at: at } = due
      const late = due.late && { kind: 'late' as const, ...due.late }
      const kept = await passGate(
        work,
        report,
        recipients,
        due,
        nextScheduledRun(settings.timing, at),
        signal,
      )
      if (signal.aborted) return stopped('stopped before the report was made')
      if (kept !== null) return kept
      const enqueued = await enqueueReport(work, report, recipients, { at, lease, late }, signal)
      if (signal.aborted) return stopped('stopped before all messages were written')
      work.wake()
      for (const { block, query, message } of enqueued.mailings.flatMap(({ failed }) => failed))
        work.log.error({ report: report.name, block, query }, `could not be made: ${message}`)
      if (enqueued.archiveFault !== null) throw enqueued.archiveFault
      await writeArchiveIndex(work.archive, work.store.db)
      await publishQuietly(work, signal)
      return { state: 'done', message: mailingText(enqueued) }
    },
  }
}

function stopped(message: string): RunEnd {
  return { state: 'again', message, notBefore: null }
}
