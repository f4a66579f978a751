/** The types of a check, which looks at facts about an installation and returns findings. */
import type { Instant } from '../domain/model.ts'
import type { ReportedPart } from '../domain/sync.ts'
import { LeadsheetError } from '../errors.ts'
import type { CatchUp, Timing } from '../schedule/timing.ts'
import { type Alert, listAlerts } from '../store/alerts/alert.ts'
import { readSize, type StoreSize } from '../store/backup/backup.ts'
import type { Db, Store } from '../store/db/store.ts'
import { findViolations, invariantsOf, type Violation } from '../store/invariants/invariants.ts'
import { listHeldLeases, wasLeft } from '../store/schedule/lease.ts'
import { findLastScheduledRun } from '../store/schedule/scheduled-run.ts'
import { findLastUptime, type LastHeartbeat } from '../store/schedule/uptime.ts'
import { readSnapshotInfo, type SnapshotInfo } from '../store/snapshot/snapshot.ts'
import { listRuns, type RunSummary } from '../store/sync/sync-run.ts'
import { findLastRead, type LastRead } from '../store/sync/watermark.ts'

export interface Check {
  /** The line of `status`, `doctor`, /readyz and /metrics in which the check's findings are shown. */
  readonly part: Part
  /** The short name of the problem in mail subjects, headings and sentences. */
  readonly title: string
  /** The condition under which the check finds a problem, as docs/reference/checks.md says it. */
  readonly meaning: string
  /** The severity of the check's findings, unless a finding has its own. */
  readonly severity: Severity
  readonly shownIn: readonly Place[]
  /**
   * The time at which a finding opens an alert. `at_once`: when the finding first occurs. `after_failures`:
   * after {@link ALERT_FAILURES} failures in a row, because the problem may pass by
   * itself. `once`: when the finding first occurs. Such an alert has no reminders and no resolution, because
   * the finding reports a past event.
   */
  readonly alert?: 'at_once' | 'after_failures' | 'once'
  /**
   * Runs every minute, so it uses no network and no large table. Null leaves the open alerts as they are.
   */
  readonly find: (facts: Facts) => Promise<readonly Finding[] | null>
}

export type Severity = 'warn' | 'fail'
export type Place = 'status' | 'doctor' | 'readyz' | 'metrics' | 'alerts'

const SHOWN_IN: readonly Place[] = ['status', 'doctor', 'metrics']
/** The values of most checks: a finding is a warning, is shown, and opens an alert at once. */
export const ALERTED = { severity: 'warn', shownIn: [...SHOWN_IN, 'alerts'], alert: 'at_once' } as const
/** The values of checks that open no alert. */
export const SHOWN = { severity: 'warn', shownIn: SHOWN_IN } as const
/** The values of checks without which the installation does nothing. */
export const VITAL = { severity: 'fail', shownIn: [...SHOWN_IN, 'readyz'] } as const

/** The lines of `status` and /metrics, in the order in which they are shown. */
export const PARTS = [
  ...['database', 'daemon', 'leads', 'statistics', 'agents', 'times', 'syncs', 'upstream', 'events'],
  ...['schedules', 'reports', 'messages', 'recipients', 'quarantined records', 'disk', 'log', 'snapshot'],
  ...['clock', 'jobs', 'settings'],
] as const
export type Part = (typeof PARTS)[number]

/** A problem that exists now. */
export interface Finding {
  /** The report, recipient or field that the finding is about; empty if the check has only one subject. */
  readonly subject: string
  /** It states figures and a start but no duration, because an alert is rewritten whenever it changes. */
  readonly message: string
  readonly hint: string
  readonly severity?: Severity
  /** Without addresses and text from other servers, for public places. If absent, they show the title. */
  readonly brief?: string
  /** The number of failures in a row. If absent, the findings in a row are counted instead. */
  readonly failures?: number
  /** If the problem occurred again after an operator acknowledged the alert, it is shown again. */
  readonly last?: Instant
}

type MoreOfFinding = Omit<Finding, 'subject' | 'message' | 'hint'>

/** @param message a text without addresses and without text from other servers */
export function plain(message: string, hint: string, more: MoreOfFinding = {}): [Finding] {
  return internal(message, hint, { brief: message, ...more })
}

/** Makes such a finding with a text that only operators may read. */
export function internal(message: string, hint: string, more: MoreOfFinding = {}): [Finding] {
  return [{ subject: '', message, hint, ...more }]
}

/** One line of `status`, `doctor` and `init`. */
export interface CheckResult<What extends string = string> {
  readonly what: What
  readonly status: 'ok' | Severity
  /** The texts of all findings, joined in one line. */
  readonly found: string
  /** The action to take; null if nothing is wrong. */
  readonly remedy: string | null
}

