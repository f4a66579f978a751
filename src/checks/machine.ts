/** Checks what the program runs on: database, daemon, disk, snapshot, clock, stuck jobs. */
import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { shellCommand } from '../errors.ts'
import { upperFirst } from '../report/words/clean-text.ts'
import { readServerFacts } from '../store/db/postgres.ts'
import type { Db } from '../store/db/store.ts'
import { isOfDaemon } from '../store/schedule/lease.ts'
import { findClockSet } from '../store/schedule/uptime.ts'
import { formatAge, formatUtc, minutesBefore } from '../time.ts'
import { ALERTED, type Check, type Facts, type Finding, internal, plain, VITAL } from './check.ts'

const MB = 1_000_000
/** The free disk space that a heartbeat needs. With less, nothing at all can be written. */
const FULL_BYTES = MB
/** With less free space, short writes succeed, and a commit of a sync may fail. */
const SCARCE_BYTES = 16 * MB
const LOG_MAX_BYTES = 128 * MB
/** As a multiple of the size of the database: for a snapshot and for the log that a sync writes. */
const FREE_SHARE = 1.5
const FREE_LEAST_BYTES = 200 * MB
/** A snapshot is old after this time, or at once if no other one is in the making. */
const SNAPSHOT_MINUTES = 120
export const CLOCK_AHEAD_MAX_MS = 120_000
const JOB_MINUTES = 60
const DAY_MINUTES = 24 * 60
/** The number of free connections that a worker needs when it starts. */
const CONNECTIONS_LEAST = 10

export const MACHINE_CHECKS = {
  database_unwritable: {
    ...VITAL,
    part: 'database',
    title: 'database unwritable',
    meaning: 'the database is gone or cannot be written, or its disk is full',
    find: findUnwritable,
  },
  database_faults: {
    ...ALERTED,
    part: 'database',
    title: 'database was unwritable',
    meaning: 'the database could not be written for a while',
    alert: 'once',
    find: findFaults,
  },
  store_damaged: {
    ...ALERTED,
    part: 'database',
    title: 'database rules broken',
    meaning: 'a consistency rule that `doctor` checks is broken; checked once an hour',
    severity: 'fail',
    find: findDamage,
  },
  daemon_away: {
    ...VITAL,
    part: 'daemon',
    title: 'daemon away',
    meaning: 'the daemon was stopped, or has sent no heartbeat for three minutes',
    find: findDaemonAway,
  },
  disk_low: {
    ...ALERTED,
    part: 'disk',
    title: 'disk nearly full',
    meaning: 'too little disk space for another snapshot and the log of a sync',
    alert: 'after_failures',
    find: findDiskLow,
  },
  log_large: {
    ...ALERTED,
    part: 'log',
    title: 'write-ahead log large',
    meaning: 'the write-ahead log is larger than 128 MB although no sync is running',
    alert: 'after_failures',
    find: findLogLarge,
  },
  snapshot_old: {
    ...ALERTED,
    part: 'snapshot',
    title: 'snapshot old',
    meaning: 'a snapshot could not be made, or the database has had newer data for two hours',
    find: findSnapshotOld,
  },
  clock_set: {
    ...ALERTED,
    part: 'clock',
    title: 'clock set',
    meaning: 'the clock went back or jumped by more than two minutes, or the machine slept',
    alert: 'once',
    find: findClockSets,
  },
  clock_wrong: {
    ...ALERTED,
    part: 'clock',
    title: 'clock wrong',
    meaning:
      'our clock and that of the upstream differ by more than two minutes, or the upstream cannot confirm a clock that was set',
    alert: 'after_failures',
    find: findClockWrong,
  },
  job_stuck: {
    ...ALERTED,
    part: 'jobs',
    title: 'job stuck',
    meaning: 'a sync, report or delivery has run far longer than its limit',
    find: findStuck,
  },
} as const satisfies Record<string, Check>

