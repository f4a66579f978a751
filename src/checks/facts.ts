/** What the checks judge by. Each fact is read once for all of them, and only when a check asks for it. */
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

/** Looks back over a day at the usual pace. */
const RUNS_MAX = 100
const ALERTS_MAX = 1_000

export interface InstalledSchedule {
  /** As in the store: `sync`, `report:daily`. */
  readonly name: string
  readonly timing: Timing
  readonly catchUp: CatchUp
  readonly jitterSeconds: number
}

/** An installation as its settings have it. */
export interface Installation {
  readonly store: Pick<Store, 'db' | 'place'>
  readonly schedules: readonly InstalledSchedule[]
  /** Names of the reports of the settings. */
  readonly reports: readonly string[]
  /** What the upstream has, by its profile. */
  readonly resources: readonly Resource[]
  /** The file of the snapshot; null where the settings want none, or one on a schedule of its own. */
  readonly snapshotAfterSync: string | null
  /** Null where the upstream has no webhooks, or nothing listens to them. */
  readonly events: EventSource | null
  /** The longest that a sync may take. */
  readonly runMinutes: number
  /** The mail server by its name, such as `smtp://mail.example.com:587`; null where nothing is mailed. */
  readonly mailServer: string | null
  /** Null where the settings come from the environment alone. */
  readonly settingsFile: string | null
  /** The setting `alerts.after_failures`. */
  readonly afterFailures: number
}

/** What only some processes know. */
export interface Knowledge {
  /** By how much our clock is ahead of the upstream's; null where that is not known. */
  readonly clockAheadMs?: () => number | null
  /** The rules of the store that do not hold; null where nobody has looked. */
  readonly findViolations?: (now: Date) => Promise<readonly Violation[] | null>
  /** The daemon itself asks, so that it is alive. */
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
    /** Whether the daemon is alive. */
    life: once(async (): Promise<Life> => {
      if (knowledge.isDaemon) return 'alive'
      const seen = lifeOf(await lastSpan(), now)
      // A daemon that was killed on this machine is known to be dead before its heartbeats fail to come.
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
