/** Whether the daemon lives, and looks after its schedules. */
import { shellCommand } from '../../errors.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import type { Db } from '../../store/db/store.ts'
import { wasLeft } from '../../store/schedule/lease.ts'
import { findLastScheduledRun, listOpenScheduledRuns } from '../../store/schedule/scheduled-run.ts'
import { findLastSpan } from '../../store/schedule/uptime.ts'
import { fail, ok, warn } from '../../upstream/checkup.ts'
import { LATE_MS, type ScheduleSettings, tellInstant } from '../schedule/schedule.ts'
import { REPORT_LATE_MINUTES } from '../troubles/report.ts'
import { minutesBefore } from '../troubles/watch.ts'
import { type Life, lifeOf } from './beat.ts'
import { type HealthCheck, type Installation, tellSpan } from './installation.ts'

export interface DaemonState {
  readonly life: Life
  readonly check: HealthCheck
}

export async function readDaemon(db: Db, now: Date): Promise<DaemonState> {
  const span = await findLastSpan(db)
  const seen = lifeOf(span, now)
  // Nobody has to wait for its next beats to fail.
  const life = seen === 'alive' && (await wasLeft(db, 'daemon')) ? 'dead' : seen
  const since = span === undefined ? '' : tellSpan(now.getTime() - Date.parse(span.last_tick_at))
  const checks = {
    none: ok('daemon', 'none has run on these data'),
    alive: ok('daemon', `gave a sign of life ${since} ago`),
    stopped: warn(
      'daemon',
      `the daemon was stopped ${since} ago: nothing is synced or mailed by itself`,
      `start it: ${shellCommand('run')}`,
    ),
    dead: fail(
      'daemon',
      `the daemon has given no sign of life for ${since}`,
      'start it again, and see its log for why it ended or cannot write',
    ),
  } as const satisfies Record<Life, HealthCheck>
  return { life, check: checks[life] }
}

/** Of a daemon that lives; one that does not is behind with everything, and says so itself. */
export async function checkSchedules(
  { store: { db }, schedules }: Installation,
  now: Date,
): Promise<HealthCheck> {
  const behind: string[] = []
  const held: string[] = []
  for (const schedule of schedules) {
    const late = await findLate(db, schedule, now)
    if (late !== null) behind.push(`${called(schedule)} since ${tellInstant(late.toISOString())}`)
    const last = await findLastScheduledRun(db, schedule.name, now.toISOString())
    if (last?.state === 'held') held.push(`${called(schedule)} of ${tellInstant(last.due_at)}`)
  }
  const hint = `${shellCommand('schedule')} shows what is due, and ${shellCommand('status')} what runs and what waits`
  if (behind.length > 0) return fail('schedules', `not begun: ${behind.join(', ')}`, hint)
  if (held.length === 0) return ok('schedules', 'none is behind')
  return warn(
    'schedules',
    `${held.join(', ')}: held until a person lets it go`,
    `${shellCommand('status')} says why; ${shellCommand('report approve REPORT')} lets it go`,
  )
}

function called({ name }: ScheduleSettings): string {
  return name.startsWith('report:') ? name.replace(':', ' ') : `schedule ${name}`
}

/** The first due time that nobody has noted, or that was noted and has waited for too long to be begun. */
async function findLate(db: Db, { name, timing }: ScheduleSettings, now: Date): Promise<Date | null> {
  const at = now.toISOString()
  const last = await findLastScheduledRun(db, name, at)
  if (last === undefined) return null
  const next = nextScheduledRun(timing, new Date(last.due_at))
  const late = minutesBefore(now, REPORT_LATE_MINUTES)
  const waiting = (await listOpenScheduledRuns(db, name, at)).find(
    // What the upstream or the gate has put off is not behind before its time.
    ({ state, due_at, not_before }) => state === 'due' && (not_before ?? due_at) <= late,
  )
  if (waiting !== undefined) return new Date(waiting.due_at)
  return next !== null && next.getTime() + LATE_MS <= now.getTime() ? next : null
}