async function findUnwritable(facts: Facts): Promise<Finding[]> {
  const { db, place } = facts
  if (place.kind === 'postgres') return findServerUnwritable(db)
  if (place.file === ':memory:') return []
  if (!(await mayWrite(place.file))) {
    return plain(
      'the database is gone or cannot be written',
      'see that data_dir is there, that this user may write to it, and that its disk is not mounted read-only',
    )
  }
  const { room } = await facts.size()
  if (room === null || room.free >= SCARCE_BYTES) return []
  const isFull = room.free < FULL_BYTES
  return plain(
    `less than ${megabytes(isFull ? FULL_BYTES : SCARCE_BYTES)} are free on the disk of the database`,
    `make room: ${shellCommand('db prune')}, or a larger disk`,
    { severity: isFull ? 'fail' : 'warn' },
  )
}

async function findFaults({ lastFault, now }: Facts): Promise<Finding[] | null> {
  if (lastFault === undefined) return null
  const fault = lastFault()
  if (fault === null || fault.to === null || fault.to < minutesBefore(now, DAY_MINUTES)) return []
  const { from, to, message, hint } = fault
  const span = `from ${formatUtc(from)} to ${formatUtc(to)}`
  const brief = `could not be written ${span}`
  return [{ subject: from, message: `${upperFirst(span)} nothing could be stored: ${message}.`, brief, hint }]
}

async function findServerUnwritable(db: Db): Promise<Finding[]> {
  const { isStandby, isReadOnly, connections: used, connectionsMax: most } = await readServerFacts(db)
  if (isStandby) {
    return plain(
      'the PostgreSQL server follows another one, and takes no writes',
      'name the primary in database_url (LEADSHEET_DATABASE_URL)',
    )
  }
  if (isReadOnly) {
    return plain(
      'PostgreSQL lets this user only read',
      'name another user in database_url (LEADSHEET_DATABASE_URL), or set default_transaction_read_only off',
    )
  }
  if (most - used >= CONNECTIONS_LEAST) return []
  return plain(
    `${most - used} of the ${most} connections of PostgreSQL are left`,
    'raise max_connections, or end what else connects to it',
    { severity: 'warn' },
  )
}

/**
 * Checks the permission to write, but writes nothing. Anybody may request /readyz, so the check must not
 * cause disk work. If the permission exists but writing fails, the daemon cannot store its heartbeat, and
 * another check reports this.
 */