/** Turns an error of the upstream into a failed result. Interruptions and bugs are thrown again. */
export async function attempt(
  what: string,
  remedy: string,
  check: () => Promise<CheckResult>,
): Promise<CheckResult> {
  try {
    return await check()
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
    return fail(what, thrown.message, thrown.hint ?? remedy)
  }
}

export function ok<What extends string>(what: What, found: string): CheckResult<What> {
  return { what, status: 'ok', found, remedy: null }
}

export function warn<What extends string>(what: What, found: string, remedy: string): CheckResult<What> {
  return { what, status: 'warn', found, remedy }
}

export function fail<What extends string>(what: What, found: string, remedy: string): CheckResult<What> {
  return { what, status: 'fail', found, remedy }
}

/** The webhook that this installation has registered at the upstream. */
interface KnownRegistration {
  /** The types of events, such as `lead.created`. */
  readonly events: readonly string[]
  readonly registeredAt: Instant
}

export interface EventSource {
  /** Null if there is none. Throws LeadsheetError webhook_unreadable. */
  readonly readRegistration: () => Promise<KnownRegistration | null>
  /** True if a person registered the webhook by hand; its secret is then in the settings. */
  readonly isByHand: boolean
  /** True if the upstream's API lets a program register a webhook. */
  readonly canRegister: boolean
}

// A fact is read only if a check needs it, and only once for all checks.

/** The failures in a row after which an alert opens whose problem may pass by itself. */
export const ALERT_FAILURES = 3
/** The maximum number of syncs to read. At the default interval, a day has fewer syncs. */
const RUNS_MAX = 100
const ALERTS_MAX = 1_000

export interface InstalledSchedule {
  /** The name of the schedule in the store, such as `sync` or `report:daily`. */
  readonly name: string
  readonly timing: Timing
  readonly catchUp: CatchUp
}

/** The facts about an installation that come from its settings. */
export interface Installation {
  readonly store: Pick<Store, 'db' | 'place'>
  readonly schedules: readonly InstalledSchedule[]
  /** The names of the reports in the settings. */
  readonly reports: readonly string[]
  /** The kinds of data (leads, statistics, agents) that the upstream offers according to its profile. */
  readonly reportedParts: readonly ReportedPart[]
  /** Null if the settings want no snapshot, or give it a schedule of its own. */
  readonly snapshotAfterSync: string | null
  /** Null if the upstream has no webhooks or this installation does not listen for them. */
  readonly events: EventSource | null
  /** The time limit of a sync, in minutes. */
  readonly runMinutes: number
  /** The name of the mail server, such as `smtp://mail.example.com:587`; null if nothing is mailed. */
  readonly mailServer: string | null
  /** The path of the settings file; null if all settings come from the environment. */
  readonly settingsFile: string | null
  /** The place where each setting was given, as in `Config`. */
  readonly sources: Readonly<Record<string, string>>
  /** The mistakes of settings that were left out. */
  readonly settingsMistakes: readonly string[]
}

/** A time in which the database could not be written. `to` is null while it lasts. */
export interface StoreFault {
  readonly from: Instant
  readonly to: Instant | null
  readonly message: string
  readonly hint: string
}

/** The facts that only some processes know. A fact that this process does not know is absent. */
export interface Knowledge {
  /** Returns how many milliseconds our clock is ahead of the upstream's clock; null if this is unknown. */
  readonly clockAheadMs?: () => number | null
  /** Returns the last fault of the database; null if there was none. */
  readonly lastFault?: () => StoreFault | null
  /** Returns why the last snapshot could not be made; null if it was made. */
  readonly snapshotFault?: () => LeadsheetError | null
  /** Says why the clock is not believed after it was set; null if it is believed. */
  readonly clockDoubt?: () => string | null
  /** Returns the consistency rules that rows in the store break; null if the store was not searched. */
  readonly findViolations?: (now: Date) => Promise<readonly Violation[] | null>
  /** True if this process is the daemon. The daemon then counts as alive without a look at its heartbeat. */
  readonly isDaemon?: boolean
}

export type Facts = ReturnType<typeof readFacts>

export function readFacts(installation: Installation, knowledge: Knowledge, now: Date) {
  const { store, snapshotAfterSync } = installation
  const { db, place } = store
  const lastUptime = once(() => findLastUptime(db))
  return {
    ...installation,
    ...knowledge,
    db,
    place,
    now,
    lastUptime,
    daemonState: once(async (): Promise<DaemonState> => {
      if (knowledge.isDaemon) return 'alive'
      const seen = daemonStateOf(await lastUptime(), now)
      // A daemon that was killed on this machine has no process any more. It is dead, even if its last
      // heartbeat is recent.
      return seen === 'alive' && (await wasLeft(db, 'daemon')) ? 'dead' : seen
    }),
    /** The syncs of the store, newest first, at most RUNS_MAX. */
    runs: once((): Promise<RunSummary[]> => listRuns(db, RUNS_MAX)),
    lastRead: memo((part: ReportedPart): Promise<LastRead | null> => findLastRead(db, part)),
    lastScheduledRun: memo((schedule: string) => findLastScheduledRun(db, schedule, now.toISOString())),
    leases: once(() => listHeldLeases(db, now)),
    size: once((): Promise<StoreSize> => readSize(store)),
    snapshot: once(
      async (): Promise<SnapshotInfo | null> =>
        snapshotAfterSync === null ? null : readSnapshotInfo(snapshotAfterSync),
    ),
    openAlerts: once((): Promise<Alert[]> => listAlerts(db, 'open', ALERTS_MAX)),
    violations: once(async () => (await knowledge.findViolations?.(now)) ?? null),
  }
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined
  return () => {
    kept ??= read()
    return kept
  }
}

