/**
 * Defines the metrics of the installation with their Prometheus names. Where possible, a metric has a value
 * from the start of the process, so that alert rules need not handle missing values. The help of other
 * metrics says when they are absent.
 */

import { ALERTING_IDS } from '../checks/run-checks.ts'
import type { Instant } from '../domain/model.ts'
import type { Measures } from '../jobs/metric-values.ts'
import { EVENT_OUTCOMES } from '../store/events/event.ts'

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Definition {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly help: string
  readonly labels: readonly string[]
  readonly read: (measures: Measures) => readonly Sample[]
}

const STATES = { ok: 0, warn: 1, fail: 2 } as const
const OUTCOMES = ['ok', 'ok_no_change', 'partial', 'deferred', 'failed', 'killed'] as const
/** The possible results for a lead that a sync reads. The table of runs has a count for each of them. */
const RESULTS = ['inserted', 'updated', 'unchanged', 'deleted', 'quarantined'] as const
const SCHEDULED_RUN_STATES = ['pending', 'running', 'held', 'done', 'failed', 'skipped'] as const
const MESSAGE_STATES = [
  'pending',
  'sending',
  'data',
  'sent',
  'failed',
  'unconfirmed',
  'withdrawn',
  'bounced',
  'complained',
] as const
const QUARANTINED_KINDS = ['lead', 'pipeline_stat', 'agent', 'activity'] as const

const define =
  (type: Definition['type']) =>
  (name: string, help: string, read: Definition['read'], labels: readonly string[] = []): Definition => {
    return { name, type, help, labels, read }
  }
const gauge = define('gauge')
const counter = define('counter')

