/** What the daemon does when a sync is due. */
import { LeadsheetError } from '../errors.ts'
import type { SyncResult } from '../model.ts'
import { prune } from './prune.ts'
import type { Schedule } from './schedule.ts'
import { sync } from './sync.ts'
import { publishQuietly, type Work } from './work.ts'

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

function summaryOf({ leads }: SyncResult): string {
  return `${leads.seen} leads read, ${leads.inserted} new, ${leads.updated} changed, ${leads.removed} gone`
}