function memo<K, T>(read: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const kept = new Map<K, Promise<T>>()
  return (key) => {
    const known = kept.get(key) ?? read(key)
    kept.set(key, known)
    return known
  }
}

export function isInMemory(place: Store['place']): boolean {
  return place.kind === 'sqlite' && place.file === ':memory:'
}

/* Decides whether the daemon is alive. The daemon stores a heartbeat each minute. */

/** The maximum age of the last heartbeat of a live daemon. One or two missing heartbeats are tolerated. */
export const HEARTBEAT_MAX_MS = 180_000

/** `dead`: the daemon should run, but does not run or cannot write to the store. `none`: it never ran. */
export type DaemonState = 'alive' | 'stopped' | 'dead' | 'none'

export function daemonStateOf(heartbeat: LastHeartbeat | undefined, now: Date): DaemonState {
  if (heartbeat === undefined) return 'none'
  if (heartbeat.ended_at !== null) return 'stopped'
  // If the heartbeat is far in the future, the clock was set back since. Such a heartbeat does not prove that
  // the daemon is alive. A live daemon soon writes a new heartbeat.
  return Math.abs(now.getTime() - Date.parse(heartbeat.last_heartbeat_at)) <= HEARTBEAT_MAX_MS
    ? 'alive'
    : 'dead'
}

/** Also looks for the process on this machine, because a daemon may be killed just after its heartbeat. */
export async function isDaemonAlive(db: Db, now: Date): Promise<boolean> {
  return daemonStateOf(await findLastUptime(db), now) === 'alive' && !(await wasLeft(db, 'daemon'))
}

/* The search for broken rules of the store. The search takes too long to run each minute. */

/** A larger database is read completely only on request. A database of this size takes about a second. */
const READ_THROUGH_MAX_BYTES = 100_000_000

/** @param options.whole true reads even a large database completely */
export async function lookForViolations(
  store: Pick<Store, 'db' | 'place'>,
  { whole, now }: { readonly whole: boolean; readonly now: Date },
) {
  const { database: bytes } = await readSize(store)
  const reads = whole || bytes <= READ_THROUGH_MAX_BYTES ? 'all' : 'few'
  return { bytes, reads, violations: await findViolations(store.db, now.toISOString(), reads) } as const
}

/** Checks the rules of the store, for `doctor` and `db check`. */
export async function checkRules(
  store: Pick<Store, 'db' | 'place'>,
  options: { readonly whole: boolean; readonly now: Date },
): Promise<CheckResult[]> {
  const { bytes, reads, violations } = await lookForViolations(store, options)
  const broken = violations.map(({ rule, count, examples, remedy }) =>
    fail('consistency', `${rule}: not so for ${count}, such as ${examples.join(', ')}`, remedy),
  )
  if (broken.length > 0) return broken
  const megabytes = Math.round(bytes / 1e6).toLocaleString('en')
  return [
    reads === 'all'
      ? ok('consistency', `${invariantsOf(store.db).length} rules hold, ${megabytes} MB read through`)
      : ok(
          'consistency',
          `bookkeeping holds; ${megabytes} MB not read through, which \`doctor --whole\` does`,
        ),
  ]
}

const EVERY_MS = 60 * 60_000
/** A killed worker can be the cause. After this wait, another has taken over its work. */
const SURE_AFTER_MS = 2 * 60_000

/**
 * Creates a function that checks the rules once an hour. A broken rule is reported only after a second check
 * has found it broken again.
 * @returns a function that returns null if it did not check, or if a second check must follow
 */
export function createViolationWatch(db: Db): (now: Date) => Promise<readonly Violation[] | null> {
  let askedAt: number | null = null
  let suspected: ReadonlySet<string> = new Set()
  return async (now) => {
    const everyMs = suspected.size > 0 ? SURE_AFTER_MS : EVERY_MS
    if (askedAt !== null && Math.abs(now.getTime() - askedAt) < everyMs) return null
    const violations = await findViolations(db, now.toISOString(), 'few')
    askedAt = now.getTime()
    const isSure = violations.every(({ rule }) => suspected.has(rule))
    suspected = new Set(isSure ? [] : violations.map(({ rule }) => rule))
    return isSure ? violations : null
  }
}
