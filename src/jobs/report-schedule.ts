/** What the daemon does when a report is due: it first sees to it that the data of the period is there. */
import { LeadsheetError } from '../errors.ts'
import { findLastWholeRun } from '../store/sync-run.ts'
import { writeArchiveIndex } from './archive-index.ts'
import { deliverEditions } from './deliver.ts'
import { findPeriod } from './edition.ts'
import { enqueueReport, mailingText } from './mailing.ts'
import type { Recipient, Report } from './report.ts'
import type { Schedule, ScheduleSettings, SlotEnd } from './schedule.ts'
import { SYNC_PARTS, sync } from './sync.ts'
import { publishQuietly, type Work } from './work.ts'

/** A report has nothing of the details, and must not wait for them. */
const REPORTED_PARTS = SYNC_PARTS.filter((part) => part !== 'details')

export function reportSchedule(
  work: Work,
  report: Report,
  { recipients, ...settings }: ScheduleSettings & { readonly recipients: readonly Recipient[] },
): Schedule {
  return {
    ...settings,
    leaseName: settings.name,
    runsAtFirstSight: false,
    async run({ slot }, lease, signal) {
      const { to } = await findPeriod(work.store, report, slot)
      await syncUpTo(work, to, signal)
      if (signal.aborted) return stopped('stopped before the report was made')
      const enqueued = await enqueueReport(work, report, recipients, { at: slot, lease }, signal)
      if (signal.aborted) return stopped('stopped before all letters were written')
      const editions = enqueued.mailings.map(({ edition }) => edition)
      const deliveries = await deliverEditions(work, editions, signal)
      await writeArchiveIndex(work.archive, work.store.db)
      await publishQuietly(work, signal)
      return { state: 'done', message: mailingText(enqueued, deliveries) }
    },
  }
}

function stopped(message: string): SlotEnd {
  return { state: 'again', message, notBefore: null }
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
