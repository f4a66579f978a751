/** Reads the state of an installation: health, last and next runs, waiting messages and events. */

import type { Installation, Knowledge } from '../checks/check.ts'
import { readHealth } from '../checks/run-checks.ts'
import { listAlerts } from '../store/alerts/alert.ts'
import { countEvents, countWaitingEvents, listEvents } from '../store/events/event-stats.ts'
import { countLeads } from '../store/leads/lead.ts'
import { countQuarantinedRecords } from '../store/leads/quarantined-record.ts'
import { countDeliveries } from '../store/outbox/delivery.ts'
import { listMailOutages } from '../store/outbox/send-limits.ts'
import { listIssues } from '../store/reports/issue-list.ts'
import { listScheduledRuns } from '../store/schedule/scheduled-run.ts'
import { findLastFailure, findLastWholeRun, listRuns } from '../store/sync/sync-run.ts'
import { minutesBefore } from '../time.ts'
import type { ScheduleSettings } from './schedule/schedule.ts'
import { listWorkers, readScheduleStates } from './schedule/schedule-state.ts'

interface StatusRows {
  readonly runs: number
  readonly scheduledRuns: number
  readonly issues: number
  readonly events: number
  readonly alerts: number
}

export type Status<S extends ScheduleSettings = ScheduleSettings> = Awaited<ReturnType<typeof readStatus<S>>>

export async function readStatus<S extends ScheduleSettings>(
  installation: Installation & { readonly schedules: readonly S[] },
  rows: StatusRows,
  now: Date,
  knowledge: Knowledge = {},
) {
  const { store, schedules, events } = installation
  const { db } = store
  return {
    health: await readHealth(installation, now, knowledge),
    leads: await countLeads(db),
    quarantinedRecords: await countQuarantinedRecords(db),
    dataAsOf: (await findLastWholeRun(db))?.asOf ?? null,
    lastFailure: await findLastFailure(db),
    alerts: await listAlerts(db, 'open', rows.alerts),
    runs: await listRuns(db, rows.runs),
    schedules: await readScheduleStates(db, schedules, now),
    scheduledRuns: await listScheduledRuns(db, rows.scheduledRuns),
    deliveries: await countDeliveries(db),
    serversAway: await listMailOutages(db),
    issues: await listIssues(db, null, rows.issues),
    /** The running workers; null for an SQLite file, on which only one daemon runs. */
    workers: store.place.kind === 'sqlite' ? null : await listWorkers(db, now),
    /** Null if the upstream has no webhooks, or if this installation does not listen for them. */
    events: events && {
      last: await listEvents(db, rows.events),
      recent: await countEvents(db, minutesBefore(now, 24 * 60)),
      waiting: await countWaitingEvents(db),
    },
  }
}
