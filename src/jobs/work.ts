/** What the daemon does at a due time: a sync, or a report that first sees to it that its data is there. */
import { LeadsheetError } from '../errors.ts'
import type { SyncResult } from '../model.ts'
import type { Source } from '../source/open.ts'
import { findLastWholeRun } from '../store/sync-run.ts'
import { writeArchiveIndex } from './archive-index.ts'
import { type DeliverDeps, deliverDue, deliverEditions } from './deliver.ts'
import { findPeriod } from './edition.ts'
import { enqueueReport, type MailingDeps, mailingText } from './mailing.ts'
import { prune, type Retention } from './prune.ts'
import { type PublishDeps, publishSnapshot } from './publish.ts'
import type { Recipient, Report } from './report.ts'
import type { Schedule } from './schedule.ts'
import { SYNC_PARTS, sync } from './sync.ts'
import type { SyncOptions } from './sync-run.ts'

export interface Work extends MailingDeps, DeliverDeps {
  readonly source: Source
  readonly syncOptions: (signal: AbortSignal) => SyncOptions
  /** Called after a sync or a report, to show what is new where the settings want that. */
  readonly publish: (signal: AbortSignal) => Promise<void>
  readonly retention: Retention
}

/** A report has nothing of the details, and must not wait for them. */
const REPORTED_PARTS = SYNC_PARTS.filter((part) => part !== 'details')

export function syncSchedule(
  work: Work,
  settings: {
    readonly name: string
    readonly cron: string
    readonly timeZone: string
    readonly full: boolean
  },
): Schedule {
  return {
    name: settings.name,
    cron: settings.cron,
    timeZone: settings.timeZone,
    runsAtFirstSight: !settings.full,
    async run(_slot, signal) {
      const result = await sync(work, { ...work.syncOptions(signal), full: settings.full })
      const message = result.problems.map((problem) => problem.message).join('; ') || summaryOf(result)
      if (signal.aborted) return { state: 'again', message }
      if (settings.full) await pruneQuietly(work, signal)
      await publishQuietly(work, signal)
      return { state: result.outcome === 'failed' ? 'failed' : 'done', message }
    },
  }
}

export function reportSchedule(
  work: Work,
  report: Report,
  settings: {
    readonly schedule: string
    readonly timeZone: string
    readonly recipients: readonly Recipient[]
  },
): Schedule {
  return {
    name: `report:${report.name}`,
    cron: settings.schedule,
    timeZone: settings.timeZone,
    runsAtFirstSight: false,
    async run(slot, signal) {
      const { to } = await findPeriod(work.store, report, slot)
      await syncUpTo(work, to, signal)
      if (signal.aborted) return { state: 'again', message: 'stopped before the report was made' }
      const mailings = await enqueueReport(work, report, settings.recipients, slot, signal)
      if (signal.aborted) return { state: 'again', message: 'stopped before all letters were written' }
      const editions = mailings.map(({ edition }) => edition)
      const deliveries = await deliverEditions(work, editions, signal)
      await writeArchiveIndex(work.archive, work.store.db)
      await publishQuietly(work, signal)
      return { state: 'done', message: mailingText(mailings, deliveries) }
    },
  }
}

/** Letters that wait for another attempt; the list of all editions then tells what became of them. */
export async function deliverWaiting(
  work: DeliverDeps & Pick<Work, 'archive'>,
  signal: AbortSignal,
): Promise<void> {
  if (await deliverDue(work, signal)) await writeArchiveIndex(work.archive, work.store.db)
}

/** A report is made from data that covers its period; where the sync fails, the report says how old its data is. */
async function syncUpTo(work: Work, to: string, signal: AbortSignal): Promise<void> {
  const whole = await findLastWholeRun(work.store.db)
  if (whole && whole.asOf >= to) return
  try {
    await sync(work, { ...work.syncOptions(signal), parts: REPORTED_PARTS })
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    work.log.warn({ code: thrown.code }, thrown.message)
  }
}

/** Once a day is enough, and what stays a day longer does no harm. */
async function pruneQuietly(work: Work, signal: AbortSignal): Promise<void> {
  try {
    const pruned = await prune(work.store, work.retention, { now: work.now, isDry: false, signal })
    for (const { table, before, gone } of pruned.filter((one) => one.gone > 0))
      work.log.info({ table, before, rows: gone }, 'pruned')
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    work.log.warn({ code: thrown.code }, thrown.message)
  }
}

/** Where the snapshot has due times of its own, whatever syncs bring. */
export function snapshotSchedule(
  publishing: PublishDeps,
  settings: { readonly cron: string; readonly timeZone: string },
): Schedule {
  return {
    ...settings,
    name: 'snapshot',
    runsAtFirstSight: false,
    async run(_slot, signal) {
      const { bytes, leadsAsOf } = await publishSnapshot(publishing, signal)
      return { state: 'done', message: `${bytes} bytes, leads as of ${leadsAsOf}` }
    },
  }
}

/** What was synced and sent stays done, whatever becomes of the snapshot; the next sync tries again. */
async function publishQuietly(work: Work, signal: AbortSignal): Promise<void> {
  try {
    await work.publish(signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    work.log.warn({ code: thrown.code }, thrown.message)
  }
}

function summaryOf({ leads }: SyncResult): string {
  return `${leads.seen} leads read, ${leads.inserted} new, ${leads.updated} changed, ${leads.removed} gone`
}
