/** Checks the runtime: the version of Node, and its data about languages and time zones. */

import { existsSync } from 'node:fs'
import type { CheckResult } from '../../checks/check.ts'
import { fail, ok, warn } from '../../checks/check.ts'
import { CLOCK_AHEAD_MAX_MS } from '../../checks/machine.ts'
import type { SettingsInForce } from '../../checks/settings.ts'
import type { Config } from '../../config/config.ts'
import { shellCommand } from '../../errors.ts'
import { readSize } from '../../store/backup/backup.ts'
import { readServerFacts } from '../../store/db/postgres.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { findViolations, invariantsOf } from '../../store/invariants/invariants.ts'
import { findLastUptime } from '../../store/schedule/uptime.ts'
import { readSnapshotInfo } from '../../store/snapshot/snapshot.ts'
import { findLastRun, findLastWholeRun, hasRun } from '../../store/sync/sync-run.ts'
import { formatSpan, formatUtc } from '../../time.ts'

interface Runtime {
  readonly node: string
  /** The version of the IANA time zone data, such as `2026a`. */
  readonly tz: string | undefined
  /** True if this Node has the data of languages other than English, such as names of months. */
  readonly hasLanguages: boolean
}

// The maximum age of the time zone data in Node. Every year some country changes its rules, so older data
// gives wrong times.
const ZONES_MAX_YEARS = 2

export function thisRuntime(): Runtime {
  const { node, tz } = process.versions
  const january = new Intl.DateTimeFormat('de', { month: 'long', timeZone: 'UTC' }).format(0)
  return { node, tz, hasLanguages: january === 'Januar' }
}

export function* checkRuntime(
  { timeZone, reports }: Pick<Config, 'timeZone' | 'reports'>,
  { node, tz, hasLanguages }: Runtime,
  now: Date,
): Generator<CheckResult> {
  // The version needs no check, because the program does not start on a Node that is too old.
  yield ok('node', node)
  if (tz === undefined || !hasLanguages) {
    yield fail(
      'zone data',
      'this Node has no data of time zones or languages: it was built without them',
      'take a Node with full ICU, as nodejs.org and its images have it, or set NODE_ICU_DATA',
    )
    return
  }
  const zones = [...new Set([timeZone, ...reports.map((report) => report.timeZone)])]
  const years = now.getUTCFullYear() - Number.parseInt(tz, 10)
  yield years <= ZONES_MAX_YEARS
    ? ok('zone data', `${tz}, for ${zones.join(', ')}`)
    : warn(
        'zone data',
        `of ${tz}, ${years} years ago: scheduled runs may be an hour off where clocks are changed otherwise since`,
        'take a newer Node, which brings newer data',
      )
}

/* Checks this machine's clock against the clock of the upstream, and against the times in the database. */

const REMEDY =
  'let the machine set its clock by NTP: scheduled runs, and what counts as changed since, hang on it'

/**
 * @param aheadMs the milliseconds that this machine's clock is ahead of the upstream's clock; null if the
 * upstream sends no time
 */
export function compareClocks(aheadMs: number | null): CheckResult {
  if (aheadMs === null) return ok('clock', 'the upstream does not say what time it is')
  const found = `${formatSpan(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the upstream`
  return Math.abs(aheadMs) <= CLOCK_AHEAD_MAX_MS
    ? ok('clock', found)
    : fail('clock', `our clock is ${found}`, REMEDY)
}

/**
 * Returns a failed check if the database contains a time in the future; otherwise null. A time in the future
 * shows that the clock was set back.
 */
export async function checkPast(db: Db, now: Date): Promise<CheckResult | null> {
  const [heartbeat, run] = [(await findLastUptime(db))?.last_heartbeat_at, (await findLastRun(db))?.at]
  const latest = [heartbeat, run]
    .filter((at) => at !== undefined)
    .sort()
    .at(-1)
  if (latest === undefined || Date.parse(latest) - now.getTime() <= CLOCK_AHEAD_MAX_MS) return null
  const ahead = formatSpan(Date.parse(latest) - now.getTime())
  return fail(
    'clock',
    `the database has something of ${formatUtc(latest)}, which is still ${ahead} to come: the clock was set back`,
    REMEDY,
  )
}

/* Checks a PostgreSQL server: its version, encoding, rights and clock. */

// The oldest major version that leadsheet is tested with.
const MAJOR_LEAST = 14
// The maximum difference between the clocks of this machine and of the server. Daemons on different machines
// share locks and scheduled runs, so all clocks must nearly agree.
const CLOCK_APART_MAX_MS = 5_000

const UTF8 = 'UTF8'

