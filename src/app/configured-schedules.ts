/** Builds the schedules of syncs and reports, in the order in which the daemon runs them. */
import type { Config } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'
import type { PeriodKind } from '../domain/figures.ts'
import { type CoveringRun, formatDates, listCoveringRuns } from '../domain/period.ts'
import { LeadsheetError } from '../errors.ts'
import type { ScheduleSettings } from '../jobs/schedule/schedule.ts'
import { type CatchUp, parseExpression, type Timing } from '../schedule/timing.ts'
import { dateOf, localDay, type WeekStart, weekdayOf } from '../schedule/zone.ts'

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

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const

/** A report that comes more days than this after the end of its period surprises: a newer period is almost over. */
const LATE_DAYS: Readonly<Partial<Record<PeriodKind, number>>> = { week: 4, month: 24, quarter: 84 }

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

/** @param kinds the kind of period of each report, by its name */
export function periodWarnings(config: Config, kinds: ReadonlyMap<string, PeriodKind>, now: Date): string[] {
  return schedulesOf(config).flatMap(({ name, report, timing }) => {
    const kind = report === null ? undefined : kinds.get(report.name)
    const surprise = kind === undefined ? null : periodSurprise(kind, timing, config.weekStarts, now)
    return surprise === null ? [] : [`${name}: ${surprise}`]
  })
}

/** Returns how the periods of two runs in a row do not join, or that all come late; null if neither. */
function periodSurprise(kind: PeriodKind, timing: Timing, weekStarts: WeekStart, now: Date): string | null {
  const pattern = parseExpression(timing.expression, timing.holidays)
  const isOnceADay = 'isContinuous' in pattern && pattern.isContinuous
  const runs = listCoveringRuns(kind, timing, { isOnceADay, weekStarts }, now)
  const dayOf = (at: Date) => localDay(at.getTime(), timing.timeZone)
  const [first, ...others] = runs
  if (first === undefined) return null
  const covers = ({ due, period }: CoveringRun) =>
    `the report of ${named(dayOf(due))} covers ${formatDates(period)}`
  const isEachWeekday = new Set(runs.map(({ due }) => weekdayOf(dayOf(due)))).size === 5
  const schedule = scheduleFor(kind, weekStarts)
  for (const [index, run] of others.entries()) {
    const before = runs[index] ?? run
    const { from } = run.period
    const { to } = before.period
    if (from > to) {
      const instead = isEachWeekday && kind === 'day' ? 'working_day' : 'since_last'
      const missed = formatDates({ ...run.period, from: to, to: from })
      return `with the period ${kind}, ${covers(run)}, and no report covers ${missed}; write period: ${instead}`
    }
    // On a weekend, the period of working days begins with Friday each day.
    if (from < to && kind !== 'working_day') {
      const twice = formatDates({ ...run.period, to })
      const instead = LATE_DAYS[kind] === undefined ? '' : ', or period: since_last'
      return `with the period ${kind}, ${covers(run)}, but that of ${named(dayOf(before.due))} has ${twice} already; write schedule: ${schedule}${instead}`
    }
  }
  const lateDays = LATE_DAYS[kind] ?? Number.POSITIVE_INFINITY
  if (runs.every(({ due, period }) => dayOf(due) - dayOf(new Date(period.to)) >= lateDays))
    return `with the period ${kind}, ${covers(first)}, not the ${kind} that ends then; write schedule: ${schedule}`
  const longest = Math.max(
    ...others.map(({ period: { from, to } }) => dayOf(new Date(to)) - dayOf(new Date(from))),
  )
  if (kind !== 'since_last' || longest <= 1) return null
  const instead = longest >= 28 ? 'month' : longest >= 7 ? 'week' : 'working_day'
  return `the first report covers the day before it alone, and each later one up to ${longest} days since the last; write period: ${instead} where the first must cover as much`
}

function named(day: number): string {
  return `${WEEKDAYS[weekdayOf(day) - 1]} ${dateOf(day)}`
}
