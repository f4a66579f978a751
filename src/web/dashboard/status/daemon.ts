/** Composes the status page's parts about the daemon: schedules, gaps, version, disk and workers. */

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
import { upperFirst } from '../../../report/words/clean-text.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import { readSize } from '../../../store/backup/backup.ts'
import type { Db, Store } from '../../../store/db/store.ts'
import type { ScheduledRun } from '../../../store/schedule/scheduled-run.ts'
import { findLastUptime, type Gap, listGaps } from '../../../store/schedule/uptime.ts'
import { type Clock, duration, type Tag } from '../../server/format.ts'
import { button } from '../actions/buttons.ts'

const DAYS_BACK = 7
const MISSED_MAX = 12
const GAPS_MAX = 8

interface Look {
  readonly timeZone: string
  readonly canAct: boolean
  readonly clock: Clock
}

export async function readSchedules(db: Db, settings: readonly ScheduleSettings[], look: Look) {
  const { now } = look.clock
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
      .map(missedOf),
    gaps: gaps
      .slice(0, GAPS_MAX)
      .map(({ from, to, why }) => ({ from, to, why: to === null ? 'it sends no heartbeat' : WHY[why] })),
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

function scheduleOf({ name, timing, last, next }: ScheduleState, { timeZone, canAct }: Look) {
  const [, report = null] = /^report:(.*)$/.exec(name) ?? []
  return {
    id: name,
    name: nameSchedule(name),
    when: timing.expression,
    zone: timing.timeZone === timeZone ? null : timing.timeZone,
    next: next?.toISOString() ?? null,
    last: last && {
      due: last.due_at,
      tag: tagOf(last),
      message: last.state === 'done' ? null : last.message,
    },
    approve:
      canAct && last && mayBeApproved(last) && report !== null
        ? button('approve', 'Approve and send', report, { report })
        : null,
  }
}

const TAGS: Readonly<Record<ScheduledRun['state'], Tag['kind']>> = {
  pending: 'off',
  running: 'busy',
  held: 'warn',
  done: 'ok',
  failed: 'fail',
  skipped: 'warn',
}

function tagOf(scheduledRun: ScheduledRun): Tag {
  return { kind: TAGS[scheduledRun.state], text: outcomeText(scheduledRun) }
}

function missedOf({ name, first, last, count: times }: MissedScheduledRuns & { readonly name: string }) {
  const isLate = first.state === 'done' && first.started_at !== null
  const lateMs = isLate ? Date.parse(first.started_at) - Date.parse(first.due_at) : 0
  return {
    name: nameSchedule(name),
    from: first.due_at,
    to: times === 1 ? null : last.due_at,
    times,
    tag: isLate ? { kind: 'off', text: `${duration(lateMs)} late` } : tagOf(first),
    why: first.message,
  }
}

const WHY: Readonly<Record<Gap['why'], string>> = {
  down: 'it was not started',
  blocked: 'the process was kept from its work',
  unwritable: 'the database could not be written',
  clock: 'the clock was set, or the machine slept',
}

export async function readInstallation(store: Store, settingsFile: string | null, now: Date) {
  const uptime = await findLastUptime(store.db)
  const { database, room } = await readSize(store)
  return {
    id: store.installationId,
    daemon: uptime === undefined || uptime.ended_at !== null ? null : uptime,
    database,
    room,
    server: store.place.kind === 'postgres' ? store.place.name : null,
    settings: await readSettingsInForce(store.db, settingsFile, now),
  }
}

/** Lists the workers, which are the daemons on one PostgreSQL store. Returns null if the store is a file. */
export async function readWorkers(store: Pick<Store, 'db' | 'place'>, now: Date) {
  return store.place.kind === 'sqlite' ? null : { workers: await listWorkers(store.db, now) }
}
