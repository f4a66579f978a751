/** Checks whether scheduled runs begin in time and whether reports are made. */
import type { FailedSection } from '../domain/figures.ts'
import { shellCommand } from '../errors.ts'
import { counted } from '../report/words/numbers.ts'
import { nextScheduledRun } from '../schedule/scheduled-runs.ts'
import { LATE_MS } from '../schedule/timing.ts'
import { listLastFailed } from '../store/reports/issue.ts'
import {
  listOpenScheduledRuns,
  listScheduledRunsNotedSince,
  type ScheduledRun,
} from '../store/schedule/scheduled-run.ts'
import { formatUtc, minutesBefore } from '../time.ts'
import { ALERTED, type Check, type Facts, type Finding, plain, VITAL } from './check.ts'

/** The delay in minutes after which a scheduled run counts as late. */
const LATE_MINUTES = 30
const DAY_MINUTES = 24 * 60
const OF_REPORTS = { ...ALERTED, part: 'reports' } as const

export const REPORT_CHECKS = {
  schedule_behind: {
    ...VITAL,
    part: 'schedules',
    title: 'schedule behind',
    meaning: 'a run has not begun half an hour after its time, although the daemon is alive',
    find: findBehind,
  },
  report_held: {
    ...ALERTED,
    part: 'schedules',
    title: 'report held',
    meaning: 'a report waits until a person approves it',
    find: forEachReport((report, run) => (run?.state === 'held' ? held(report, run) : null)),
  },
  report_failed: {
    ...OF_REPORTS,
    title: 'report failed',
    meaning: 'the last scheduled run of a report failed or was skipped',
    find: forEachReport((report, run) => (run === undefined ? null : failed(report, run))),
  },
  report_late: {
    ...OF_REPORTS,
    title: 'report late',
    meaning: 'a report is more than half an hour late and still not made',
    // Only alerts show this finding, because a late report may just be waiting for the data of its period. A
    // report that has not even begun is shown in `status` by the check schedule_behind.
    shownIn: ['alerts'],
    find: forEachReport(async (report, last, { db, now }) =>
      last?.state === 'pending' || last?.state === 'running'
        ? late(report, await listOpenScheduledRuns(db, `report:${report}`, now.toISOString()), now)
        : null,
    ),
  },
  report_missed: {
    ...OF_REPORTS,
    title: 'report missed',
    meaning: 'scheduled runs of a report were missed and not caught up',
    alert: 'once',
    find: forEachReport(async (report, _, { db, now }) =>
      missed(
        report,
        await listScheduledRunsNotedSince(db, `report:${report}`, minutesBefore(now, DAY_MINUTES)),
      ),
    ),
  },
  sections_failed: {
    ...OF_REPORTS,
    title: 'report incomplete',
    meaning: 'a block of the last enqueued issue of a report could not be made',
    find: forEachReport(async (report, _, { db }) => incomplete(report, await listLastFailed(db, report))),
  },
} as const satisfies Record<string, Check>

/** A finding about one report, which is its subject. */
type OfReport = Omit<Finding, 'subject'> | null
type FindOfReport = (
  report: string,
  last: ScheduledRun | undefined,
  facts: Facts,
) => OfReport | Promise<OfReport>

function forEachReport(find: FindOfReport): Check['find'] {
  return async (facts) => {
    const findings: Finding[] = []
    for (const subject of facts.reports) {
      const found = await find(subject, await facts.lastScheduledRun(`report:${subject}`), facts)
      if (found !== null) findings.push({ subject, ...found })
    }
    return findings
  }
}

/** Looks only while the daemon is alive, because another check reports a dead daemon. */
async function findBehind(facts: Facts): Promise<Finding[]> {
  if ((await facts.daemonState()) !== 'alive') return []
  const behind: string[] = []
  for (const schedule of facts.schedules) {
    const dueAt = await findLate(facts, schedule)
    const { name } = schedule
    const called = name.startsWith('report:') ? name.replace(':', ' ') : `schedule ${name}`
    if (dueAt !== null) behind.push(`${called} since ${formatUtc(dueAt.toISOString())}`)
  }
  if (behind.length === 0) return []
  const hint = `${shellCommand('schedule')} shows what is due, and ${shellCommand('status')} what runs and what waits`
  return plain(`not begun: ${behind.join(', ')}`, hint)
}

