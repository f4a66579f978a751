/**
 * Composes the parts of the status page about the daemon: its schedules with their next and last runs, missed
 * runs, times without a running daemon, version, settings, disk and workers.
 */

import { readSettingsInForce } from '../../../checks/settings.ts'
import type { ScheduleSettings } from '../../../jobs/schedule/schedule.ts'
import type { MissedScheduledRuns, ScheduleState } from '../../../jobs/schedule/schedule-state.ts'
import {
  GAP_MS,
  listWorkers,
  mayBeApproved,
  outcomeText,
  readMissedScheduledRuns,
  readScheduleStates,
} from '../../../jobs/schedule/schedule-state.ts'
import type { QueueCounts } from '../../../queue/job-list.ts'
import { countJobs } from '../../../queue/job-list.ts'
import { formatDueTimes, listDueTimes } from '../../../report/preferences/page.ts'
import { upperFirst } from '../../../report/words/clean-text.ts'
import { createLocaleContext } from '../../../report/words/locale-context.ts'
import type { Timing } from '../../../schedule/timing.ts'
import { isCron } from '../../../schedule/timing.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import { readSize } from '../../../store/backup/backup.ts'
import type { Db, Store } from '../../../store/db/store.ts'
import type { ScheduledRun } from '../../../store/schedule/scheduled-run.ts'
import type { Gap } from '../../../store/schedule/uptime.ts'
import { findLastUptime, listGaps } from '../../../store/schedule/uptime.ts'
import { formatSpan } from '../../../time.ts'
import type { Button } from '../actions/buttons.ts'
import { approveButton } from '../actions/buttons.ts'
import type { Clock, Moment, Tag } from '../format.ts'
import { bytes, count, duration, LOCALE } from '../format.ts'

const DAYS_BACK = 7
const MISSED_MAX = 12
const GAPS_MAX = 8

interface Look {
  /** The time zone of the installation. */
  readonly timeZone: string
  readonly canAct: boolean
  readonly clock: Clock
}

interface SchedulesView {
  /** The schedules, ordered by their next run. */
  readonly schedules: readonly ScheduleView[]
  readonly missed: readonly MissedView[]
  readonly gaps: readonly GapView[]
  readonly days: number
}

interface ScheduleView {
  /** The name of the schedule in the store. */
  readonly id: string
  readonly name: string
  /** The schedule in words, such as `every day at 07:00`; null if its times do not repeat weekly. */
  readonly words: string | null
  /** The expression of the schedule in the settings, such as a cron expression. */
  readonly when: string
  /** The time zone of the schedule; null if it is the time zone of the installation. */
  readonly zone: string | null
  readonly next: Moment | null
  readonly nextIn: Moment | null
  readonly last: { readonly due: Moment; readonly tag: Tag; readonly message: string | null } | null
  /** The button to approve a report that is held or waits for its data; null if there is none. */
  readonly approve: Button | null
}

interface MissedView {
  readonly name: string
  readonly from: Moment
  /** The time of the last missed run in a row; null if only one run was missed. */
  readonly to: Moment | null
  readonly times: string
  readonly tag: Tag
  readonly why: string | null
}

interface GapView {
  readonly from: Moment | null
  readonly to: Moment | null
  readonly why: string
}

export async function readSchedules(
  db: Db,
  settings: readonly ScheduleSettings[],
  look: Look,
): Promise<SchedulesView> {
  const { clock } = look
  const { now } = clock
  const states = await readScheduleStates(db, settings, now)
  const missed = await Promise.all(
    settings.map(async ({ name }) =>
      (await readMissedScheduledRuns(db, name, { daysBack: DAYS_BACK, now })).map((one) => ({
        name,
        ...one,
      })),
    ),
  )
  const since = new Date(now.getTime() - DAYS_BACK * DAY_MS).toISOString()
  const gaps = await listGaps(db, { since, now: now.toISOString(), leastMs: GAP_MS })
  return {
    schedules: states.toSorted(byNext).map((state) => scheduleOf(state, look)),
    missed: missed
      .flat()
      .filter(({ first }) => !isOpen(first))
      .sort((a, b) => (a.last.due_at < b.last.due_at ? 1 : -1))
      .slice(0, MISSED_MAX)
      .map((one) => missedOf(one, clock)),
    gaps: gaps.slice(0, GAPS_MAX).map((gap) => gapOf(gap, clock)),
    days: DAYS_BACK,
  }
}

/** Names a schedule for people: `report:daily` becomes `Report daily`. */
function nameSchedule(name: string): string {
  const [, report] = /^report:(.*)$/.exec(name) ?? []
  if (report !== undefined) return `Report ${report}`
  return name === 'sync-full' ? 'Sync of all leads' : upperFirst(name)
}

function byNext(a: ScheduleState, b: ScheduleState): number {
  return (a.next?.getTime() ?? Number.POSITIVE_INFINITY) - (b.next?.getTime() ?? Number.POSITIVE_INFINITY)
}

function isOpen({ state }: ScheduledRun): boolean {
  return state === 'pending' || state === 'running' || state === 'held'
}

function scheduleOf(
  { name, timing, last, next }: ScheduleState,
  { timeZone, canAct, clock }: Look,
): ScheduleView {
  const [, report = null] = /^report:(.*)$/.exec(name) ?? []
  const coming = next?.toISOString() ?? null
  return {
    id: name,
    name: nameSchedule(name),
    words: wordsOf(timing, clock.now),
    when: timing.expression,
    zone: timing.timeZone === timeZone ? null : timing.timeZone,
    next: clock.at(coming),
    nextIn: clock.until(coming),
    last: last && {
      due: clock.at(last.due_at),
      tag: tagOf(last),
      message: last.state === 'done' || last.message === null ? null : clock.within(last.message),
    },
    approve: canAct && last && mayBeApproved(last) && report !== null ? approveButton(report) : null,
  }
}

