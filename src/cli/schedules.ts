/** The schedules that the settings make, in the order in which the daemon looks after them. */
import { type Config, hasDueTimes } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'

export interface ScheduleSettings {
  /** As in the ledger of slots: `sync-full`, `report:daily`. */
  readonly name: string
  readonly cron: string
  readonly timeZone: string
  /** Null of what is no report. */
  readonly report: ReportConfig | null
}

export function schedulesOf({ sync, snapshot, reports, timeZone }: Config): ScheduleSettings[] {
  const own = { timeZone, report: null }
  return [
    { name: 'sync-full', cron: sync.full, ...own },
    { name: 'sync', cron: sync.every, ...own },
    ...(hasDueTimes(snapshot) ? [{ name: 'snapshot', cron: snapshot.when, ...own }] : []),
    ...reports.map((report) => ({
      name: `report:${report.name}`,
      cron: report.schedule,
      timeZone: report.timeZone,
      report,
    })),
  ]
}
