/**
 * Sends heartbeats to programs outside this process: the start and the outcome of each sync to a heartbeat
 * monitor (https://healthchecks.io/docs/http_api/ and compatible services), and the watchdog signal to
 * systemd.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  findHeartbeatPing,
  type HeartbeatPing,
  type HeartbeatSignal,
  listAlerts,
  upsertHeartbeatPing,
} from '../../store/alerts/alert.ts'
import { listRuns, type RunSummary } from '../../store/sync/sync-run.ts'
import { type AlertWebhook, nextAttempt } from './alert-webhook.ts'

const TIMEOUT_MS = 5_000
/** A sync that ended longer ago than this is not reported to a monitor that was just set up. */
const NEWS_MS = 15 * 60_000
const BODY_MAX = 1_000
const ALERTS_MAX = 1_000
const SYSTEMD_TIMEOUT_MS = 10_000

export interface HeartbeatMonitor extends Pick<AlertWebhook, 'store' | 'log' | 'now' | 'poster'> {
  readonly heartbeat: { readonly url: string } | null
}

/** While no mail can be sent, a good sync is reported as a failure, because the alert cannot be mailed. */
export async function pingHeartbeatMonitor(deps: HeartbeatMonitor, signal: AbortSignal): Promise<void> {
  if (deps.heartbeat === null) return
  const [run] = await listRuns(deps.store.db, 1)
  const known = await findHeartbeatPing(deps.store.db)
  const open = await listAlerts(deps.store.db, 'open', ALERTS_MAX)
  const mailAway = open.find(({ checkId: check }) => check === 'mail_away')
  const due = findDuePing(run, known, mailAway !== undefined, deps.now())
  if (run === undefined || due === null) return
  const url = heartbeatUrl(deps.heartbeat.url, due.signal, due.runId)
  const outcome = await deps.poster.post(
    url,
    'text/plain',
    bodyOf(run, mailAway?.message),
    signal,
    TIMEOUT_MS,
  )
  if (signal.aborted) return
  const { isTaken, response } = outcome
  const nextAttemptAt = isTaken ? null : nextAttempt(due.attempts, deps.now())
  const ping: HeartbeatPing = { ...due, attempts: due.attempts + 1, nextAttemptAt, response }
  await deps.store.write((trx) => upsertHeartbeatPing(trx, ping))
  if (!isTaken) deps.log.warn({ response }, 'heartbeat ping failed: it is tried again')
}

function findDuePing(
  run: RunSummary | undefined,
  known: HeartbeatPing | undefined,
  isMailAway: boolean,
  now: Date,
): HeartbeatPing | null {
  if (run === undefined) return null
  const ofSync = signalOf(run)
  const signal = ofSync === 'success' && isMailAway ? 'fail' : ofSync
  const isOld = run.finishedAt !== null && now.getTime() - Date.parse(run.finishedAt) > NEWS_MS
  if (known === undefined && isOld) return null
  const fresh = { runId: run.id, signal, attempts: 0, nextAttemptAt: null, response: null }
  if (known === undefined || known.runId !== run.id || known.signal !== signal) return fresh
  const isDue = known.nextAttemptAt !== null && known.nextAttemptAt <= now.toISOString()
  return isDue ? known : null
}

/**
 * A deferred or stopped sync is neither success nor failure. If none follows, the monitor raises the alarm.
 */
function signalOf({ outcome, leadsAsOf, problems }: RunSummary): HeartbeatSignal {
  if (outcome === null) return 'start'
  if (leadsAsOf !== null) return 'success'
  const isStopped = problems.some(({ code }) => code === 'run_interrupted')
  if (outcome === 'deferred' || isStopped) return 'log'
  return outcome === 'ok' || outcome === 'ok_no_change' ? 'success' : 'fail'
}

function bodyOf(
  { id, outcome, seen, inserted, updated, deleted, problems }: RunSummary,
  mailAway: string | undefined,
): string {
  if (outcome === null) return `sync ${id} has begun`
  const counts = `${seen} leads read, ${inserted} new, ${updated} changed, ${deleted} deleted`
  const lines = problems.map(({ part, message }) => `${part}: ${message}`)
  const away = mailAway === undefined ? [] : [`no mail can be sent: ${mailAway}`]
  return [...away, `sync ${id}: ${outcome}`, counts, ...lines].join('\n').slice(0, BODY_MAX)
}

/** The path in the URL for each signal. The monitor stores a `log` signal without changing its own state. */
const PATHS: Readonly<Record<HeartbeatSignal, string>> = {
  start: '/start',
  success: '',
  fail: '/fail',
  log: '/log',
}

/** @param runId the id by which the monitor matches the start and the end of a run */
export function heartbeatUrl(base: string, signal: HeartbeatSignal, runId: string): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + PATHS[signal]
  url.searchParams.set('rid', uuidOf(runId))
  return url
}

/** The protocol requires a UUID: version 8 (RFC 9562, 5.8), and the same run always gets the same. */
function uuidOf(runId: string): string {
  const hex = createHash('sha256').update(runId).digest('hex')
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4]
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

/**
 * Returns the function that reports to systemd that the daemon is alive (sd_notify(3), `WatchdogSec`).
 * Because Node cannot write to the socket of systemd, the function runs systemd's own program. A failure is
 * logged only once.
 */
export function openWatchdog(warn: (message: string) => void): () => void {
  let isLogged = false
  return () => {
    execFile('systemd-notify', ['WATCHDOG=1'], { timeout: SYSTEMD_TIMEOUT_MS }, (error) => {
      if (error === null || isLogged) return
      isLogged = true
      warn(`systemd-notify: ${error.message}; systemd will take the daemon for dead (WatchdogSec)`)
    })
  }
}
