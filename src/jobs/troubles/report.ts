/** What is wrong with the due times of reports. */

import type { FailedSection } from '../../domain/figures.ts'
import { shellCommand } from '../../errors.ts'
import { counted } from '../../report/words/numbers.ts'
import { listLastFailed } from '../../store/reports/issue.ts'
import {
  findLastScheduledRun,
  listScheduledRunsNotedSince,
  type ScheduledRun,
} from '../../store/schedule/scheduled-run.ts'
import type { Trouble } from '../notice.ts'
import { tellInstant } from '../schedule/schedule.ts'
import { minutesBefore, type Watch } from './watch.ts'

/** A report, or any other due time, is late then. */
export const REPORT_LATE_MINUTES = 30
const DAY_MINUTES = 24 * 60

export const WATCH_REPORTS: Watch = {
  reasons: ['report_failed', 'report_held', 'report_late', 'report_missed', 'sections_failed'],
  async find({ store: { db }, reports }, now) {
    const troubles: (Trouble | null)[] = []
    for (const report of reports) {
      const schedule = `report:${report}`
      const last = await findLastScheduledRun(db, schedule, now.toISOString())
      const noted = await listScheduledRunsNotedSince(db, schedule, minutesBefore(now, DAY_MINUTES))
      troubles.push(
        last === undefined ? null : ofLast(report, last, now),
        missed(report, noted),
        incomplete(report, await listLastFailed(db, report)),
      )
    }
    return troubles.filter((trouble) => trouble !== null)
  },
}

function ofLast(report: string, scheduledRun: ScheduledRun, now: Date): Trouble | null {
  const due = `The report ${report} of ${tellInstant(scheduledRun.due_at)}`
  const why = scheduledRun.message === null ? '' : `: ${scheduledRun.message}`
  if (scheduledRun.state === 'held') {
    return {
      ...{ reason: 'report_held', subject: report },
      message: `${due} is held${why}`,
      hint: `Look at it with ${shellCommand(`report preview ${report}`)}; ${shellCommand(`report approve ${report}`)} sends it.`,
    }
  }
  if (scheduledRun.state === 'failed' || (scheduledRun.state === 'skipped' && scheduledRun.attempts > 0)) {
    return {
      ...{ reason: 'report_failed', subject: report },
      message: `${due} ${scheduledRun.state === 'failed' ? 'failed' : 'was skipped'}${why}`,
      hint: `Once it is mended, ${shellCommand(`report send ${report}`)} makes and sends it.`,
    }
  }
  const isOpen = scheduledRun.state === 'due' || scheduledRun.state === 'running'
  if (!isOpen || scheduledRun.due_at > minutesBefore(now, REPORT_LATE_MINUTES)) return null
  return {
    ...{ reason: 'report_late', subject: report },
    message: `${due} has not been made yet${why}`,
    hint: `${shellCommand('status')} shows what runs, and what the report waits for.`,
  }
}

/** ScheduledRuns that were never begun; one that stands for the moment at which the schedule was set up is none. */
function missed(report: string, noted: readonly ScheduledRun[]): Trouble | null {
  const scheduledRuns = noted.filter(
    ({ state, attempts, due_at, noted_at }) => state === 'skipped' && attempts === 0 && due_at !== noted_at,
  )
  const last = scheduledRuns.at(-1)
  if (last === undefined) return null
  const more = scheduledRuns.length === 1 ? '' : `, and ${counted(scheduledRuns.length - 1, 'time')} before`
  return {
    ...{ reason: 'report_missed', subject: report },
    message: `The report ${report} was not made at ${tellInstant(last.due_at)}${more}: ${last.message ?? 'skipped'}`,
    hint: `${shellCommand(`schedule next report:${report}`)} tells more; ${shellCommand(`report preview ${report} --at DATE`)} makes one of a past day.`,
  }
}

function incomplete(report: string, [first, ...others]: readonly FailedSection[]): Trouble | null {
  if (first === undefined) return null
  const more = others.length === 0 ? '' : `, nor could ${counted(others.length, 'other part')}`
  return {
    ...{ reason: 'sections_failed', subject: report },
    message: `Of the report ${report} that was mailed last, ${first.query ?? first.block} could not be made${more}: ${first.message}`,
    hint: `It says so in its place. Once it is mended, ${shellCommand(`report preview ${report} -o FILE`)} shows the report anew.`,
  }
}
