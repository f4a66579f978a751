/** Collects the values that the metrics of an installation show. Each call reads all values anew. */

import type { Installation } from '../checks/check.ts'
import { readHealth } from '../checks/run-checks.ts'
import { listAlerts } from '../store/alerts/alert.ts'
import { readSize } from '../store/backup/backup.ts'
import { countEvents, countWaitingEvents } from '../store/events/event-stats.ts'
import { countLeads } from '../store/leads/lead.ts'
import { countDeliveries } from '../store/outbox/delivery.ts'
import { countWaiting } from '../store/outbox/delivery-problems.ts'
import { countNotifications } from '../store/outbox/notification.ts'
import { listMailOutages } from '../store/outbox/send-limits.ts'
import {
  countMissedScheduledRuns,
  countQuarantinedByKind,
  countRuns,
  countScheduledRuns,
} from '../store/schedule/run-counts.ts'
import { findLastUptime } from '../store/schedule/uptime.ts'
import { listRuns } from '../store/sync/sync-run.ts'
import { minutesBefore } from '../time.ts'
import { listWorkers, readScheduleStates } from './schedule/schedule-state.ts'

const ALERTS_MAX = 1_000

export type Measures = Awaited<ReturnType<typeof readMeasures>>

export async function readMeasures(installation: Installation, now: Date) {
  const { store, schedules } = installation
  const { db } = store
  return {
    now,
    health: await readHealth(installation, now),
    leads: await countLeads(db),
    runs: await countRuns(db),
    lastRun: (await listRuns(db, 2)).find(({ durationMs }) => durationMs !== null) ?? null,
    schedules: await readScheduleStates(db, schedules, now),
    scheduledRuns: await countScheduledRuns(db),
    missed: await countMissedScheduledRuns(db),
    messages: await countDeliveries(db),
    notifications: await countNotifications(db),
    /** Null if no message is waiting to be sent. */
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
    /** The number of running workers; null if the store is an SQLite file. */
    workers: store.place.kind === 'sqlite' ? null : (await listWorkers(db, now)).length,
  }
}
