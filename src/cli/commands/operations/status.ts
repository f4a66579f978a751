/** `leadsheet status`: shows the content of the local copy, its freshness, recent runs and waiting work. */

import type { Command } from 'commander'
import type { ConfiguredSchedule } from '../../../app/configured-schedules.ts'
import { installationOf } from '../../../app/health-installation.ts'
import { openDataToRead, storePlaceOf } from '../../../app/installation.ts'
import { isDaemonAlive, isInMemory, lookForViolations } from '../../../checks/check.ts'
import { alertFacts, readHealth } from '../../../checks/run-checks.ts'
import { type Config, requireSettings } from '../../../config/config.ts'
import { inSnakeCase } from '../../../domain/names.ts'
import { formatDates } from '../../../domain/period.ts'
import { shellCommand } from '../../../errors.ts'
import { issueState } from '../../../jobs/archive/archive.ts'
import {
  listWorkers,
  outcomeText,
  readScheduleStates,
  type ScheduleState,
} from '../../../jobs/schedule/schedule-state.ts'
import { englishCount } from '../../../report/words/numbers.ts'
import { listAlerts } from '../../../store/alerts/alert.ts'
import { nameOf } from '../../../store/db/place.ts'
import type { Store } from '../../../store/db/store.ts'
import { countEvents, countWaitingEvents, listEvents } from '../../../store/events/event-stats.ts'
import { countLeads } from '../../../store/leads/lead.ts'
import { countQuarantinedRecords } from '../../../store/leads/quarantined-record.ts'
import { countDeliveries } from '../../../store/outbox/delivery.ts'
import { listMailOutages } from '../../../store/outbox/send-limits.ts'
import { listIssues } from '../../../store/reports/issue-list.ts'
import { listScheduledRuns } from '../../../store/schedule/scheduled-run.ts'
import { findLastUptime } from '../../../store/schedule/uptime.ts'
import {
  findLastCompleteRun,
  findLastFailure,
  findSyncUnderWay,
  listRuns,
  type RunSummary,
} from '../../../store/sync/sync-run.ts'
import { minutesBefore } from '../../../time.ts'
import { addExamples, showing } from '../../command.ts'
import { STATUS_COLORS, STATUS_ENDINGS } from '../../exit-status.ts'
import { fields, formatInstant, type Paragraph, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { outageJson, outageText, wordOf } from '../reports/outbox.ts'
import { issueJson } from '../reports/report-issue.ts'
import { alertJson } from './alerts.ts'
import { heldText } from './schedule.ts'

/** The number of syncs, scheduled runs, issues and events that are shown. */
const ROWS = 5
const ALERTS_MAX = 100
const DAY_MINUTES = 24 * 60

type Status = Awaited<ReturnType<typeof readStatus>>

export function defineStatus(command: Command, terminal: Terminal): void {
  command.action(showing(terminal, findStatus))
  addExamples(command, ['status', 'status --json | jq .data.data_as_of'])
}

async function findStatus(terminal: Terminal): Promise<Result> {
  const config = await terminal.dataConfig()
  requireSettings(config)
  await using store = await openDataToRead(config)
  const database = nameOf(storePlaceOf(config))
  const now = new Date()
  const status = await readStatus(config, store, now)
  const isSyncing = (await findSyncUnderWay(store.db, now)) !== null
  terminal.end(STATUS_ENDINGS[status.health.status])
  return { data: statusJson(database, status), text: textOf(terminal, database, status, isSyncing) }
}

async function readStatus(config: Config, store: Store, now: Date) {
  const installation = installationOf(config, store)
  const { schedules, events } = installation
  const { db, place } = store
  const findViolations = async () =>
    // There is no database yet.
    isInMemory(place) ? null : (await lookForViolations(store, { whole: false, now })).violations
  return {
    health: await readHealth(installation, now, { findViolations }),
    leads: await countLeads(db),
    quarantinedRecords: await countQuarantinedRecords(db),
    dataAsOf: (await findLastCompleteRun(db))?.asOf ?? null,
    lastFailure: await findLastFailure(db),
    alerts: await listAlerts(db, 'open', ALERTS_MAX),
    runs: await listRuns(db, ROWS),
    schedules: await readScheduleStates(db, schedules, now),
    scheduledRuns: await listScheduledRuns(db, ROWS),
    deliveries: await countDeliveries(db),
    serversAway: await listMailOutages(db),
    issues: await listIssues(db, null, ROWS),
    /** The running workers; null for an SQLite file, on which only one daemon runs. */
    workers: place.kind === 'sqlite' ? null : await listWorkers(db, now),
    uptime: await findLastUptime(db),
    isAlive: await isDaemonAlive(db, now),
    /** Null if the upstream has no webhooks, or if this installation does not listen for them. */
    events: events && {
      last: await listEvents(db, ROWS),
      recent: await countEvents(db, minutesBefore(now, DAY_MINUTES)),
      waiting: await countWaitingEvents(db),
    },
  }
}

function statusJson(database: string, { health, ...status }: Status) {
  return {
    status: health.status,
    sentence: health.sentence,
    checks: health.checks.map(({ what, status, found, remedy }) => ({ what, status, found, remedy })),
    freshness: health.freshness.map(inSnakeCase),
    database,
    leads: status.leads,
    quarantined_records: status.quarantinedRecords,
    data_as_of: status.dataAsOf,
    last_failure: status.lastFailure,
    alerts: status.alerts.map(alertJson),
    runs: status.runs.map(runJson),
    schedules: status.schedules.map(scheduleJson),
    scheduled_runs: status.scheduledRuns,
    deliveries: status.deliveries,
    servers_away: status.serversAway.map(outageJson),
    issues: status.issues.map(issueJson),
    events: status.events && eventsJson(status.events),
    workers:
      status.workers?.map(({ inFlight, ...worker }) => ({ ...inSnakeCase(worker), running: inFlight })) ??
      null,
  }
}

function runJson({ id, seen, inserted, updated, deleted, quarantined, ...run }: RunSummary) {
  return {
    run_id: id,
    ...inSnakeCase(run),
    leads: { seen, inserted, updated, deleted, quarantined },
  }
}

function scheduleJson({ name, timing, last, next }: ScheduleState<ConfiguredSchedule>) {
  return {
    schedule: name,
    when: timing.expression,
    time_zone: timing.timeZone,
    last: last && { due_at: last.due_at, state: last.state, message: last.message },
    next: next?.toISOString() ?? null,
  }
}

function eventsJson({ last, recent, waiting }: NonNullable<Status['events']>) {
  return {
    last_24_hours: Object.fromEntries(recent.map(({ outcome, events }) => [outcome, events])),
    waiting: waiting.toRead,
    waiting_since: waiting.since,
    last: last.map(({ name: _name, repeats: _repeats, ...event }) => inSnakeCase(event)),
  }
}

/** Formats events: `12 in the last 24 hours, 3 leads or pipelines to be read`. */
function eventsText({ recent, waiting }: NonNullable<Status['events']>): string {
  const came = recent.reduce((sum, { events }) => sum + events, 0)
  return `${englishCount(came)} in the last 24 hours, ${englishCount(waiting.toRead)} leads or pipelines to be read`
}

/** Formats the last daemon: `process 4711 on mail-1, since 2026-11-28 20:36Z`, with its end if it has ended. */
function daemonText(uptime: Status['uptime']): string {
  if (uptime === undefined) return 'none has run on these data'
  const { pid, host, began_at: began, ended_at: ended, last_heartbeat_at: heartbeat } = uptime
  const end =
    ended === null ? `last heartbeat ${formatInstant(heartbeat)}` : `stopped ${formatInstant(ended)}`
  return `process ${pid} on ${host}, since ${formatInstant(began)}, ${end}`
}

/** Formats open alerts: `2 open: sync failing, disk nearly full`. Returns null if there are none. */
function alertsText(alerts: Status['alerts']): string | null {
  if (alerts.length === 0) return null
  const titles = [...new Set(alerts.map(({ checkId: check }) => alertFacts(check).title))]
  return `${alerts.length} open: ${titles.join(', ')} (${shellCommand('alerts list')})`
}

/** @param isSyncing true if a sync runs now; if it is false, a run without an outcome was killed */
function textOf(
  { style }: Terminal,
  database: string,
  status: Status,
  isSyncing: boolean,
): readonly Paragraph[] {
  const running = isSyncing ? status.runs[0]?.id : undefined
  const messages = Object.entries(status.deliveries).map(([state, count]) => `${count} ${wordOf(state)}`)
  const failure = status.lastFailure
  const { health } = status
  return [
    style(STATUS_COLORS[health.status], health.sentence),
    ...(health.status === 'ok' ? [] : [`${shellCommand('doctor')} says what to do.`]),
    fields({
      Database: database,
      Daemon: daemonText(status.uptime),
      Leads: status.leads.toLocaleString('en'),
      'Data as of': formatInstant(status.dataAsOf) ?? 'no sync has read all leads yet',
      [failure?.code === 'run_interrupted' ? 'Sync stopped' : 'Last failure']:
        failure && `${formatInstant(failure.at)}  ${failure.message}`,
      Alerts: alertsText(status.alerts),
      'Quarantined records': status.quarantinedRecords > 0 ? status.quarantinedRecords : null,
      'Reports waiting': status.schedules.flatMap(heldText).join(' ') || null,
      Events: status.events && eventsText(status.events),
      Messages: messages.join(', ') || 'none',
      'Mail server': status.serversAway.map((one) => outageText(one, status.isAlive)).join('; ') || null,
    }),
    table(status.workers ?? [], [
      { title: 'WORKER', value: ({ host }) => host },
      { title: 'PROCESS', value: ({ pid }) => String(pid) },
      { title: 'SINCE', value: ({ since }) => formatInstant(since) },
      { title: 'LAST HEARTBEAT', value: ({ lastHeartbeat }) => formatInstant(lastHeartbeat) },
      { title: 'RUNNING', value: ({ inFlight }) => inFlight.join(', ') || null },
    ]),
    table(status.runs, [
      { title: 'SYNC', value: (run) => run.id },
      { title: 'MODE', value: (run) => run.mode },
      { title: 'OUTCOME', value: ({ id, outcome }) => outcome ?? (id === running ? 'running' : 'killed') },
      { title: 'LEADS', value: (run) => run.seen },
      { title: 'NEW', value: (run) => run.inserted },
      { title: 'CHANGED', value: (run) => run.updated },
      { title: 'DELETED', value: (run) => run.deleted },
      { title: 'REQUESTS', value: (run) => run.requests },
      { title: 'SECONDS', value: (run) => (run.durationMs === null ? null : run.durationMs / 1000) },
    ]),
    table(status.scheduledRuns, [
      { title: 'DUE', value: (scheduledRun) => formatInstant(scheduledRun.due_at) },
      { title: 'SCHEDULE', value: (scheduledRun) => scheduledRun.schedule },
      { title: 'STATE', value: (scheduledRun) => scheduledRun.state },
      { title: 'MESSAGE', value: (scheduledRun) => scheduledRun.message },
    ]),
    table(status.issues, [
      { title: 'REPORT', value: ({ report }) => report },
      { title: 'PERIOD', value: ({ period }) => formatDates(period) },
      { title: 'MAILS', value: issueState },
      { title: 'SUBJECT', value: ({ subject }) => subject },
    ]),
    table(status.schedules, [
      { title: 'SCHEDULE', value: ({ name }) => name },
      { title: 'LAST', value: ({ last }) => last && formatInstant(last.due_at) },
      { title: 'OUTCOME', value: ({ last }) => last && outcomeText(last) },
      {
        title: 'NEXT',
        value: ({ next }) => (status.isAlive && next ? formatInstant(next.toISOString()) : null),
      },
      { title: 'WHEN', value: ({ timing }) => timing.expression },
      { title: 'ZONE', value: ({ timing }) => timing.timeZone },
    ]),
  ]
}
