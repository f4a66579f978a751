/** The schedules that the settings make, in the order in which the daemon looks after them. */
import { type Config, hasDueTimes } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'
import type { ScheduleSettings } from '../jobs/schedule.ts'
import type { CatchUp } from '../schedule/timing.ts'

export interface ConfiguredSchedule extends ScheduleSettings {
  /** Null of what is no report. */
  readonly report: ReportConfig | null
}

/** A sync or snapshot brings all that those before it would have brought, however late it is. */
const LATEST: CatchUp = { policy: 'latest', windowHours: Number.POSITIVE_INFINITY }

export function schedulesOf(config: Config): ConfiguredSchedule[] {
  const { sync, snapshot, reports, holidays, jitterSeconds } = config
  const ownOf = (expression: string) => ({
    timing: { expression, holidays, timeZone: config.timeZone },
    ...{ catchUp: LATEST, jitterSeconds, report: null },
  })
  return [
    { name: 'sync-full', ...ownOf(sync.full) },
    { name: 'sync', ...ownOf(sync.every) },
    ...(hasDueTimes(snapshot) ? [{ name: 'snapshot', ...ownOf(snapshot.when) }] : []),
    ...reports.map((report) => ({
      name: `report:${report.name}`,
      timing: { expression: report.schedule, holidays, timeZone: report.timeZone },
      catchUp: { policy: report.catchUp, windowHours: report.catchUpHours },
      ...{ jitterSeconds, report },
    })),
  ]
}
