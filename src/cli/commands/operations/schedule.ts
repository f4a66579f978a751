/**
 * `leadsheet schedule`: shows when syncs and reports run, the outcome of the last run, and the next times
 * with the effects of clock changes.
 */
import type { Command } from 'commander'
import { openTemplatesOf, reportOf } from '../../../app/configured-reports.ts'
import type { ConfiguredSchedule } from '../../../app/configured-schedules.ts'
import { findSchedule, schedulesOf, scheduleWarnings } from '../../../app/configured-schedules.ts'
import { openDataToRead } from '../../../app/installation.ts'
import type { Config } from '../../../config/config.ts'
import { formatDates, periodOf } from '../../../domain/period.ts'
import { shellCommand } from '../../../errors.ts'
import type { Report } from '../../../jobs/reports/report-definition.ts'
import { formatHours } from '../../../jobs/schedule/schedule.ts'
import type { MissedScheduledRuns, ScheduleState } from '../../../jobs/schedule/schedule-state.ts'
import {
  GAP_MS,
  mayBeApproved,
  outcomeText,
  readMissedScheduledRuns,
  readScheduleStates,
} from '../../../jobs/schedule/schedule-state.ts'
import { clockNote, nextDueTime } from '../../../schedule/scheduled-runs.ts'
import type { CatchUp, Timing } from '../../../schedule/timing.ts'
import { startOfDay } from '../../../schedule/zone.ts'
import type { ScheduledRun } from '../../../store/schedule/scheduled-run.ts'
import type { Gap } from '../../../store/schedule/uptime.ts'
import { listGaps } from '../../../store/schedule/uptime.ts'
import { addExamples, day, wholeNumber } from '../../command.ts'
import { formatInstant, localTime } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export function defineSchedule(command: Command, terminal: Terminal): void {
  const list = command
    .command('list', { isDefault: true })
    .description('list schedules with their last and next run (same as `schedule`)')
    .action(() => listSchedules(terminal))
  addExamples(list, ['schedule', 'schedule --json'])
  defineNext(command, terminal)
}

async function listSchedules(terminal: Terminal): Promise<void> {
  const config = await terminal.dataConfig('time_zone')
  const now = new Date()
  await using store = await openDataToRead(config)
  const lines = await readScheduleStates(store.db, schedulesOf(config), now)
  const warnings = scheduleWarnings(config, now)
  if (terminal.json) return terminal.printJson('schedule list', lines.map(jsonOf), { warnings })
  await terminal.printTable<ScheduleState<ConfiguredSchedule>>(
    [
      { title: 'SCHEDULE', value: ({ name }) => name, isWhole: true },
      { title: 'WHEN', value: ({ timing }) => timing.expression, isWhole: true },
      { title: 'ZONE', value: ({ timing }) => timing.timeZone },
      { title: 'LAST', value: ({ last }) => last && formatInstant(last.due_at), isWhole: true },
      { title: 'OUTCOME', value: ({ last }) => last && outcomeText(last) },
      { title: 'NEXT', value: ({ next, timing }) => next && localTime(next, timing.timeZone), isWhole: true },
      { title: 'IN UTC', value: ({ next }) => next && formatInstant(next.toISOString()), isWhole: true },
      { title: 'IF MISSED', value: ({ catchUp }) => policyText(catchUp), isOptional: true },
    ],
    lines,
  )
  for (const held of lines.flatMap(heldText)) terminal.note(held)
  for (const warning of warnings) terminal.note(`warning: ${warning}`)
}

function jsonOf({ name, timing, catchUp, last, next }: ScheduleState<ConfiguredSchedule>) {
  return {
    schedule: name,
    when: timing.expression,
    time_zone: timing.timeZone,
    catch_up: catchUp.policy,
    last: last && {
      ...{ due_at: last.due_at, state: last.state, message: last.message, attempts: last.attempts },
      ...{ started_at: last.started_at, finished_at: last.finished_at, not_before: last.not_before },
    },
    next: next?.toISOString() ?? null,
    next_local: next && localTime(next, timing.timeZone),
  }
}

interface Options {
  readonly count: number
  readonly from?: string
}

interface ComingTime {
  readonly due_at: Date
  /** The local dates that the report of this time covers; null for a schedule without a report. */
  readonly covers: string | null
  /** The effect of a clock change on this time; null if no clock change affects it. */
  readonly note: string | null
}

interface Explanation {
  readonly schedule: ConfiguredSchedule
  readonly coming: readonly ComingTime[]
  readonly problems: readonly MissedScheduledRuns[]
}

const DAY_MS = 86_400_000
const DAYS_BACK = 30

function defineNext(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('next')
    .description('show the next runs in local time and UTC, and the missed runs with their reasons')
    .argument('[name]', 'name of a report or schedule (default: all)')
    .option('--count <number>', 'number of runs to show', wholeNumber(1, 1000), 10)
    .option('--from <date>', 'show runs from this local date on, such as 2026-11-20 (default: now)', day)
    .action((name: string | undefined, options: Options) => showNext(terminal, name, options))
  addExamples(command, [
    'schedule next',
    'schedule next daily --count 20',
    'schedule next daily --from 2027-03-20',
    'schedule next sync --json',
  ])
}