async function mayWrite(file: string): Promise<boolean> {
  try {
    // The folder must be writable too, because SQLite keeps its log beside the file.
    for (const path of [file, dirname(file)]) await access(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function findDamage(facts: Facts): Promise<Finding[] | null> {
  const violations = await facts.violations()
  if (violations === null) return null
  return violations.map(({ rule, count, examples, remedy }) => ({
    subject: rule,
    message: `${rule}: not so for ${count}, such as ${examples.join(', ')}`,
    brief: `${rule}: not so for ${count}`,
    hint: `${remedy}. ${shellCommand('doctor')} asks for all rules.`,
  }))
}

async function findDaemonAway(facts: Facts): Promise<Finding[]> {
  const daemonState = await facts.daemonState()
  const uptime = await facts.lastUptime()
  if (daemonState === 'none' || daemonState === 'alive' || uptime === undefined) return []
  const since = formatAge(facts.now, uptime.last_heartbeat_at)
  return daemonState === 'dead'
    ? plain(
        `the daemon has sent no heartbeat for ${since}`,
        'start it again, and see its log for why it ended or cannot write',
      )
    : plain(
        `the daemon was stopped ${since} ago: nothing is synced or mailed by itself`,
        `start it: ${shellCommand('run')}`,
        { severity: 'warn' },
      )
}

async function findDiskLow(facts: Facts): Promise<Finding[]> {
  const room = await readRoom(facts)
  if (room === null) return []
  const { free, database } = room
  const wanted = Math.max(FREE_LEAST_BYTES, FREE_SHARE * database)
  if (free >= wanted) return []
  // The free space is rounded up to the next 100 MB, and a full disk too, so that the text of the alert does not
  // change each minute.
  const rounded = Math.max(1, Math.ceil(free / (100 * MB))) * 100 * MB
  return plain(
    `Less than ${megabytes(rounded)} are free in the data directory; ${megabytes(wanted)} are wanted beside a database of ${megabytes(database)}.`,
    `Make room: ${shellCommand('db prune')}, or a larger disk.`,
  )
}

async function findLogLarge(facts: Facts): Promise<Finding[]> {
  const room = await readRoom(facts)
  if (room === null || room.log <= LOG_MAX_BYTES) return []
  if ((await facts.leases()).some(({ name }) => name === 'sync')) return []
  return plain(
    `The write-ahead log beside the database has ${megabytes(room.log)}, more than ${megabytes(LOG_MAX_BYTES)}, though no sync runs.`,
    'Somebody has the live database open and reads: end that, and have them open snapshot.db. The next sync empties the log.',
  )
}

/** In bytes. Null for PostgreSQL, in memory, and if the database file cannot be written. */
async function readRoom(facts: Facts) {
  const { place } = facts
  if (place.kind === 'postgres' || place.file === ':memory:' || !(await mayWrite(place.file))) return null
  return (await facts.size()).room
}

async function findSnapshotOld(facts: Facts): Promise<Finding[]> {
  const fault = facts.snapshotFault?.() ?? null
  if (fault !== null) return plain(fault.message, fault.hint ?? '')
  if (facts.snapshotAfterSync === null) return []
  const info = await facts.snapshot()
  const newer = (await facts.runs()).filter(
    ({ leadsAsOf, inserted, updated, deleted, startedAt }) =>
      leadsAsOf !== null && inserted + updated + deleted > 0 && startedAt > (info?.madeAt ?? ''),
  )
  const oldest = newer.at(-1)?.finishedAt
  const isIdle =
    facts.place.kind === 'sqlite' &&
    !(await facts.leases()).some(({ name }) => name === 'sync' || name === 'snapshot')
  if (oldest == null || (!isIdle && oldest > minutesBefore(facts.now, SNAPSHOT_MINUTES))) return []
  const age = info === null ? 'There is no snapshot' : `The snapshot is of ${formatUtc(info.madeAt)}`
  return plain(
    `${age}, though syncs have brought new data since ${formatUtc(oldest)}.`,
    `${shellCommand('snapshot')} makes it now, and says what keeps it from being made.`,
  )
}

async function findClockSets({ db, now }: Facts): Promise<Finding[]> {
  const set = await findClockSet(db, minutesBefore(now, DAY_MINUTES), now.toISOString())
  if (set === null) return []
  return [
    {
      subject: set.to,
      message: `The clock went from ${formatUtc(set.from)} to ${formatUtc(set.to)} at once: it was set, or the machine slept.`,
      hint: `Let the machine set its clock by NTP, and keep it awake. ${shellCommand('schedule NAME')} tells what was missed.`,
    },
  ]
}

async function findClockWrong({ clockAheadMs, clockDoubt }: Facts): Promise<Finding[] | null> {
  if (clockAheadMs === undefined) return null
  const doubt = clockDoubt?.() ?? null
  if (doubt !== null) {
    return internal(
      doubt,
      'Let the machine set its clock by NTP. If its clock is right, start the daemon again.',
    )
  }
  const aheadMs = clockAheadMs()
  if (aheadMs === null || Math.abs(aheadMs) <= CLOCK_AHEAD_MAX_MS) return []
  const minutes = Math.round(Math.abs(aheadMs) / 60_000)
  return internal(
    `Our clock is ${minutes} minutes ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the upstream.`,
    'Let the machine set its clock by NTP: scheduled runs, and what counts as changed since, depend on it.',
  )
}

async function findStuck(facts: Facts): Promise<Finding[]> {
  const stuck = (await facts.leases()).filter((lease) => {
    const { name, acquired_at } = lease
    // A daemon keeps its lease for as long as it runs, so an old one does not mean that a job is stuck.
    if (isOfDaemon(lease)) return false
    const longest = name === 'sync' ? Math.max(JOB_MINUTES, 2 * facts.runMinutes) : JOB_MINUTES
    return acquired_at <= minutesBefore(facts.now, longest)
  })
  return stuck.map(({ name, host, pid, acquired_at }) => ({
    subject: name,
    message: `${name} has been running since ${formatUtc(acquired_at)}, as process ${pid} on ${host}.`,
    hint: 'Look at its log; if it does nothing any more, end the process: the next run goes on from where it was.',
  }))
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MB).toLocaleString('en')} MB`
}
