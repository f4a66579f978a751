/** Builds the schedules of syncs and reports, in the order in which the daemon runs them. */
import type { Config } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'
import type { PeriodKind } from '../domain/figures.ts'
import { LeadsheetError } from '../errors.ts'
import type { ScheduleSettings } from '../jobs/schedule/schedule.ts'
import type { CatchUp } from '../schedule/timing.ts'
import type { WeekStart } from '../schedule/zone.ts'

export interface ConfiguredSchedule extends ScheduleSettings {
  /** The report of the schedule; null for syncs. */
  readonly report: ReportConfig | null
}

/** All missed runs of a report are made up for only within this time. */
const ALL_WITHIN_HOURS = 31 * 24

/** The latest missed sync covers everything that the earlier ones would have. */
const LATEST: CatchUp = { policy: 'latest', windowHours: Number.POSITIVE_INFINITY }

export function schedulesOf(config: Config): ConfiguredSchedule[] {
  const { sync, reports, holidays } = config
  const ownOf = (expression: string) => ({
    timing: { expression, holidays, timeZone: config.timeZone },
    catchUp: LATEST,
    report: null,
  })
  return [
    { name: 'sync-full', ...ownOf(sync.fullSchedule) },
    { name: 'sync', ...ownOf(sync.schedule) },
    ...reports.map((report) => ({
      name: `report:${report.name}`,
      timing: { expression: report.schedule, holidays, timeZone: report.timeZone },
      catchUp: catchUpOf(report.catchUp),
      report,
    })),
  ]
}

/** However late, until the next run: the period that it covers is still the last one of its kind. */
function catchUpOf(policy: CatchUp['policy']): CatchUp {
  return { policy, windowHours: policy === 'all' ? ALL_WITHIN_HOURS : Number.POSITIVE_INFINITY }
}

/** Lists the time zones of all reports, each once. */
export function reportTimeZones({ reports }: Config): string[] {
  return [...new Set(reports.map(({ timeZone }) => timeZone))]
}

/**
 * Finds a schedule.
 * @param name the name of the schedule, such as `sync`, or the name of a report
 * @throws LeadsheetError usage_invalid, with the names of all schedules
 */
export function findSchedule(config: Config, name: string): ConfiguredSchedule {
  const schedules = schedulesOf(config)
  const found = schedules.find((schedule) => schedule.name === name || schedule.report?.name === name)
  if (found) return found
  throw new LeadsheetError('usage_invalid', `There is no schedule named ${JSON.stringify(name)}`, {
    hint: `Those of the settings: ${schedules.map((schedule) => schedule.name).join(', ')}.`,
  })
}

/** Returns a schedule that has one run for each period of a kind. */
export function scheduleFor(kind: PeriodKind, weekStarts: WeekStart): string {
  switch (kind) {
    case 'working_day':
      return 'every working day at 07:00'
    case 'week':
      return `every ${weekStarts === 'sunday' ? 'Sunday' : 'Monday'} at 07:00`
    case 'month':
      return '1st of the month at 07:00'
    case 'quarter':
      return '0 7 1 1,4,7,10 *'
    default:
      return 'every day at 07:00'
  }
}
