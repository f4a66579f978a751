/** A schedule for tests of due times: daily at 07:00 UTC, with nothing to do. */
import type { DueRun, Schedule } from '../../../src/jobs/schedule/schedule.ts'
import type { CatchUp, Timing } from '../../../src/schedule/timing.ts'

export const LATEST: CatchUp = { policy: 'latest', windowHours: 24 }

export function timing(expression: string, timeZone = 'UTC', holidays: readonly string[] = []): Timing {
  return { expression, timeZone, holidays }
}

/** Returns a run that is on time and is tried for the first time. */
export function dueAt(dueAt: Date): DueRun {
  return { dueAt: dueAt, notedAt: dueAt, attempt: 1, late: null, isApproved: false }
}

export function scheduleOf(settings: Partial<Schedule> = {}): Schedule {
  const name = settings.name ?? 'report:daily'
  return {
    name,
    leaseName: name,
    timing: timing('0 7 * * *'),
    catchUp: LATEST,
    runsAtFirstSight: false,
    run: async () => ({ state: 'done', message: null }),
    ...settings,
  }
}
