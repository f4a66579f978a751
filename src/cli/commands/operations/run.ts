/** `leadsheet run`: starts the daemon that syncs and reports, and runs it until it is stopped. */

import type { Command } from 'commander'
import { openConfiguredDaemon, type RunningDaemon } from '../../../app/configured-daemon.ts'
import { tryReports } from '../../../app/configured-reports.ts'
import { needsKey, profileOf } from '../../../app/configured-upstream.ts'
import { openData } from '../../../app/installation.ts'
import { type Config, requireDaemon } from '../../../config/config.ts'
import { isAboutDashboard } from '../../../config/schema-web.ts'
import type { Log } from '../../../log.ts'
import { readVersion } from '../../../packages.ts'
import { nextScheduledRun } from '../../../schedule/scheduled-runs.ts'
import { addExamples } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export function defineRun(command: Command, terminal: Terminal): void {
  command.action(() => run(terminal))
  addExamples(command, ['run', 'run --config /etc/leadsheet.yaml'])
}

async function run(terminal: Terminal): Promise<void> {
  const log = await terminal.log()
  const { signal } = terminal
  let stoppingAt = 0
  let inFlight: RunningDaemon['inFlight'] = () => []
  signal.addEventListener('abort', () => {
    stoppingAt = performance.now()
    log.info({ inFlight: inFlight() }, `stopping: ${signal.reason.message}`)
  })
  try {
    await runDaemon(terminal, log, (running) => {
      inFlight = running.inFlight
    })
  } catch (thrown) {
    // A daemon that is stopped during its start throws the signal's abort reason. This is a normal end.
    if (thrown !== signal.reason) throw thrown
  }
  log.info({ seconds: Math.round((performance.now() - stoppingAt) / 100) / 10 }, 'stopped')
}

async function runDaemon(
  terminal: Terminal,
  log: Log,
  onStarted: (running: RunningDaemon) => void,
): Promise<void> {
  const { signal } = terminal
  const config = await terminal.config()
  for (const warning of config.warnings.filter(isAboutDashboard)) log.warn(warning)
  using _hangUp = handleHangUp(log)
  // The settings are checked before the store is opened, so that a failed check leaves nothing on the disk.
  requireDaemon(config, needsKey(profileOf(config)))
  await using store = await openData(config, { log, signal })
  await tryReports(config, signal)
  await using daemon = await openConfiguredDaemon(config, store, log)
  await daemon.run(signal, (running) => {
    onStarted(running)
    logStarted(log, config, running)
  })
}

function logStarted(log: Log, { dataDir, file, web }: Config, running: RunningDaemon): void {
  for (const { name, timing } of running.schedules) {
    const next = nextScheduledRun(timing, new Date())?.toISOString() ?? 'never'
    log.info({ schedule: name, when: timing.expression, timeZone: timing.timeZone, next }, 'scheduled')
  }
  const settings = file ?? 'only from environment variables'
  const pages = { listen: running.web, publicUrl: web.publicUrl }
  log.info({ version: readVersion(), node: process.versions.node, settings, dataDir, ...pages }, 'running')
}

/** Handles SIGHUP, which would otherwise end the process at once: a daemon in a terminal stops as it should. */
function handleHangUp(log: Log): Disposable {
  const listener = (): void => {
    if (process.stderr.isTTY) process.kill(process.pid, 'SIGTERM')
    else log.info('the settings were not read again: restart to apply new settings')
  }
  process.on('SIGHUP', listener)
  return { [Symbol.dispose]: () => void process.off('SIGHUP', listener) }
}