export const DEFINITIONS: readonly Definition[] = [
  gauge('leadsheet_health_state', 'Overall health: 0 ok, 1 warn, 2 fail.', ({ health }) =>
    one(STATES[health.status]),
  ),
  gauge(
    'leadsheet_health_check_state',
    'State of each line that the command `status` shows: 0 ok, 1 warn, 2 fail.',
    ({ health }) =>
      health.checks.map(({ what, status }) => sample({ check: what.replace(' ', '_') }, STATES[status])),
    ['check'],
  ),
  gauge(
    'leadsheet_last_success_timestamp_seconds',
    'Time up to which the copy of a resource (leads, stats or agents) is complete; absent before its first complete sync.',
    ({ health }) => health.freshness.flatMap(({ resource, asOf }) => atInstant(asOf, { resource })),
    ['resource'],
  ),
  gauge(
    'leadsheet_data_lag_seconds',
    'Age of the copy of a resource; absent before its first complete sync.',
    ({ health, now }) =>
      health.freshness.flatMap(({ resource, asOf }) =>
        asOf === null ? [] : sample({ resource }, secondsSince(asOf, now)),
      ),
    ['resource'],
  ),
  gauge(
    'leadsheet_data_fresh',
    '1 if the copy of a resource is fresh; 0 after three scheduled runs or 26 hours without a complete sync of it.',
    ({ health }) => health.freshness.map(({ resource, isFresh }) => sample({ resource }, isFresh ? 1 : 0)),
    ['resource'],
  ),
  gauge('leadsheet_leads', 'Leads in the copy, without deleted leads.', ({ leads }) => one(leads)),
  gauge(
    'leadsheet_quarantined_records',
    'Quarantined records: records that leadsheet cannot map, and keeps until it can.',
    ({ quarantined }) => each('resource', QUARANTINED_KINDS, quarantined, 'records'),
    ['resource'],
  ),
  counter(
    'leadsheet_sync_runs_total',
    `Finished syncs, by outcome: ${OUTCOMES.join(', ')}.`,
    ({ runs }) => each('outcome', OUTCOMES, runs, 'runs'),
    ['outcome'],
  ),
  counter(
    'leadsheet_sync_rows_total',
    'Leads that syncs have inserted, updated, left unchanged, marked as deleted or quarantined, by result.',
    ({ runs }) => RESULTS.map((result) => sample({ result }, sum(runs.map((run) => run[result])))),
    ['result'],
  ),
  counter(
    'leadsheet_sync_requests_total',
    'Requests that finished syncs sent to the upstream, by the outcome of the sync.',
    ({ runs }) => each('outcome', OUTCOMES, runs, 'requests'),
    ['outcome'],
  ),
  counter('leadsheet_sync_retries_total', 'Requests of finished syncs that were retries.', ({ runs }) =>
    one(sum(runs.map((run) => run.retries))),
  ),
  gauge('leadsheet_sync_running', '1 while a sync is running, else 0.', ({ runs }) =>
    one(runs.some(({ outcome }) => outcome === 'running') ? 1 : 0),
  ),
  gauge(
    'leadsheet_sync_last_duration_seconds',
    'Duration of the last finished sync; absent before the first.',
    ({ lastRun }) => (lastRun?.durationMs == null ? [] : one(lastRun.durationMs / 1000)),
  ),
  gauge(
    'leadsheet_events_last_day',
    `Processed webhook events of the last 24 hours, by outcome: ${EVENT_OUTCOMES.join(', ')}.`,
    ({ events }) => each('outcome', EVENT_OUTCOMES, events, 'events'),
    ['outcome'],
  ),
  gauge(
    'leadsheet_events_waiting',
    'Leads and pipelines that events announced and that leadsheet has not read yet.',
    ({ waitingEvents }) => one(waitingEvents.toRead),
  ),
  gauge(
    'leadsheet_events_oldest_waiting_seconds',
    'How long the oldest of the waiting leads and pipelines has waited; 0 if none is waiting.',
    ({ waitingEvents: { since }, now }) => one(since === null ? 0 : secondsSince(since, now)),
  ),
  gauge(
    'leadsheet_scheduled_runs',
    `Scheduled runs in the database, by state: ${SCHEDULED_RUN_STATES.join(', ')}.`,
    ({ schedules, scheduledRuns }) =>
      namesOf(schedules, scheduledRuns).flatMap((schedule) => {
        const own = scheduledRuns.filter((scheduledRun) => scheduledRun.schedule === schedule)
        return each('state', SCHEDULED_RUN_STATES, own, 'runs', { schedule })
      }),
    ['schedule', 'state'],
  ),
  counter(
    'leadsheet_scheduled_runs_missed_total',
    'Scheduled runs that were missed and not caught up.',
    ({ schedules, missed }) => each('schedule', namesOf(schedules, missed), missed, 'runs'),
    ['schedule'],
  ),
  gauge(
    'leadsheet_schedule_next_timestamp_seconds',
    'When the next run of a schedule is due; absent if there is none.',
    ({ schedules }) =>
      schedules.flatMap(({ name, next }) => atInstant(next?.toISOString() ?? null, { schedule: name })),
    ['schedule'],
  ),
  gauge(
    'leadsheet_outbox_messages',
    `Messages in the outbox, by state: ${MESSAGE_STATES.join(', ')}.`,
    ({ messages }) => MESSAGE_STATES.map((state) => sample({ state }, messages[state] ?? 0)),
    ['state'],
  ),
  gauge(
    'leadsheet_outbox_oldest_waiting_seconds',
    'How long the oldest unsent message has waited; 0 if none is waiting.',
    ({ waitingSince, now }) => one(waitingSince === null ? 0 : secondsSince(waitingSince, now)),
  ),
  counter(
    'leadsheet_mail_notifications_total',
    'Messages in the mailbox of bounces and events of the mail provider, by kind (such as bounced) and outcome (applied, unchanged, unmatched, ignored).',
    ({ notifications }) =>
      notifications.map(({ kind, outcome, notifications: value }) => sample({ kind, outcome }, value)),
    ['kind', 'outcome'],
  ),
  gauge(
    'leadsheet_mail_servers_away',
    'Mail servers that cannot be reached or refuse the login.',
    ({ serversAway }) => one(serversAway),
  ),
  gauge(
    'leadsheet_alerts_open',
    'Open alerts that nobody has acknowledged, by check.',
    ({ openAlerts }) =>
      ALERTING_IDS.map((check) => sample({ check }, openAlerts.filter((open) => open === check).length)),
    ['check'],
  ),
  gauge('leadsheet_database_bytes', 'Size of the database.', ({ size }) => one(size.database)),
  gauge('leadsheet_database_wal_bytes', 'Size of the write-ahead log; absent with PostgreSQL.', ({ size }) =>
    size.room === null ? [] : one(size.room.log),
  ),
  gauge(
    'leadsheet_disk_free_bytes',
    'Free space on the disk of the database; absent with PostgreSQL.',
    ({ size }) => (size.room === null ? [] : one(size.room.free)),
  ),
  gauge(
    'leadsheet_daemon_last_heartbeat_timestamp_seconds',
    'Last heartbeat of the daemon, which writes one every minute; absent before the first.',
    ({ lastHeartbeatAt }) => atInstant(lastHeartbeatAt),
  ),
  gauge('leadsheet_workers', 'Daemons that run on the database; absent with SQLite.', ({ workers }) =>
    workers === null ? [] : one(workers),
  ),
]

function one(value: number): Sample[] {
  return [sample({}, value)]
}

function sample(labels: Sample['labels'], value: number): Sample {
  return { labels, value }
}

/** Makes a sample for each value of a label, which is 0 if there is no row with that value. */
function each<Row extends object, Label extends keyof Row & string>(
  label: Label,
  values: readonly string[],
  rows: readonly Row[],
  count: keyof Row,
  labels: Sample['labels'] = {},
): Sample[] {
  return values.map((value) => {
    const row = rows.find((one) => one[label] === value)
    return sample({ ...labels, [label]: value }, row === undefined ? 0 : Number(row[count]))
  })
}

/** Makes a sample of an instant, in seconds since 1970; none if it is not known. */
function atInstant(instant: Instant | null, labels: Sample['labels'] = {}): Sample[] {
  return instant === null ? [] : [sample(labels, Date.parse(instant) / 1000)]
}

/** Lists the schedules in the settings, and former schedules whose counts the store still has. */
function namesOf(
  schedules: Measures['schedules'],
  counted: readonly { readonly schedule: string }[],
): string[] {
  return [...new Set([...schedules.map(({ name }) => name), ...counted.map(({ schedule }) => schedule)])]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function secondsSince(instant: Instant, now: Date): number {
  return (now.getTime() - Date.parse(instant)) / 1000
}
