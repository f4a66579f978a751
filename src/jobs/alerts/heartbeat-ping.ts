/**
 * Sends heartbeats to programs outside this process: the start and the outcome of each sync to a heartbeat
 * monitor (https://healthchecks.io/docs/http_api/ and compatible services), and the watchdog signal to
 * systemd.
 */
import { execFile } from 'node:child_process'
import {
  findHeartbeatPing,
  type HeartbeatSignal,
  listAlerts,
  upsertHeartbeatPing,
} from '../../store/alerts/alert.ts'
import { listRuns, type RunSummary } from '../../store/sync/sync-run.ts'
import type { AlertWebhook } from './alert-webhook.ts'

const TIMEOUT_MS = 5_000
/** A sync that ended longer ago than this is not reported to a monitor that was just set up. */
const NEWS_MS = 15 * 60_000
const BODY_MAX = 1_000
const ALERTS_MAX = 1_000
const SYSTEMD_TIMEOUT_MS = 10_000

export interface HeartbeatMonitor extends Pick<AlertWebhook, 'store' | 'log' | 'now' | 'poster'> {
  readonly heartbeat: { readonly url: string } | null
}

/**
 * Tells the monitor once how the last sync stands. A ping that the monitor did not take is sent again at each call.
 * While no mail can be sent, a good sync is reported as a failure, because the alert cannot be mailed.
 */
export async function pingHeartbeatMonitor(
  { heartbeat, store, poster, now, log }: HeartbeatMonitor,
  signal: AbortSignal,
): Promise<void> {
  const [run] = heartbeat === null ? [] : await listRuns(store.db, 1)
  if (heartbeat === null || run === undefined) return
  const open = await listAlerts(store.db, 'open', ALERTS_MAX)
  const mailAway = open.find(({ checkId }) => checkId === 'mail_away')
  const ofSync = signalOf(run)
  const ping = { runId: run.id, signal: ofSync === 'success' && mailAway ? 'fail' : ofSync } as const
  const known = await findHeartbeatPing(store.db)
  const isOld = run.finishedAt !== null && now().getTime() - Date.parse(run.finishedAt) > NEWS_MS
  const isTold = known?.runId === ping.runId && known.signal === ping.signal && known.isTaken === 1
  if (isTold || (known === undefined && isOld)) return
  const url = heartbeatUrl(heartbeat.url, ping.signal)
  const body = bodyOf(run, mailAway?.message)
  const { isTaken, response } = await poster.post(url, 'text/plain', body, signal, TIMEOUT_MS)
  if (signal.aborted) return
  await store.write((trx) => upsertHeartbeatPing(trx, { ...ping, isTaken: isTaken ? 1 : 0 }))
  if (!isTaken) log.warn({ response }, 'heartbeat ping failed: it is tried again')
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

export function heartbeatUrl(base: string, signal: HeartbeatSignal): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + PATHS[signal]
  return url
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
