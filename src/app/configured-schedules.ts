/** Builds the schedules of syncs, snapshots and reports, in the order in which the daemon runs them. */
import type { Config } from '../config/config.ts'
import { hasDueTimes } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'
import { LeadsheetError } from '../errors.ts'
import type { ScheduleSettings } from '../jobs/schedule/schedule.ts'
import { areMoreThanWeekly, listDueTimes } from '../report/preferences/page.ts'
import { clockFindings, nextScheduledRun } from '../schedule/scheduled-runs.ts'
import type { CatchUp, Timing } from '../schedule/timing.ts'

export interface ConfiguredSchedule extends ScheduleSettings {
  /** The report of the schedule; null for syncs and snapshots. */
  readonly report: ReportConfig | null
}

/**
 * The rule for missed runs of syncs and snapshots. Only the latest missed run is made up for, because it
 * reads everything that the earlier runs would have read.
 */
const LATEST: CatchUp = { policy: 'latest', windowHours: Number.POSITIVE_INFINITY }

export function schedulesOf(config: Config): ConfiguredSchedule[] {
  const { sync, snapshot, reports, holidays, jitterSeconds } = config
  const ownOf = (expression: string) => ({
    timing: { expression, holidays, timeZone: config.timeZone },
    ...{ catchUp: LATEST, jitterSeconds, report: null },
  })
  return [
    { name: 'sync-full', ...ownOf(sync.fullSchedule) },
    { name: 'sync', ...ownOf(sync.schedule) },
    ...(hasDueTimes(snapshot) ? [{ name: 'snapshot', ...ownOf(snapshot.when) }] : []),
    ...reports.map((report) => ({
      name: `report:${report.name}`,
      timing: { expression: report.schedule, holidays, timeZone: report.timeZone },
      catchUp: catchUpOf(report, holidays),
      ...{ jitterSeconds, report },
    })),
  ]
}

/**
 * Returns the rule for the missed runs of a report. A report that comes at most once a week is made however
 * late, until its next run: the period that it covers is still the last one.
 */
function catchUpOf(
  { schedule: expression, timeZone, catchUp: policy, catchUpHours }: ReportConfig,
  holidays: Config['holidays'],
): CatchUp {
  const timing = { expression, timeZone, holidays }
  const first = nextScheduledRun(timing, new Date(0))
  const isRare =
    first === null || !areMoreThanWeekly([first.toISOString(), ...listDueTimes(timing, first)], timeZone)
  return { policy, windowHours: isRare ? Number.POSITIVE_INFINITY : catchUpHours }
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

/**
 * The length of the coming period that is searched for clock changes. It is longer than a year, so each time
 * zone that changes its clock at all does so in this period.
 */
const AHEAD_MS = 400 * 86_400_000

/** Returns a warning for each scheduled time of day that a coming clock change skips or repeats. */
export function scheduleWarnings(config: Config, now: Date): string[] {
  return schedulesOf(config)
    .filter(({ name }) => name !== 'sync-full' || config.sources['sync.full_schedule'] !== undefined)
    .flatMap(({ name, timing }) => clockWarnings(timing, now).map((warning) => `${name}: ${warning}`))
}

function clockWarnings(timing: Timing, now: Date): string[] {
  const problems = clockFindings(timing, now, new Date(now.getTime() + AHEAD_MS))
  return (['skipped', 'doubled'] as const).flatMap((kind) => {
    const problem = problems.find((each) => each.kind === kind)
    if (problem === undefined) return []
    const [date, time] = problem.time.split(' ')
    return kind === 'skipped'
      ? `${timing.timeZone} has no ${time} on ${date}; it is due at ${problem.shown} then`
      : `${timing.timeZone} has ${time} twice on ${date}; it is due the first time`
  })
}