/** Late is a run that waits too long in the store, or that is due and not stored. Null if none is late. */
async function findLate(facts: Facts, { name, timing }: Facts['schedules'][number]): Promise<Date | null> {
  const { db, now } = facts
  const last = await facts.lastScheduledRun(name)
  if (last === undefined) return null
  const next = nextScheduledRun(timing, new Date(last.due_at))
  const waiting = (await listOpenScheduledRuns(db, name, now.toISOString())).find(
    // If the upstream or missing data deferred the run to `not_before`, the run is late only after that time.
    ({ state, due_at, not_before }) =>
      state === 'pending' && (not_before ?? due_at) <= minutesBefore(now, LATE_MINUTES),
  )
  if (waiting !== undefined) return new Date(waiting.due_at)
  return next !== null && next.getTime() + LATE_MS <= now.getTime() ? next : null
}

function held(report: string, run: ScheduledRun): OfReport {
  return {
    message: `${dueText(report, run)} is held${whyText(run)}`,
    brief: `report ${report} of ${formatUtc(run.due_at)}: held until a person lets it go`,
    hint: `Look at it with ${shellCommand(`report preview ${report}`)}; ${shellCommand(`report approve ${report}`)} sends it.`,
  }
}

function failed(report: string, run: ScheduledRun): OfReport {
  const { state, attempts } = run
  if (state !== 'failed' && !(state === 'skipped' && attempts > 0)) return null
  return {
    message: `${dueText(report, run)} ${state === 'failed' ? 'failed' : 'was skipped'}${whyText(run)}`,
    hint: `Once the cause is fixed, ${shellCommand(`report send ${report}`)} makes and sends it.`,
  }
}

/** Looks at the oldest open run, because the latest run of a frequent report is never late. */
function late(report: string, open: readonly ScheduledRun[], now: Date): OfReport {
  const run = open.find(({ state }) => state !== 'held')
  if (run === undefined || run.due_at > minutesBefore(now, LATE_MINUTES)) return null
  return {
    message: `${dueText(report, run)} has not been made yet${whyText(run)}`,
    hint: `${shellCommand('status')} shows what runs, and what the report waits for.`,
  }
}

function dueText(report: string, { due_at }: ScheduledRun): string {
  return `The report ${report} of ${formatUtc(due_at)}`
}

function whyText({ message }: ScheduledRun): string {
  return message === null ? '' : `: ${message}`
}

/** A row stored exactly at its due time only marks the start of the schedule. */
function missed(report: string, noted: readonly ScheduledRun[]): OfReport {
  const scheduledRuns = noted.filter(
    ({ state, attempts, due_at, noted_at }) => state === 'skipped' && attempts === 0 && due_at !== noted_at,
  )
  const last = scheduledRuns.at(-1)
  if (last === undefined) return null
  const more = scheduledRuns.length === 1 ? '' : `, and ${counted(scheduledRuns.length - 1, 'time')} before`
  return {
    message: `The report ${report} was not made at ${formatUtc(last.due_at)}${more}: ${last.message ?? 'skipped'}`,
    hint: `${shellCommand(`report send ${report} --at ${last.due_at}`)} makes and sends the last of them; ${shellCommand(`schedule ${report}`)} lists all.`,
  }
}

function incomplete(report: string, [first, ...others]: readonly FailedSection[]): OfReport {
  if (first === undefined) return null
  const more = others.length === 0 ? '' : `, nor could ${counted(others.length, 'other part')}`
  return {
    message: `Of the last issue of the report ${report}, ${first.query ?? first.block} could not be made${more}: ${first.message}`,
    hint: `It says so in its place. Once the cause is fixed, ${shellCommand(`report preview ${report} -o FILE`)} shows the report anew.`,
  }
}
