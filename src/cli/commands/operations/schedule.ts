/**
 * `leadsheet schedule`: shows when syncs and reports run, the outcome of the last run, and the next times.
 */
import type { Command } from 'commander'
import { openTemplatesOf, reportOf } from '../../../app/configured-reports.ts'
import { type ConfiguredSchedule, findSchedule, schedulesOf } from '../../../app/configured-schedules.ts'
import { openDataToRead } from '../../../app/installation.ts'
import { isDaemonAlive } from '../../../checks/check.ts'
import type { Config } from '../../../config/config.ts'
import { formatDates, periodOf } from '../../../domain/period.ts'
import { shellCommand } from '../../../errors.ts'
import type { Report } from '../../../jobs/reports/report-definition.ts'
import { formatHours } from '../../../jobs/schedule/schedule.ts'
import type { MissedScheduledRuns, ScheduleState } from '../../../jobs/schedule/schedule-state.ts'
import {
  mayBeApproved,
  outcomeText,
  readMissedScheduledRuns,
  readScheduleStates,
} from '../../../jobs/schedule/schedule-state.ts'
import { nextScheduledRun } from '../../../schedule/scheduled-runs.ts'
import type { CatchUp } from '../../../schedule/timing.ts'
import type { ScheduledRun } from '../../../store/schedule/scheduled-run.ts'
import { addExamples, showing } from '../../command.ts'
import { formatInstant, localTime, type Paragraph, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

export function defineSchedule(command: Command, terminal: Terminal): void {
  const list = command
    .command('list', { isDefault: true })
    .description('list schedules with their last and next run; of one, the next runs and the missed ones')
    .argument('[name]', 'name of a report or schedule (default: all)')
    .action(showing(terminal, findSchedules))
  addExamples(list, ['schedule', 'schedule daily', 'schedule sync --json'])
}

const NEXT_SHOWN = 10
const DAYS_BACK = 30

interface ComingTime {
  readonly due_at: Date
  /** The local dates that the report of this time covers; null for a schedule without a report. */
  readonly covers: string | null
}

interface ScheduleLine extends ScheduleState<ConfiguredSchedule> {
  readonly coming: readonly ComingTime[]
  readonly missed: readonly MissedScheduledRuns[]
}

async function findSchedules(terminal: Terminal, name: string | undefined): Promise<Result> {
  const config = await terminal.dataConfig('time_zone')
  const now = new Date()
  const schedules = name === undefined ? schedulesOf(config) : [findSchedule(config, name)]
  const reports = await readReports(config, schedules)
  await using store = await openDataToRead(config)
  const lines: ScheduleLine[] = []
  for (const state of await readScheduleStates(store.db, schedules, now)) {
    const coming = comingTimes(state, reports.get(state.name) ?? null, now)
    const missed = await readMissedScheduledRuns(store.db, state.name, { daysBack: DAYS_BACK, now })
    lines.push({ ...state, coming, missed })
  }
  return {
    data: lines.map(jsonOf),
    text: [statesTable(lines), ...(name === undefined ? [] : lines.flatMap(runTables))],
    notes: [
      ...lines.flatMap(heldText),
      ...((await isDaemonAlive(store.db, now))
        ? []
        : ['No daemon is running, so nothing follows these schedules.']),
    ],
  }
}

function statesTable(lines: readonly ScheduleLine[]): Paragraph {
  return table(lines, [
    { title: 'SCHEDULE', value: ({ name }) => name },
    { title: 'WHEN', value: ({ timing }) => timing.expression },
    { title: 'ZONE', value: ({ timing }) => timing.timeZone },
    { title: 'LAST', value: ({ last }) => last && formatInstant(last.due_at) },
    { title: 'OUTCOME', value: ({ last }) => last && outcomeText(last) },
    { title: 'NEXT', value: ({ next, timing }) => next && localTime(next, timing.timeZone) },
    { title: 'IN UTC', value: ({ next }) => next && formatInstant(next.toISOString()) },
    { title: 'RECIPIENTS', value: ({ report }) => report?.recipients.length },
    { title: 'TEMPLATE', value: ({ report }) => report?.template },
    { title: 'IF MISSED', value: ({ catchUp }) => policyText(catchUp) },
  ])
}

/** Builds the reports with their folders, because a folder can define settings such as the period. */
async function readReports(
  config: Config,
  schedules: readonly ConfiguredSchedule[],
): Promise<Map<string, Report>> {
  const settings = schedules.flatMap(({ report }) => report ?? [])
  const templates = await openTemplatesOf(
    config,
    settings.map(({ template }) => template),
  )
  return new Map(
    settings.map((report) => [`report:${report.name}`, reportOf(report, config, templates).report]),
  )
}

function comingTimes({ timing }: ConfiguredSchedule, report: Report | null, after: Date): ComingTime[] {
  const times: ComingTime[] = []
  for (
    let due = nextScheduledRun(timing, after);
    due !== null && times.length < NEXT_SHOWN;
    due = nextScheduledRun(timing, due)
  )
    times.push({ due_at: due, covers: report && coveredBy(report, due) })
  return times
}

function coveredBy(report: Report, dueAt: Date): string {
  const { kind, timeZone } = report
  const period = periodOf(kind, dueAt, timeZone, { ...report, lastEnd: null })
  return kind === 'since_last' ? 'since the last one' : formatDates(period)
}

/** Shows the next and the missed runs of one schedule. */
function runTables({ timing, report, coming, missed }: ScheduleLine): Paragraph[] {
  const local = (at: Date | string): string => localTime(new Date(at), timing.timeZone)
  const next = table(coming, [
    { title: 'NEXT', value: ({ due_at }) => local(due_at) },
    { title: 'IN UTC', value: ({ due_at }) => formatInstant(due_at.toISOString()) },
    ...(report ? [{ title: 'COVERS', value: ({ covers }: ComingTime) => covers }] : []),
  ])
  const past = table(missed, [
    { title: 'DUE', value: ({ first }) => local(first.due_at) },
    {
      title: 'UNTIL',
      value: ({ last, count }) => (count === 1 ? null : local(last.due_at)),
    },
    { title: 'RUNS', value: ({ count }) => count },
    { title: 'STATE', value: ({ first }) => stateText(first) },
    { title: 'WHY', value: ({ first }) => first.message },
  ])
  return [
    coming.length === 0 ? 'There are no more runs.' : next,
    ...(missed.length === 0 ? [] : [`Missed in the last ${DAYS_BACK} days:`, past]),
  ]
}

function stateText(scheduledRun: ScheduledRun): string {
  if (scheduledRun.state !== 'done' || scheduledRun.started_at === null) return outcomeText(scheduledRun)
  const minutes = Math.round((Date.parse(scheduledRun.started_at) - Date.parse(scheduledRun.due_at)) / 60_000)
  return `done, ${minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`} late`
}

function jsonOf({ name, timing, report, catchUp, last, coming, missed }: ScheduleLine) {
  return {
    schedule: name,
    template: report?.template ?? null,
    recipients: report?.recipients.length ?? null,
    when: timing.expression,
    time_zone: timing.timeZone,
    catch_up: catchUp.policy,
    last: last && {
      due_at: last.due_at,
      state: last.state,
      message: last.message,
      attempts: last.attempts,
      started_at: last.started_at,
      finished_at: last.finished_at,
      not_before: last.not_before,
    },
    next: coming.map(({ due_at, covers }) => ({
      due_at: due_at.toISOString(),
      local: localTime(due_at, timing.timeZone),
      covers,
    })),
    missed: missed.map(({ first, last: end, count }) => ({
      from: first.due_at,
      to: end.due_at,
      scheduled_runs: count,
      state: first.state,
      started_at: first.started_at,
      message: first.message,
    })),
  }
}

/** Says of a report that is held, waits for its data or failed what lets it go on; otherwise an empty list. */
export function heldText({ name, last, report }: ScheduleState<ConfiguredSchedule>): string[] {
  if (last === null || report === null) return []
  const outcome = outcomeText(last)
  if (outcome !== 'held' && outcome !== 'waits') return []
  const how = outcome === 'held' ? ' is held' : ''
  const remedy = mayBeApproved(last)
    ? `${shellCommand(`report approve ${report.name}`)} sends it.`
    : `Fix that; the daemon tries again${last.not_before === null ? '' : ` after ${formatInstant(last.not_before)}`}.`
  return [`${name} of ${formatInstant(last.due_at)}${how}: ${last.message}. ${remedy}`]
}

/** Formats the catch-up policy, which says what happens to missed runs, with its time limit. */
function policyText({ policy, windowHours }: CatchUp): string {
  return Number.isFinite(windowHours) && policy !== 'none' ? `${policy}, ${formatHours(windowHours)}` : policy
}
