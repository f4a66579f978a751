/** `leadsheet run`: the daemon that syncs and reports as the settings say. */

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
import { requireDaemon } from '../../../config/requirements.ts'
import { isAboutDashboard } from '../../../config/schema-web.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { readVersion } from '../../../leadsheet.ts'
import type { Log } from '../../../log.ts'
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
  let inHand: RunningDaemon['inHand'] = () => []
  terminal.nameHeld(() => inHand())
  let stoppingAt = 0
  signal.addEventListener('abort', () => {
    stoppingAt = performance.now()
    log.info({ inHand: inHand() }, `stopping: ${signal.reason.message}`)
  })
  const tellStarted = (config: Config, running: RunningDaemon): void => {
    inHand = running.inHand
    tell(log, config, running)
  }
  try {
    await runDaemon(terminal, readAt, { log, tellStarted })
  } catch (thrown) {
    // Also a daemon that was told to stop while it started has done what it was told.
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
  // While it starts, the settings are just being read.
  let reload = (): void => {}
  using _hangUp = onHangUp(() => reload())
  const takeReload = (wake: () => void): void => {
    reload = wake
  }
  // Before there is anything on the disk.
  requireDaemon(config, needsKey(profileOf(config)))
  await using store = await openData(config, { ...telling, signal: terminal.signal })
  await runThroughReloads({ ...telling, terminal, store, takeReload }, config, readAt)
}

function tell(log: Log, { dataDir, file, web }: Config, running: RunningDaemon): void {
  for (const { name, timing } of running.schedules) {
    const next = nextScheduledRun(timing, new Date())?.toISOString() ?? 'never'
    log.info({ schedule: name, when: timing.expression, timeZone: timing.timeZone, next }, 'scheduled')
  }
  const settings = file ?? 'from the environment alone'
  const pages = { listen: running.web, publicUrl: web.publicUrl }
  log.info({ version: readVersion(), node: process.versions.node, settings, dataDir, ...pages }, 'running')
}

/* `leadsheet reload`: has the running daemon go over to the settings that are on the disk. */

/** The new settings are tried, and what is in hand is put down. */
const ANSWER_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 100

export function defineReload(command: Command, terminal: Terminal): void {
  command.action(() => reload(terminal))
  addExamples(command, ['reload', 'reload --config /etc/leadsheet.yaml'])
}

async function reload(terminal: Terminal): Promise<void> {
  // Where they are wrong, the daemon need not be bothered.
  const config = await terminal.config()
  const place = storePlaceOf(config)
  if (!(await isStoreThere(place))) throw noDaemon(`there is no database ${nameOf(place)}`)
  await using store = await openData(config)
  const { pid, before } = await findDaemon(store.db, config)
  hangUp(pid)
  const reading = await waitForReading(store.db, pid, before, terminal.signal)
  if (reading.refused !== null) {
    throw new LeadsheetError('config_refused', `the daemon stays with its settings: ${reading.refused}`, {
      hint: `Mend them and reload again; ${shellCommand('config check')} tries them.`,
    })
  }
  const changed = reading.changed ?? []
  if (terminal.json) terminal.printJson({ pid, in_force_since: reading.at, changed })
  else
    terminal.print(`In force: ${changed.join(', ') || 'no setting is another than before'} (process ${pid})`)
}

/** The daemon on these data, which must be one of this machine, and when it read its settings last. */
async function findDaemon(db: Db, config: Config): Promise<{ pid: number; before: ConfigLoad }> {
  const leases = await listHeldLeases(db, new Date())
  const daemons = leases.filter(isOfDaemon)
  // Of several workers that of this machine.
  const daemon = daemons.find(({ host }) => host === hostname()) ?? daemons[0]
  if (daemon === undefined) throw noDaemon(`no daemon runs on ${nameOf(storePlaceOf(config))}`)
  const { pid, host } = daemon
  if (host !== hostname()) {
    throw new LeadsheetError(
      'daemon_missing',
      `the daemon is process ${pid} on ${host}, and this is ${hostname()}`,
      {
        hint: 'Call it there, such as by `docker compose exec`, or send SIGHUP to the daemon.',
      },
    )
  }
  const before = await findConfigLoad(db, 'last', { host, pid })
  // One that does not note that hangs up on SIGHUP, or is another program that has its number now.
  if (before === undefined || !isDaemon(pid)) {
    throw noDaemon(`process ${pid} is not, or not yet, a daemon that can be told`)
  }
  return { pid, before }
}

/** By its arguments, where the system tells them. */
function isDaemon(pid: number): boolean {
  if (!existsSync('/proc/self/cmdline')) return true
  try {
    return isDaemonCall(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'))
  } catch {
    return false
  }
}

/** Whether arguments, the program's own first, are those of a daemon of ours, built or as it is written. */
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
      hint: 'Call it as the user that the daemon runs as.',
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
    // Not the last one: where the daemon could not start with them, it has read those of before again.
    const reading = await findNextConfigLoad(db, before)
    if (reading !== undefined) return reading
    if (!isDaemon(pid)) throw noDaemon(`process ${pid} has ended`)
  }
  throw new LeadsheetError(
    'daemon_missing',
    `process ${pid} has not answered within ${ANSWER_WITHIN_MS / 1000} s`,
    { hint: `Look at its log; ${shellCommand('status')} shows what it does.` },
  )
}

function noDaemon(message: string): LeadsheetError {
  return new LeadsheetError('daemon_missing', message, {
    hint: `A daemon reads its settings when it is started: ${shellCommand('run')}. Another data_dir or database_url takes a restart.`,
  })
}