async function showNext(terminal: Terminal, name: string | undefined, options: Options): Promise<void> {
  const config = await terminal.dataConfig('time_zone')
  const now = new Date()
  const schedules = name === undefined ? schedulesOf(config) : [findSchedule(config, name)]
  const reports = await readReports(config, schedules)
  await using store = await openDataToRead(config)
  const explanations: Explanation[] = []
  for (const schedule of schedules) {
    const coming = comingTimes(
      schedule,
      reports.get(schedule.name) ?? null,
      startOf(options, schedule.timing, now),
      options.count,
    )
    explanations.push({
      schedule,
      coming,
      problems: await readMissedScheduledRuns(store.db, schedule.name, { daysBack: DAYS_BACK, now }),
    })
  }
  const since = new Date(now.getTime() - DAYS_BACK * DAY_MS).toISOString()
  const gaps = await listGaps(store.db, { since, now: now.toISOString(), leastMs: GAP_MS })
  if (terminal.json) return terminal.printJson('schedule next', explanations.map(explanationJson), { gaps })
  for (const explanation of explanations) await printExplanation(terminal, explanation)
  if (gaps.length === 0) return
  terminal.print(terminal.style('bold', `When the daemon did not run, in the last ${DAYS_BACK} days`))
  await terminal.printTable<Gap>(
    [
      { title: 'FROM', value: ({ from }) => formatInstant(from), isWhole: true },
      { title: 'TO', value: ({ to }) => formatInstant(to) ?? 'now', isWhole: true },
      { title: 'WHY', value: ({ why, to }) => (to === null ? 'it sends no heartbeat' : WHY[why]) },
    ],
    gaps,
  )
}

const WHY: Readonly<Record<Gap['why'], string>> = {
  down: 'it was not running',
  blocked: 'the process was blocked',
  unwritable: 'the database could not be written',
  clock: 'the clock was changed, or the machine was asleep',
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

/** Returns the time after which scheduled runs are listed. */
function startOf({ from }: Options, { timeZone }: Timing, now: Date): Date {
  return from === undefined ? now : new Date(startOfDay(Date.parse(from) / DAY_MS, timeZone) - 1)
}

function comingTimes(
  { timing }: ConfiguredSchedule,
  report: Report | null,
  after: Date,
  count: number,
): ComingTime[] {
  const times: ComingTime[] = []
  let previous = after
  for (
    let due = nextDueTime(timing, after);
    due !== null && times.length < count;
    due = nextDueTime(timing, due.due_at)
  ) {
    const covers = report && coveredBy(report, due.due_at)
    times.push({ due_at: due.due_at, covers, note: clockNote(timing, due, previous) })
    previous = due.due_at
  }
  return times
}

function coveredBy(report: Report, dueAt: Date): string {
  const { kind, timeZone } = report
  const period = periodOf(kind, dueAt, timeZone, { ...report, lastEnd: null })
  return kind === 'since_last' ? 'since the last one' : formatDates(period)
}

async function printExplanation(
  terminal: Terminal,
  { schedule, coming, problems }: Explanation,
): Promise<void> {
  const { name, timing, catchUp } = schedule
  terminal.print(
    terminal.style(
      'bold',
      `${name}: ${timing.expression}, ${timing.timeZone}; if missed: ${policyText(catchUp)}`,
    ),
  )
  if (coming.length === 0) terminal.print('There are no more runs.')
  else {
    await terminal.printTable<ComingTime>(
      [
        { title: 'NEXT', value: ({ due_at }) => localTime(due_at, timing.timeZone), isWhole: true },
        { title: 'IN UTC', value: ({ due_at }) => formatInstant(due_at.toISOString()), isWhole: true },
        ...(schedule.report
          ? [{ title: 'COVERS', value: ({ covers }: ComingTime) => covers, isWhole: true }]
          : []),
        ...(coming.some(({ note }) => note !== null)
          ? [{ title: 'CLOCK', value: ({ note }: ComingTime) => note ?? '' }]
          : []),
      ],
      coming,
    )
  }
  terminal.print('')
  if (problems.length === 0) return
  terminal.print(`Missed in the last ${DAYS_BACK} days:`)
  await terminal.printTable<MissedScheduledRuns>(
    [
      {
        title: 'DUE',
        value: ({ first }) => localTime(new Date(first.due_at), timing.timeZone),
        isWhole: true,
      },
      {
        title: 'UNTIL',
        value: ({ last, count }) => (count === 1 ? null : localTime(new Date(last.due_at), timing.timeZone)),
        isOptional: true,
      },
      { title: 'RUNS', value: ({ count }) => count },
      { title: 'STATE', value: ({ first }) => stateText(first) },
      { title: 'WHY', value: ({ first }) => first.message },
    ],
    problems,
  )
  terminal.print('')
}

function stateText(scheduledRun: ScheduledRun): string {
  if (scheduledRun.state !== 'done' || scheduledRun.started_at === null) return outcomeText(scheduledRun)
  const minutes = Math.round((Date.parse(scheduledRun.started_at) - Date.parse(scheduledRun.due_at)) / 60_000)
  return `done, ${minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`} late`
}

function explanationJson({ schedule: { name, timing, catchUp }, coming, problems }: Explanation) {
  return {
    schedule: name,
    when: timing.expression,
    time_zone: timing.timeZone,
    catch_up: catchUp.policy,
    next: coming.map(({ due_at, covers, note }) => ({
      due_at: due_at.toISOString(),
      local: localTime(due_at, timing.timeZone),
      covers,
      note,
    })),
    missed: problems.map(({ first, last, count }) => ({
      ...{ from: first.due_at, to: last.due_at, scheduled_runs: count, state: first.state },
      ...{ started_at: first.started_at, message: first.message },
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
