/**
 * The facts from which the checks decide. Each fact is read at most once for all checks, and only if a
 * check asks for it.
 */
import { countJobs, type QueueCounts } from '../queue/look.ts'
import type { CatchUp, Timing } from '../schedule/timing.ts'
import { type Alert, listAlerts } from '../store/alerts/alert.ts'
import { readSize, type StoreSize } from '../store/backup/backup.ts'
import type { Store } from '../store/db/store.ts'
import type { Violation } from '../store/invariants/invariants.ts'
import { listHeldLeases, wasLeft } from '../store/schedule/lease.ts'
import { findLastScheduledRun } from '../store/schedule/scheduled-run.ts'
import { findLastSpan } from '../store/schedule/uptime.ts'
import { readSnapshotInfo, type SnapshotInfo } from '../store/snapshot/snapshot.ts'
import { listRuns, type RunSummary } from '../store/sync/sync-run.ts'
import { findLastRead, type LastRead, type Resource } from '../store/sync/watermark.ts'
import type { EventSource } from './event-source.ts'
import { type Life, lifeOf } from './heartbeat.ts'

/** The number of syncs to read: more than a day of them at the default interval. */
const RUNS_MAX = 100
const ALERTS_MAX = 1_000

export interface InstalledSchedule {
  /** The name in the store: `sync`, `report:daily`. */
  readonly name: string
  readonly timing: Timing
  readonly catchUp: CatchUp
  readonly jitterSeconds: number
}

/** An installation according to its settings. */
export interface Installation {
  readonly store: Pick<Store, 'db' | 'place'>
  readonly schedules: readonly InstalledSchedule[]
  /** Names of the reports in the settings. */
  readonly reports: readonly string[]
  /** The resources that the upstream offers according to its profile. */
  readonly resources: readonly Resource[]
  /** The file of the snapshot; null if the settings want none or give it a schedule of its own. */
  readonly snapshotAfterSync: string | null
  /** Is null if the upstream has no webhooks or nothing listens for them. */
  readonly events: EventSource | null
  /** The maximum number of minutes of a sync. */
  readonly runMinutes: number
  /** The name of the mail server, such as `smtp://mail.example.com:587`; null if nothing is mailed. */
  readonly mailServer: string | null
  /** Is null if the settings come only from the environment. */
  readonly settingsFile: string | null
  /** The setting `alerts.after_failures`. */
  readonly afterFailures: number
}

/** The facts that only some processes know. */
export interface Knowledge {
  /** The time by which our clock is ahead of the upstream's; null if unknown. */
  readonly clockAheadMs?: () => number | null
  /** The broken rules of the store; null if nobody has looked. */
  readonly findViolations?: (now: Date) => Promise<readonly Violation[] | null>
  /** Tells whether the daemon itself asks; it is then alive. */
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
      // A daemon killed on this machine is known to be dead before its heartbeats are missed.
      return seen === 'alive' && (await wasLeft(db, 'daemon')) ? 'dead' : seen
    }),
    /** The last syncs, newest first. */
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
