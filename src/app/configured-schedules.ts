/** The schedules that the settings make, in the order in which the daemon looks after them. */
import type { Config } from '../config/config.ts'
import { hasDueTimes } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'
import { LeadsheetError } from '../errors.ts'
import type { ScheduleSettings } from '../jobs/schedule/schedule.ts'
import { clockFindings } from '../schedule/clock-change.ts'
import type { CatchUp, Timing } from '../schedule/timing.ts'

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
    { name: 'sync-full', ...ownOf(sync.fullSchedule) },
    { name: 'sync', ...ownOf(sync.schedule) },
    ...(hasDueTimes(snapshot) ? [{ name: 'snapshot', ...ownOf(snapshot.when) }] : []),
    ...reports.map((report) => ({
      name: `report:${report.name}`,
      timing: { expression: report.schedule, holidays, timeZone: report.timeZone },
      catchUp: { policy: report.catchUp, windowHours: report.catchUpHours },
      ...{ jitterSeconds, report },
    })),
  ]
}

/**
 * @param name as in the ledger of scheduled runs, or that of a report
 * @throws LeadsheetError usage_invalid, naming those that there are
 */
export function findSchedule(config: Config, name: string): ConfiguredSchedule {
  const schedules = schedulesOf(config)
  const found = schedules.find((schedule) => schedule.name === name || schedule.report?.name === name)
  if (found) return found
  throw new LeadsheetError('usage_invalid', `There is no schedule named ${JSON.stringify(name)}`, {
    hint: `Those of the settings: ${schedules.map((schedule) => schedule.name).join(', ')}.`,
  })
}

/* What had better be known of schedules: times of the day that the clocks of their zone jump over or show twice. */

/** Zones that change their clocks do so within a year. */
const AHEAD_MS = 400 * 86_400_000

/** A sentence for each schedule and kind, of the next time that it happens. */
export function scheduleWarnings(config: Config, now: Date): string[] {
  return schedulesOf(config)
    .filter(({ name }) => name !== 'sync-full' || config.sources['sync.full_schedule'] !== undefined)
    .flatMap(({ name, timing }) => clockWarnings(timing, now).map((warning) => `${name}: ${warning}`))
}

function clockWarnings(timing: Timing, now: Date): string[] {
  const troubles = clockFindings(timing, now, new Date(now.getTime() + AHEAD_MS))
  return (['skipped', 'doubled'] as const).flatMap((kind) => {
    const trouble = troubles.find((each) => each.kind === kind)
    if (trouble === undefined) return []
    const [date, time] = trouble.time.split(' ')
    return kind === 'skipped'
      ? `${timing.timeZone} has no ${time} on ${date}; it is due at ${trouble.shown} then`
      : `${timing.timeZone} has ${time} twice on ${date}; it is due the first time`
  })
}
