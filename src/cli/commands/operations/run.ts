/**
 * `leadsheet run` and `leadsheet reload`: starts the daemon that syncs and reports, and makes a running
 * daemon reload its settings.
 */

import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { RunningDaemon } from '../../../app/configured-daemon.ts'
import { needsKey, profileOf } from '../../../app/configured-upstream.ts'
import type { ReloadDeps } from '../../../app/hot-reload.ts'
import { onHangUp, runThroughReloads } from '../../../app/hot-reload.ts'
import { openData, storePlaceOf } from '../../../app/installation.ts'
import type { Config } from '../../../config/config.ts'
import { requireDaemon } from '../../../config/config.ts'
import { isAboutDashboard } from '../../../config/schema-web.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import { readVersion } from '../../../packages.ts'
import { nextScheduledRun } from '../../../schedule/scheduled-runs.ts'
import { nameOf } from '../../../store/db/place.ts'
import type { Db } from '../../../store/db/store.ts'
import { isStoreThere } from '../../../store/db/store-exists.ts'
import { isOfDaemon, listHeldLeases } from '../../../store/schedule/lease.ts'
import type { ConfigLoad } from '../../../store/schedule/uptime.ts'
import { findConfigLoad, findNextConfigLoad } from '../../../store/schedule/uptime.ts'
import { addExamples } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export function defineRun(command: Command, terminal: Terminal): void {
  command.action(() => run(terminal))
  addExamples(command, ['run', 'run --config /etc/leadsheet.yaml'])
}

async function run(terminal: Terminal): Promise<void> {
  const readAt = new Date()
  const log = await terminal.log()
  const { signal } = terminal
  let inFlight: RunningDaemon['inFlight'] = () => []
  terminal.nameHeld(() => inFlight())
  let stoppingAt = 0
  signal.addEventListener('abort', () => {
    stoppingAt = performance.now()
    log.info({ inFlight: inFlight() }, `stopping: ${signal.reason.message}`)
  })
  const tellStarted = (config: Config, running: RunningDaemon): void => {
    inFlight = running.inFlight
    tell(log, config, running)
  }
  try {
    await runDaemon(terminal, readAt, { log, tellStarted })
  } catch (thrown) {
    // A daemon that is stopped during its start throws the signal's abort reason. This is a normal end.
    if (thrown !== signal.reason) throw thrown
  }
  log.info({ seconds: Math.round((performance.now() - stoppingAt) / 100) / 10 }, 'stopped')
}

async function runDaemon(
  terminal: Terminal,
  readAt: Date,
  telling: Pick<ReloadDeps, 'log' | 'tellStarted'>,
): Promise<void> {
  const config = await terminal.config()
  for (const warning of config.warnings.filter(isAboutDashboard)) telling.log.warn(warning)
  // A reload during the start does nothing, because the settings are being read anyway.
  let reload = (): void => {}
  using _hangUp = onHangUp(() => reload())
  const takeReload = (wake: () => void): void => {
    reload = wake
  }
  // The settings are checked before the store is opened, so that a failed check leaves nothing on the disk.
  requireDaemon(config, needsKey(profileOf(config)))
  await using store = await openData(config, { ...telling, signal: terminal.signal })
  await runThroughReloads({ ...telling, terminal, store, takeReload }, config, readAt)
}

function tell(log: Log, { dataDir, file, web }: Config, running: RunningDaemon): void {
  for (const { name, timing } of running.schedules) {
    const next = nextScheduledRun(timing, new Date())?.toISOString() ?? 'never'
    log.info({ schedule: name, when: timing.expression, timeZone: timing.timeZone, next }, 'scheduled')
  }
  const settings = file ?? 'only from environment variables'
  const pages = { listen: running.web, publicUrl: web.publicUrl }
  log.info({ version: readVersion(), node: process.versions.node, settings, dataDir, ...pages }, 'running')
}

// The longest wait for the daemon's answer. It includes the time that the daemon needs to check the new
// settings and to stop the jobs in progress.
const ANSWER_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 100

export function defineReload(command: Command, terminal: Terminal): void {
  command.action(() => reload(terminal))
  addExamples(command, ['reload', 'reload --config /etc/leadsheet.yaml'])
}