/** Describes a schedule in words, such as `every day at 07:00`; null if its times do not repeat weekly. */
function wordsOf(timing: Timing, now: Date): string | null {
  if (!isCron(timing.expression)) return null
  const times = listDueTimes(timing, now)
  const [steps = 0, ...others] = times.slice(1).map((at, i) => Date.parse(at) - Date.parse(times[i] ?? at))
  const isEven = others.every((each) => each === steps)
  if (isEven && steps > 0 && steps < DAY_MS) return `every ${formatSpan(steps)}`
  return formatDueTimes(times, createLocaleContext(LOCALE, timing.timeZone, now.toISOString()))
}

const TAGS: Readonly<Record<ScheduledRun['state'], Tag['kind']>> = {
  ...{ pending: 'off', running: 'busy', held: 'warn', done: 'ok', failed: 'fail', skipped: 'warn' },
}

function tagOf(scheduledRun: ScheduledRun): Tag {
  return { kind: TAGS[scheduledRun.state], text: outcomeText(scheduledRun) }
}

function missedOf(
  { name, first, last, count: scheduledRuns }: MissedScheduledRuns & { readonly name: string },
  clock: Clock,
): MissedView {
  const isLate = first.state === 'done' && first.started_at !== null
  const lateMs = isLate ? Date.parse(first.started_at) - Date.parse(first.due_at) : 0
  return {
    name: nameSchedule(name),
    from: clock.at(first.due_at),
    to: scheduledRuns === 1 ? null : clock.at(last.due_at),
    times: count(scheduledRuns),
    tag: isLate ? { kind: 'off', text: `${duration(lateMs)} late` } : tagOf(first),
    why: first.message && clock.within(first.message),
  }
}

const WHY: Readonly<Record<Gap['why'], string>> = {
  down: 'it was not started',
  blocked: 'the process was kept from its work',
  unwritable: 'the database could not be written',
  clock: 'the clock was set, or the machine slept',
}

function gapOf({ from, to, why }: Gap, clock: Clock): GapView {
  return {
    from: clock.at(from),
    to: clock.at(to),
    why: to === null ? 'it sends no heartbeat' : WHY[why],
  }
}

/** The facts about the installation that do not come from the store. */
export interface InstallationFacts {
  readonly version: string
  /** The settings file; null if there is none. */
  readonly settingsFile: string | null
}

interface InstallationView {
  readonly version: string
  readonly id: string
  readonly daemon: { readonly since: Moment; readonly lastHeartbeat: Moment } | null
  readonly database: string
  /** The size of the database's log file and the free disk space; null if the store is in PostgreSQL. */
  readonly room: { readonly journal: string; readonly free: string } | null
  /** The name of the PostgreSQL server; null if the store is a file. */
  readonly server: string | null
  readonly settings: {
    readonly since: Moment
    readonly changed: Moment | null
  } | null
}

export async function readInstallation(
  store: Store,
  facts: InstallationFacts,
  clock: Clock,
): Promise<InstallationView> {
  const uptime = await findLastUptime(store.db)
  const { database, room } = await readSize(store)
  const settings = await readSettingsInForce(store.db, facts.settingsFile, clock.now)
  return {
    version: facts.version,
    id: store.installationId,
    daemon:
      uptime === undefined || uptime.ended_at !== null
        ? null
        : { since: clock.at(uptime.began_at), lastHeartbeat: clock.ago(uptime.last_heartbeat_at) },
    database: bytes(database),
    room: room && { journal: bytes(room.log), free: bytes(room.free) },
    server: store.place.kind === 'postgres' ? store.place.name : null,
    settings: settings && {
      since: clock.at(settings.since),
      changed: clock.at(settings.changedAt),
    },
  }
}

interface WorkersView {
  readonly workers: readonly WorkerView[]
  readonly waiting: string
  readonly active: string
  /** The jobs that were given up, by queue, such as `2 of message`. */
  readonly dead: readonly string[]
}

interface WorkerView {
  readonly id: string
  readonly host: string
  readonly pid: string
  readonly since: Moment
  readonly lastHeartbeat: Moment
  readonly inFlight: string
}

/** Lists the workers, which are the daemons on one PostgreSQL store. Returns null if the store is a file. */
export async function readWorkers(
  store: Pick<Store, 'db' | 'place'>,
  clock: Clock,
): Promise<WorkersView | null> {
  const jobs = await countJobs(store)
  if (jobs === null) return null
  const workers = await listWorkers(store.db, clock.now)
  const sum = (key: 'waiting' | 'active'): string =>
    count(jobs.reduce((total: number, queue: QueueCounts) => total + queue[key], 0))
  return {
    workers: workers.map(({ host, pid, since, lastHeartbeat, inFlight }) => ({
      ...{ id: `${host}-${pid}`, host, pid: String(pid) },
      ...{ since: clock.at(since), lastHeartbeat: clock.ago(lastHeartbeat), inFlight: inFlight.join(', ') },
    })),
    waiting: sum('waiting'),
    active: sum('active'),
    dead: jobs.filter(({ dead }) => dead > 0).map(({ queue, dead }) => `${count(dead)} of ${queue}`),
  }
}
