/** The schedules that the settings make, in the order in which the daemon looks after them. */
import { type Config, hasDueTimes } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { type ScheduleSettings, tellHours } from '../jobs/schedule/schedule.ts'
import { outcomeText, type ScheduleState } from '../jobs/schedule/schedule-state.ts'
import type { CatchUp } from '../schedule/timing.ts'
import { formatInstant } from './table.ts'

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

/** A sentence where a report is held or waits; none otherwise. */
export function heldText({ name, last, report }: ScheduleState<ConfiguredSchedule>): string[] {
  if (last === null || report === null) return []
  const outcome = outcomeText(last)
  if (outcome !== 'held' && outcome !== 'waits') return []
  const how = outcome === 'held' ? ' is held' : ''
  const release = `${shellCommand(`schedule release ${report.name}`)} lets it go.`
  return [`${name} of ${formatInstant(last.slot)}${how}: ${last.message}. ${release}`]
}

/**
 * @param name as in the ledger of slots, or that of a report
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

/** What is made up for of what was missed, and for how long. */
export function policyText({ policy, windowHours }: CatchUp): string {
  return Number.isFinite(windowHours) && policy !== 'none' ? `${policy}, ${tellHours(windowHours)}` : policy
}
