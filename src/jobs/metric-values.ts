/** Collects the values that the metrics of an installation show. Each call reads all values anew. */

import type { Installation } from '../checks/check.ts'
import { type Health, readHealth } from '../checks/run-checks.ts'
import type { Instant } from '../domain/model.ts'
import { listAlerts } from '../store/alerts/alert.ts'
import { readSize, type StoreSize } from '../store/backup/backup.ts'
import {
  countEvents,
  countWaitingEvents,
  type EventCount,
  type WaitingEvents,
} from '../store/events/event-stats.ts'
import { countLeads } from '../store/leads/lead.ts'
import { countDeliveries } from '../store/outbox/delivery.ts'
import { countWaiting } from '../store/outbox/delivery-problems.ts'
import { listMailOutages } from '../store/outbox/send-limits.ts'
import {
  countMissedScheduledRuns,
  countQuarantinedByKind,
  countRuns,
  countScheduledRuns,
  type RunCounts,
  type ScheduledRunCounts,
} from '../store/schedule/run-counts.ts'
import { findLastUptime } from '../store/schedule/uptime.ts'
import { listRuns, type RunSummary } from '../store/sync/sync-run.ts'
import { minutesBefore } from '../time.ts'
import { listWorkers, readScheduleStates, type ScheduleState } from './schedule/schedule-state.ts'

export interface Measures {
  readonly now: Date
  readonly health: Health
  readonly leads: number
  readonly runs: readonly RunCounts[]
  readonly lastRun: RunSummary | null
  readonly schedules: readonly ScheduleState[]
  readonly scheduledRuns: readonly ScheduledRunCounts[]
  readonly missed: readonly { readonly schedule: string; readonly runs: number }[]
  readonly messages: Readonly<Record<string, number>>
  /** Null if no message is waiting to be sent. */
  readonly waitingSince: Instant | null
  readonly serversAway: number
  readonly openAlerts: readonly string[]
  readonly events: readonly EventCount[]
  readonly waitingEvents: WaitingEvents
  readonly quarantined: readonly { readonly resource: string; readonly records: number }[]
  readonly size: StoreSize
  readonly lastHeartbeatAt: Instant | null
  /** The number of running workers; null if the store is an SQLite file. */
  readonly workers: number | null
}

const ALERTS_MAX = 1_000

export function createMeasuring(installation: Installation): (now: Date) => Promise<Measures> {
  const { store, schedules } = installation
  const { db } = store
  return async (now) => ({
    now,
    health: await readHealth(installation, now),
    leads: await countLeads(db),
    runs: await countRuns(db),
    lastRun: (await listRuns(db, 2)).find(({ durationMs }) => durationMs !== null) ?? null,
    schedules: await readScheduleStates(db, schedules, now),
    scheduledRuns: await countScheduledRuns(db),
    missed: await countMissedScheduledRuns(db),
    messages: await countDeliveries(db),
    waitingSince: (await countWaiting(db)).since,
    serversAway: (await listMailOutages(db)).length,
    openAlerts: (await listAlerts(db, 'open', ALERTS_MAX))
      .filter(({ acknowledgedAt }) => acknowledgedAt === null)
      .map(({ checkId: check }) => check),
    events: await countEvents(db, minutesBefore(now, 24 * 60)),
    waitingEvents: await countWaitingEvents(db),
    quarantined: await countQuarantinedByKind(db),
    size: await readSize(store),
    lastHeartbeatAt: (await findLastUptime(db))?.last_heartbeat_at ?? null,
    workers: store.place.kind === 'sqlite' ? null : (await listWorkers(db, now)).length,
  })
}
