/** The schedules that the settings make, in the order in which the daemon looks after them. */
import { type Config, hasDueTimes } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'
import { LeadsheetError } from '../errors.ts'
import { SET_UP } from '../jobs/note-slots.ts'
import { type ScheduleSettings, tellHours } from '../jobs/schedule.ts'
import { nextSlot } from '../schedule/slots.ts'
import type { CatchUp } from '../schedule/timing.ts'
import type { Db } from '../store/open.ts'
import { findLastSlot, type Slot } from '../store/schedule-slot.ts'
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

export interface ScheduleState extends ConfiguredSchedule {
  /** Null where it was never due. */
  readonly last: Slot | null
  /** Null where it is never due again. */
  readonly next: Date | null
}

export async function readSchedules(db: Db, config: Config, now: Date): Promise<ScheduleState[]> {
  return Promise.all(
    schedulesOf(config).map(async (schedule) => {
      const last = await findLastSlot(db, schedule.name, now.toISOString())
      const wasDue = last !== undefined && last.message !== SET_UP
      return { ...schedule, last: wasDue ? last : null, next: nextSlot(schedule.timing, now) }
    }),
  )
}

/** One that was put off, and tells why, is still to come. */
export function outcomeText({ state, message }: Pick<Slot, 'state' | 'message'>): string {
  return state === 'due' && message !== null ? 'waits' : state
}

/** A sentence where a report is held or waits; none otherwise. */
export function heldText({ name, last, report }: ScheduleState): string[] {
  if (last === null || report === null) return []
  const outcome = outcomeText(last)
  if (outcome !== 'held' && outcome !== 'waits') return []
  const how = outcome === 'held' ? ' is held' : ''
  const release = `\`leadsheet schedule release ${report.name}\` lets it go.`
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