async function reload(terminal: Terminal): Promise<void> {
  // Invalid settings already fail in this process, so that the daemon is not disturbed.
  const config = await terminal.config()
  const place = storePlaceOf(config)
  if (!(await isStoreThere(place))) throw noDaemon(`there is no database ${nameOf(place)}`)
  await using store = await openData(config)
  const { pid, before } = await findDaemon(store.db, config)
  hangUp(pid)
  const reading = await waitForReading(store.db, pid, before, terminal.signal)
  if (reading.refused !== null) {
    throw new LeadsheetError('config_refused', `the daemon keeps its settings: ${reading.refused}`, {
      hint: `Fix the settings, check them with ${shellCommand('config check')}, and reload again.`,
    })
  }
  const changed = reading.changed ?? []
  if (terminal.json) terminal.printJson('reload', { pid, in_force_since: reading.at, changed })
  else terminal.print(`In force: ${changed.join(', ') || 'no setting has changed'} (process ${pid})`)
}

/**
 * Finds the daemon of this store. `before` is the last record that this daemon stored about its settings.
 * @throws LeadsheetError daemon_missing if no daemon runs on this machine
 */
async function findDaemon(db: Db, config: Config): Promise<{ pid: number; before: ConfigLoad }> {
  const leases = await listHeldLeases(db, new Date())
  const daemons = leases.filter(isOfDaemon)
  // If several daemons share the store, the daemon on this machine is chosen.
  const daemon = daemons.find(({ host }) => host === hostname()) ?? daemons[0]
  if (daemon === undefined) throw noDaemon(`no daemon runs on ${nameOf(storePlaceOf(config))}`)
  const { pid, host } = daemon
  if (host !== hostname()) {
    throw new LeadsheetError(
      'daemon_missing',
      `the daemon is process ${pid} on ${host}, and this is ${hostname()}`,
      {
        hint: 'Run the command there, for example with `docker compose exec`, or send SIGHUP to the daemon.',
      },
    )
  }
  const before = await findConfigLoad(db, 'last', { host, pid })
  // No signal is sent in two cases. A daemon that has not recorded its settings yet would be ended by SIGHUP.
  // A process that is not a daemon is another program, which has got the same process number.
  if (before === undefined || !isDaemon(pid)) {
    throw noDaemon(`process ${pid} is not a daemon, or has not finished starting`)
  }
  return { pid, before }
}

/**
 * Returns true if the process was started as a daemon. Without /proc this cannot be found out, and every
 * process counts as a daemon.
 */
function isDaemon(pid: number): boolean {
  if (!existsSync('/proc/self/cmdline')) return true
  try {
    return isDaemonCall(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'))
  } catch {
    return false
  }
}

/**
 * Returns true if the arguments call `leadsheet run`, either the built program or its source.
 * @param args starts with the program itself
 */
export function isDaemonCall(args: readonly string[]): boolean {
  const program = args.findIndex((arg) => /(^|\/)(leadsheet(\.[jt]s)?|main\.[jt]s)$/.test(arg))
  return program >= 0 && args.indexOf('run') > program
}

function hangUp(pid: number): void {
  try {
    process.kill(pid, 'SIGHUP')
  } catch (cause) {
    const isAnothers = cause instanceof Error && 'code' in cause && cause.code === 'EPERM'
    if (!isAnothers) throw noDaemon(`process ${pid} has just ended`)
    throw new LeadsheetError('daemon_missing', `process ${pid} belongs to another user`, {
      hint: 'Run the command as the user that the daemon runs as.',
      cause,
    })
  }
}

async function waitForReading(
  db: Db,
  pid: number,
  before: ConfigLoad,
  signal: AbortSignal,
): Promise<ConfigLoad> {
  const until = performance.now() + ANSWER_WITHIN_MS
  while (performance.now() < until) {
    await delay(LOOK_EVERY_MS, undefined, { signal })
    // Only the first record after `before` is the daemon's answer. If the new settings fail, the daemon can
    // store one more record, about the old settings.
    const reading = await findNextConfigLoad(db, before)
    if (reading !== undefined) return reading
    if (!isDaemon(pid)) throw noDaemon(`process ${pid} has ended`)
  }
  throw new LeadsheetError(
    'daemon_missing',
    `process ${pid} has not answered within ${ANSWER_WITHIN_MS / 1000} s`,
    { hint: `Look at the log of the daemon; ${shellCommand('status')} shows what it is doing.` },
  )
}

function noDaemon(message: string): LeadsheetError {
  return new LeadsheetError('daemon_missing', message, {
    hint: `Start a daemon with ${shellCommand('run')}; it reads its settings then. A change of data_dir or database_url needs a restart.`,
  })
}
