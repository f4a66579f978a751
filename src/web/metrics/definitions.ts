/**
 * The metrics of the installation with Prometheus names and units. Each series exists from the start, so that
 * an alert rule needs no case for its absence.
 */

import { ALERTING_IDS } from '../../checks/table.ts'
import type { Instant } from '../../domain/model.ts'
import type { Measures } from '../../jobs/measures.ts'
import { EVENT_OUTCOMES } from '../../store/tables/lead-tables.ts'

export interface Sample {
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
const RESULTS = ['inserted', 'updated', 'unchanged', 'removed', 'held'] as const
const SCHEDULED_RUN_STATES = ['due', 'running', 'held', 'done', 'failed', 'skipped'] as const
const MESSAGE_STATES = ['pending', 'sending', 'data', 'sent', 'failed', 'unconfirmed', 'withdrawn'] as const
const HELD_KINDS = ['lead', 'pipeline_stat', 'agent', 'activity'] as const

export const DEFINITIONS: readonly Definition[] = [
  gauge('leadsheet_health_state', 'Whether all is well: 0 ok, 1 warn, 2 fail.', ({ health }) =>
    one(STATES[health.status]),
  ),
  gauge(
    'leadsheet_health_check_state',
    'What was found in one respect: 0 ok, 1 warn, 2 fail.',
    ({ health }) =>
      health.checks.map(({ what, status }) => sample({ check: what.replace(' ', '_') }, STATES[status])),
    ['check'],
  ),
  gauge(
    'leadsheet_last_success_timestamp_seconds',
    'As of when the copy has all of a resource. Moves only with the commit that ends the scan.',
    ({ health }) =>
      health.freshness.flatMap(({ resource, asOf }) =>
        asOf === null ? [] : sample({ resource }, secondsOf(asOf)),
      ),
    ['resource'],
  ),
  gauge(
    'leadsheet_data_lag_seconds',
    'How old the copy of a resource is now.',
    ({ health, now }) =>
      health.freshness.flatMap(({ resource, asOf }) =>
        asOf === null ? [] : sample({ resource }, secondsSince(asOf, now)),
      ),
    ['resource'],
  ),
  gauge(
    'leadsheet_data_fresh',
    'Whether a resource was read often enough: 0 after three scheduled runs without, or 26 hours.',
    ({ health }) => health.freshness.map(({ resource, isFresh }) => sample({ resource }, isFresh ? 1 : 0)),
    ['resource'],
  ),
  gauge('leadsheet_leads', 'Leads that are there upstream, as far as is known.', ({ leads }) => one(leads)),
  gauge(
    'leadsheet_quarantined_records',
    'Records that cannot be read, and are kept until they can.',
    ({ held }) =>
      HELD_KINDS.map((resource) => sample({ resource }, numberIn(held, 'resource', resource, 'records'))),
    ['resource'],
  ),
  counter(
    'leadsheet_sync_runs_total',
    'Syncs that ended, by how.',
    ({ runs }) => OUTCOMES.map((outcome) => sample({ outcome }, numberIn(runs, 'outcome', outcome, 'runs'))),
    ['outcome'],
  ),
  counter(
    'leadsheet_sync_rows_total',
    'Records of leads that syncs read, by what became of them.',
    ({ runs }) => RESULTS.map((result) => sample({ result }, sum(runs.map((run) => run[result])))),
    ['result'],
  ),
  counter(
    'leadsheet_sync_requests_total',
    'Requests to the upstream of the syncs that ended, by how these did.',
    ({ runs }) =>
      OUTCOMES.map((outcome) => sample({ outcome }, numberIn(runs, 'outcome', outcome, 'requests'))),
    ['outcome'],
  ),
  counter(
    'leadsheet_sync_retries_total',
    'Requests of these that repeated one that had failed.',
    ({ runs }) => one(sum(runs.map((run) => run.retries))),
  ),
  gauge('leadsheet_sync_running', 'Whether a sync is under way.', ({ runs }) =>
    one(runs.some(({ outcome }) => outcome === 'running') ? 1 : 0),
  ),
  gauge('leadsheet_sync_last_duration_seconds', 'How long the last sync took that ended.', ({ lastRun }) =>
    lastRun?.durationMs == null ? [] : one(lastRun.durationMs / 1000),
  ),
  counter(
    'leadsheet_events_received_total',
    'Events of the upstream, each once, by what became of them; those that wait are not among them yet.',
    ({ events }) =>
      EVENT_OUTCOMES.map((outcome) => sample({ outcome }, numberIn(events, 'outcome', outcome, 'events'))),
    ['outcome'],
  ),
  counter(
    'leadsheet_events_lag_seconds_total',
    'Seconds from when each of these came to when what it told of was in the copy, all together.',
    ({ events }) => one(sum(events.map(({ seconds }) => seconds))),
  ),
  gauge(
    'leadsheet_events_waiting',
    'Leads and pipelines of which events told that are still to be read.',
    ({ waitingEvents }) => one(waitingEvents.toRead),
  ),
  gauge(
    'leadsheet_events_oldest_waiting_seconds',
    'How long the first of these has waited; 0 where none waits.',
    ({ waitingEvents: { since }, now }) => one(since === null ? 0 : secondsSince(since, now)),
  ),
  gauge(
    'leadsheet_event_last_received_timestamp_seconds',
    'When the last event came; absent where none has for a week.',
    ({ lastEventAt }) => (lastEventAt === null ? [] : one(secondsOf(lastEventAt))),
  ),
  gauge(
    'leadsheet_scheduled_runs',
    'Scheduled runs in the ledger, by state.',
    ({ schedules, scheduledRuns }) =>
      namesOf(schedules, scheduledRuns).flatMap((schedule) => {
        const own = scheduledRuns.filter((scheduledRun) => scheduledRun.schedule === schedule)
        return SCHEDULED_RUN_STATES.map((state) =>
          sample({ schedule, state }, numberIn(own, 'state', state, 'runs')),
        )
      }),
    ['schedule', 'state'],
  ),
  counter(
    'leadsheet_scheduled_runs_missed_total',
    'Scheduled runs that were missed and not made up for.',
    ({ schedules, missed }) =>
      namesOf(schedules, missed).map((schedule) =>
        sample({ schedule }, numberIn(missed, 'schedule', schedule, 'runs')),
      ),
    ['schedule'],
  ),
  gauge(
    'leadsheet_schedule_next_timestamp_seconds',
    'When a schedule is due next.',
    ({ schedules }) =>
      schedules.flatMap(({ name, next }) =>
        next === null ? [] : sample({ schedule: name }, next.getTime() / 1000),
      ),
    ['schedule'],
  ),
  gauge(
    'leadsheet_outbox_messages',
    'Messages in the ledger, by how far they are.',
    ({ messages }) => MESSAGE_STATES.map((state) => sample({ state }, messages[state] ?? 0)),
    ['state'],
  ),
  gauge(
    'leadsheet_outbox_oldest_waiting_seconds',
    'How long the oldest message has waited that is still to be sent; 0 where none waits.',
    ({ waitingSince, now }) => one(waitingSince === null ? 0 : secondsSince(waitingSince, now)),
  ),
  gauge(
    'leadsheet_mail_servers_away',
    'Mail servers that cannot be reached or do not let us in.',
    ({ serversAway }) => one(serversAway),
  ),
  gauge(
    'leadsheet_alerts_open',
    'Alerts that are open and that no operator has acknowledged, by check.',
    ({ openAlerts }) =>
      ALERTING_IDS.map((check) => sample({ check }, openAlerts.filter((open) => open === check).length)),
    ['check'],
  ),
  gauge('leadsheet_database_bytes', 'Size of the database.', ({ size }) => one(size.database)),
  gauge(
    'leadsheet_database_wal_bytes',
    'Size of its write-ahead log; absent where it is in PostgreSQL.',
    ({ size }) => (size.room === null ? [] : one(size.room.log)),
  ),
  gauge(
    'leadsheet_disk_free_bytes',
    'What is free on the disk of the database; absent where it is in PostgreSQL.',
    ({ size }) => (size.room === null ? [] : one(size.room.free)),
  ),
  gauge(
    'leadsheet_snapshot_timestamp_seconds',
    'When the snapshot was made; absent where none follows a sync.',
    ({ snapshotMadeAt }) => (snapshotMadeAt === null ? [] : one(secondsOf(snapshotMadeAt))),
  ),
  gauge(
    'leadsheet_daemon_last_heartbeat_timestamp_seconds',
    'The last sign of life of the daemon, committed each minute.',
    ({ lastHeartbeatAt }) => (lastHeartbeatAt === null ? [] : one(secondsOf(lastHeartbeatAt))),
  ),
  gauge('leadsheet_workers', 'Daemons that run on the store; absent where it is a file.', ({ workers }) =>
    workers === null ? [] : one(workers),
  ),
  gauge(
    'leadsheet_queue_jobs',
    'Jobs of the workers that wait, are active, or were given up; absent where the store is a file.',
    ({ jobs }) =>
      (jobs ?? []).flatMap(({ queue, waiting, active, dead }) => [
        sample({ queue, state: 'waiting' }, waiting),
        sample({ queue, state: 'active' }, active),
        sample({ queue, state: 'dead' }, dead),
      ]),
    ['queue', 'state'],
  ),
]

function gauge(
  name: string,
  help: string,
  read: Definition['read'],
  labels: readonly string[] = [],
): Definition {
  return { name, type: 'gauge', help, labels, read }
}

function counter(
  name: string,
  help: string,
  read: Definition['read'],
  labels: readonly string[] = [],
): Definition {
  return { name, type: 'counter', help, labels, read }
}

function one(value: number): Sample[] {
  return [sample({}, value)]
}

function sample(labels: Sample['labels'], value: number): Sample {
  return { labels, value }
}

/** Returns the value of the row with this key, or 0 if there is none. */
function numberIn<Row extends object, Value extends keyof Row>(
  rows: readonly Row[],
  key: keyof Row,
  wanted: string,
  value: Value,
): number {
  const row = rows.find((each) => each[key] === wanted)
  return row === undefined ? 0 : Number(row[value])
}

/** Lists the schedules of the settings and those of the past, because their counts stay. */
function namesOf(
  schedules: Measures['schedules'],
  counted: readonly { readonly schedule: string }[],
): string[] {
  return [...new Set([...schedules.map(({ name }) => name), ...counted.map(({ schedule }) => schedule)])]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function secondsOf(instant: Instant): number {
  return Date.parse(instant) / 1000
}

function secondsSince(instant: Instant, now: Date): number {
  return (now.getTime() - Date.parse(instant)) / 1000
}