export async function* checkServer(db: Db): AsyncGenerator<CheckResult> {
  const askedAtMs = Date.now()
  const { version, major, encoding, mayCreate, now } = await readServerFacts(db)
  // The server read its clock about half-way between the request and the answer.
  const aheadMs = (askedAtMs + Date.now()) / 2 - now.getTime()
  const found = `PostgreSQL ${version}, ${encoding}`
  if (encoding !== UTF8)
    yield fail('server', found, `make a database WITH ENCODING '${UTF8}', and name that in database_url`)
  else if (major < MAJOR_LEAST)
    yield warn('server', found, `leadsheet is tried with PostgreSQL ${MAJOR_LEAST} and later`)
  else yield ok('server', found)
  if (!mayCreate) {
    yield warn(
      'rights',
      'the user may not make tables in the schema, which the next version of leadsheet may have to',
      'GRANT CREATE ON SCHEMA … TO the user, or make it the owner',
    )
  }
  const clock = `${formatSpan(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database`
  yield Math.abs(aheadMs) <= CLOCK_APART_MAX_MS
    ? ok('database clock', clock)
    : warn('database clock', `our clock is ${clock}`, 'let all machines set their clocks by NTP')
}

/* Checks which settings the running daemon uses, and whether the file has changed since. */

const WHAT = 'in force'

/** @param inForce the settings that the running daemon uses; null if no daemon runs */
export function checkInForce(inForce: SettingsInForce | null): CheckResult | null {
  if (inForce === null) return null
  const { since, changedAt } = inForce
  const found = `the settings of ${formatUtc(since)}`
  if (changedAt !== null) {
    return warn(
      WHAT,
      `${found}; the file was changed at ${formatUtc(changedAt)}, and not read since`,
      RESTART,
    )
  }
  return ok(WHAT, found)
}

const RESTART = `${shellCommand('config check')} tries those on the disk; a restart of the daemon puts them in force`

/*
 * Looks for data that breaks a rule of the store, and checks whether the snapshot was made from this store. A
 * large store is read completely only on request, because reading takes minutes.
 */

// A larger database is read completely only on request. A database of this size takes about a second.
const READ_THROUGH_MAX_BYTES = 100_000_000

/** @param options.whole true reads even a large database completely */
export async function* checkStore(
  store: Store,
  options: { readonly whole: boolean; readonly now: Date },
): AsyncGenerator<CheckResult> {
  const { bytes, reads, violations } = await lookForViolations(store, options)
  const isWhole = reads === 'all'
  for (const { rule, count, examples, remedy } of violations) {
    yield fail('consistency', `${rule}: not so for ${count}, such as ${examples.join(', ')}`, remedy)
  }
  if (violations.length > 0) return
  const megabytes = Math.round(bytes / 1e6).toLocaleString('en')
  yield isWhole
    ? ok('consistency', `${invariantsOf(store.db).length} rules hold, ${megabytes} MB read through`)
    : ok('consistency', `bookkeeping holds; ${megabytes} MB not read through, which \`doctor --whole\` does`)
}

/** Looks for data that breaks a rule. A large database is read completely only if `whole` is true. */
export async function lookForViolations(
  store: Store,
  { whole, now }: { readonly whole: boolean; readonly now: Date },
) {
  const { database: bytes } = await readSize(store)
  const reads = whole || bytes <= READ_THROUGH_MAX_BYTES ? 'all' : 'few'
  return { bytes, reads, violations: await findViolations(store.db, now.toISOString(), reads) }
}

/**
 * @param file the path of the snapshot
 * @param isWanted true if a snapshot should follow each sync; only then a missing snapshot is a warning
 */
export async function checkSnapshot(
  store: Store,
  file: string,
  isWanted: boolean,
): Promise<CheckResult | null> {
  const info = readSnapshotInfo(file)
  const remedy = `${shellCommand('snapshot')} makes it now, and says what keeps it from being made`
  if (info === null) {
    if (existsSync(file))
      return fail('snapshot', `${file} cannot be read: it is damaged, or of an older leadsheet`, remedy)
    const isDue = isWanted && (await findLastWholeRun(store.db)) !== undefined
    return isDue ? warn('snapshot', `there is no ${file}, though a sync has read all leads`, remedy) : null
  }
  if (info.runId === null) return ok('snapshot', `without leads, made ${info.madeAt}`)
  return (await hasRun(store.db, info.runId))
    ? ok('snapshot', `of the run ${info.runId}, made ${info.madeAt}`)
    : fail(
        'snapshot',
        `shows the run ${info.runId}, of which the database knows nothing`,
        `run ${shellCommand('snapshot')}; after a restore that is to be expected`,
      )
}
