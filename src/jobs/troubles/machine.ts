/** What is wrong around the database: room, log, snapshot, clock, jobs that do not end. */

import { shellCommand } from '../../errors.ts'
import { readSize } from '../../store/backup/backup.ts'
import type { Room } from '../../store/db/file-system.ts'
import type { Db } from '../../store/db/store.ts'
import { isOfDaemon, listHeldLeases } from '../../store/schedule/lease.ts'
import { listClockSets } from '../../store/schedule/uptime.ts'
import { readSnapshotInfo, type SnapshotInfo } from '../../store/snapshot/snapshot.ts'
import { listRuns } from '../../store/sync/sync-run.ts'
import type { Trouble } from '../notice.ts'
import { tellInstant } from '../schedule/schedule.ts'
import { minutesBefore, type Watch, type Watched } from './watch.ts'

const MB = 1_000_000
const LOG_MAX_BYTES = 128 * MB
/** Beside the database a snapshot of it is made anew, and a sync writes a log. */
const FREE_SHARE = 1.5
const FREE_LEAST_BYTES = 200 * MB
const SNAPSHOT_MINUTES = 120
const RUNS_MAX = 100
export const CLOCK_AHEAD_MAX_MS = 120_000
const JOB_MINUTES = 60
const DAY_MINUTES = 24 * 60

export const WATCH_DISK: Watch = {
  reasons: ['disk_low', 'log_large'],
  async find({ store }, now) {
    const { room } = await readSize(store)
    if (room === null) return []
    const leases = await listHeldLeases(store.db, now)
    const isSyncing = leases.some(({ name }) => name === 'sync')
    return [diskLow(room), isSyncing ? null : logLarge(room)].filter((trouble) => trouble !== null)
  },
}

export const WATCH_SNAPSHOT: Watch = {
  reasons: ['snapshot_old'],
  async find({ store, snapshotAfterSync }, now) {
    if (snapshotAfterSync === null) return []
    const old = await snapshotOld(store.db, readSnapshotInfo(snapshotAfterSync), now)
    return old === null ? [] : [old]
  },
}

export const WATCH_CLOCK: Watch = {
  reasons: ['clock_set', 'clock_wrong'],
  async find({ store, clockAheadMs }, now) {
    const sets = await listClockSets(store.db, minutesBefore(now, DAY_MINUTES), now.toISOString())
    return [
      ...sets.map(
        ({ from, to }): Trouble => ({
          ...{ reason: 'clock_set', subject: to },
          message: `The clock went from ${tellInstant(from)} to ${tellInstant(to)} at once: it was set, or the machine slept.`,
          hint: `Let the machine set its clock by NTP, and keep it awake. ${shellCommand('schedule next')} tells what was missed.`,
        }),
      ),
      ...clockWrong(clockAheadMs()),
    ]
  },
}

export const WATCH_JOBS: Watch = {
  reasons: ['job_stuck'],
  async find(watched, now) {
    const leases = await listHeldLeases(watched.store.db, now)
    const stuck = leases.filter((lease) => {
      const { name, acquired_at } = lease
      // Those of daemons, and of workers that send messages, last as long as these run.
      if (isOfDaemon(lease) || name.startsWith('delivery:')) return false
      return acquired_at <= minutesBefore(now, longestOf(name, watched))
    })
    return stuck.map(({ name, host, pid, acquired_at }) => ({
      ...{ reason: 'job_stuck', subject: name },
      message: `${name} has been running since ${tellInstant(acquired_at)}, as process ${pid} on ${host}.`,
      hint: 'Look at its log; if it does nothing any more, end the process: the next run goes on from where it was.',
    }))
  },
}

function longestOf(name: string, { runMinutes }: Watched): number {
  return name === 'sync' ? Math.max(JOB_MINUTES, 2 * runMinutes) : JOB_MINUTES
}

export async function snapshotOld(db: Db, info: SnapshotInfo | null, now: Date): Promise<Trouble | null> {
  const newer = (await listRuns(db, RUNS_MAX)).filter(
    ({ leadsAsOf, inserted, updated, removed, startedAt }) =>
      leadsAsOf !== null && inserted + updated + removed > 0 && startedAt > (info?.madeAt ?? ''),
  )
  const oldest = newer.at(-1)?.finishedAt
  if (oldest == null || oldest > minutesBefore(now, SNAPSHOT_MINUTES)) return null
  const age = info === null ? 'There is no snapshot' : `The snapshot is of ${tellInstant(info.madeAt)}`
  return {
    ...{ reason: 'snapshot_old', subject: '' },
    message: `${age}, though syncs have brought new data since ${tellInstant(oldest)}.`,
    hint: `${shellCommand('snapshot')} makes it now, and says what keeps it from being made.`,
  }
}

export function diskLow({ free, database }: Room): Trouble | null {
  const wanted = Math.max(FREE_LEAST_BYTES, FREE_SHARE * database)
  if (free >= wanted) return null
  return {
    ...{ reason: 'disk_low', subject: '' },
    // To the next 100 MB, so that it is not written anew each minute.
    message: `Less than ${megabytes(Math.ceil(free / (100 * MB)) * 100 * MB)} are free in the data directory; ${megabytes(wanted)} are wanted beside a database of ${megabytes(database)}.`,
    hint: `Make room: fewer snapshots (snapshot.keep), ${shellCommand('db prune')}, or a larger disk.`,
  }
}

export function logLarge({ log }: Room): Trouble | null {
  if (log <= LOG_MAX_BYTES) return null
  return {
    ...{ reason: 'log_large', subject: '' },
    message: `The write-ahead log beside the database has ${megabytes(log)}, more than ${megabytes(LOG_MAX_BYTES)}, though no sync runs.`,
    hint: 'Somebody has the live database open and reads: end that, and have them open snapshot.db. The next sync empties the log.',
  }
}

function clockWrong(aheadMs: number | null): Trouble[] {
  if (aheadMs === null || Math.abs(aheadMs) <= CLOCK_AHEAD_MAX_MS) return []
  const minutes = Math.round(Math.abs(aheadMs) / 60_000)
  return [
    {
      ...{ reason: 'clock_wrong', subject: '' },
      message: `Our clock is ${minutes} minutes ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the upstream.`,
      hint: 'Let the machine set its clock by NTP: due times, and what counts as changed since, hang on it.',
    },
  ]
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / MB).toLocaleString('en')} MB`
}
