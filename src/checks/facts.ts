/** Reads the facts about an installation from which the checks decide. */
import type { Instant } from '../domain/model.ts'
import type { QueueCounts } from '../queue/look.ts'
import { countJobs } from '../queue/look.ts'
import type { CatchUp, Timing } from '../schedule/timing.ts'
import type { Alert } from '../store/alerts/alert.ts'
import { listAlerts } from '../store/alerts/alert.ts'
import type { StoreSize } from '../store/backup/backup.ts'
import { readSize } from '../store/backup/backup.ts'
import type { Db, Store } from '../store/db/store.ts'
import type { Violation } from '../store/invariants/invariants.ts'
import { findViolations } from '../store/invariants/invariants.ts'
import { listHeldLeases, wasLeft } from '../store/schedule/lease.ts'
import { findLastScheduledRun } from '../store/schedule/scheduled-run.ts'
import type { LastHeartbeat } from '../store/schedule/uptime.ts'
import { findLastSpan } from '../store/schedule/uptime.ts'
import type { SnapshotInfo } from '../store/snapshot/snapshot.ts'
import { readSnapshotInfo } from '../store/snapshot/snapshot.ts'
import type { RunSummary } from '../store/sync/sync-run.ts'
import { listRuns } from '../store/sync/sync-run.ts'
import type { LastRead, Resource } from '../store/sync/watermark.ts'
import { findLastRead } from '../store/sync/watermark.ts'

/** The webhook that this installation has registered. */
export interface KnownRegistration {
  /** The types of events, such as `lead.created`. */
  readonly events: readonly string[]
  readonly registeredAt: Instant
}

export interface EventSource {
  /**
   * Reads the webhook that this installation has registered; null if there is none.
   * @throws LeadsheetError webhook_unreadable
   */
  readonly readRegistration: () => Promise<KnownRegistration | null>
  /** Tells whether a person registered a webhook by hand; its secret is then in the settings. */
  readonly isByHand: boolean
  /** Tells whether the upstream lets a program register a webhook. */
  readonly canRegister: boolean
}

/*
 * The facts from which the checks decide. Each fact is read at most once for all checks, and only if a check
 * needs it.
 */

/** The number of syncs to read. At the default interval, more than a day has that many syncs. */
const RUNS_MAX = 100
const ALERTS_MAX = 1_000

export interface InstalledSchedule {
  /** The name of the schedule in the store, such as `sync` or `report:daily`. */
  readonly name: string
  readonly timing: Timing
  readonly catchUp: CatchUp
  readonly jitterSeconds: number
}

/** The facts about an installation that come from its settings. */
export interface Installation {
  readonly store: Pick<Store, 'db' | 'place'>
  readonly schedules: readonly InstalledSchedule[]
  /** The names of the reports in the settings. */
  readonly reports: readonly string[]
  /** The resources that the upstream offers according to its profile. */
  readonly resources: readonly Resource[]
  /**
   * The path of the snapshot that is made after a sync. Null if the settings want no snapshot, or give the
   * snapshot a schedule of its own.
   */
  readonly snapshotAfterSync: string | null
  /**
   * The source of events; null if the upstream has no webhooks or this installation does not listen for them.
   */
  readonly events: EventSource | null
  /** The maximum number of minutes of a sync. */
  readonly runMinutes: number
  /** The name of the mail server, such as `smtp://mail.example.com:587`; null if nothing is mailed. */
  readonly mailServer: string | null
  /** The path of the settings file; null if all settings come from the environment. */
  readonly settingsFile: string | null
  /** The setting `alerts.after_failures`. */
  readonly afterFailures: number
}

/** The facts that only some processes know; absent if the process does not know them. */
export interface Knowledge {
  /** Returns by how many milliseconds our clock is ahead of the upstream's clock; null if unknown. */
  readonly clockAheadMs?: () => number | null
  /** Returns the broken rules of the store; null if nobody has looked for broken rules. */
  readonly findViolations?: (now: Date) => Promise<readonly Violation[] | null>
  /** Tells whether the daemon itself runs the checks; if so, the daemon is alive. */
  readonly isDaemon?: boolean
}

export type Facts = ReturnType<typeof readFacts>

export function readFacts(installation: Installation, knowledge: Knowledge, now: Date) {
  const { store, snapshotAfterSync } = installation
  const { db, place } = store
  const lastSpan = once(() => findLastSpan(db))
  return {
    ...installation,
    ...{ db, place, now, lastSpan },
    /** Tells whether the daemon is alive. */
    life: once(async (): Promise<Life> => {
      if (knowledge.isDaemon) return 'alive'
      const seen = lifeOf(await lastSpan(), now)
      // A daemon that was killed on this machine is known to be dead even before its heartbeat is overdue.
      return seen === 'alive' && (await wasLeft(db, 'daemon')) ? 'dead' : seen
    }),
    /** The syncs of the store, newest first, at most RUNS_MAX. */
    runs: once((): Promise<RunSummary[]> => listRuns(db, RUNS_MAX)),
    lastRead: memo((resource: Resource): Promise<LastRead | null> => findLastRead(db, resource)),
    lastScheduledRun: memo((schedule: string) => findLastScheduledRun(db, schedule, now.toISOString())),
    leases: once(() => listHeldLeases(db, now)),
    size: once((): Promise<StoreSize> => readSize(store)),
    snapshot: once(
      async (): Promise<SnapshotInfo | null> =>
        snapshotAfterSync === null ? null : readSnapshotInfo(snapshotAfterSync),
    ),
    jobs: once((): Promise<QueueCounts[] | null> => countJobs(store)),
    openAlerts: once((): Promise<Alert[]> => listAlerts(db, 'open', ALERTS_MAX)),
    clockAheadMs: () => knowledge.clockAheadMs?.() ?? null,
    knowsClock: knowledge.clockAheadMs !== undefined,
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

/** The age of the last heartbeat after which the daemon counts as dead. One or two heartbeats may be lost. */
export const HEARTBEAT_MAX_MS = 180_000

/**
 * `stopped`: a person ended the daemon. `dead`: the daemon should run, but does not run or cannot write to
 * the store. `none`: the daemon never ran.
 */
export type Life = 'alive' | 'stopped' | 'dead' | 'none'

export function lifeOf(beat: LastHeartbeat | undefined, now: Date): Life {
  if (beat === undefined) return 'none'
  if (beat.ended_at !== null) return 'stopped'
  // A heartbeat from the future does not count. If the clock was set back, a live daemon writes a new
  // heartbeat at its next tick.
  return Math.abs(now.getTime() - Date.parse(beat.last_tick_at)) <= HEARTBEAT_MAX_MS ? 'alive' : 'dead'
}

/* The daemon's search for broken rules of the store. The search takes too long to run each minute. */

const EVERY_MS = 60 * 60_000
/**
 * The wait before a broken rule is checked again. By then another worker has recovered the work of a killed
 * worker.
 */
const SURE_AFTER_MS = 2 * 60_000

/**
 * Creates a function that checks the rules once an hour. It reports a broken rule only if a second check
 * finds the rule broken again.
 * @returns a function that returns null if it did not check this time or must check a second time
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
