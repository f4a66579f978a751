/** `leadsheet run`: the daemon that syncs and reports as the settings say. */
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { requireDaemon } from '../config/requirements.ts'
import type { Log } from '../log.ts'
import { nextSlot } from '../schedule/slots.ts'
import { addExamples } from './command.ts'
import type { RunningDaemon } from './configured-daemon.ts'
import { openData } from './installation.ts'
import { runThroughReloads } from './reloads.ts'
import type { Terminal } from './terminal.ts'
import { needsKey, profileOf } from './upstream.ts'
import { readVersion } from './version.ts'

export function defineRun(command: Command, terminal: Terminal): void {
  command.action(() => run(terminal))
  addExamples(command, ['run', 'run --config /etc/leadsheet.yaml'])
}

async function run(terminal: Terminal): Promise<void> {
  const readAt = new Date()
  const config = await terminal.config()
  const log = await terminal.log()
  const { signal } = terminal
  // Before there is anything on the disk.
  requireDaemon(config, needsKey(profileOf(config)))
  let stoppingAt = 0
  let held: () => readonly string[] = () => []
  signal.addEventListener('abort', () => {
    stoppingAt = performance.now()
    log.info({ inHand: held() }, `stopping: ${signal.reason.message}`)
  })
  {
    await using store = await openData(config, { log, signal })
    const tellStarted = (inForce: Config, running: RunningDaemon): void => {
      held = running.inHand
      tell(log, inForce, running)
    }
    await runThroughReloads({ terminal, store, log, tellStarted }, config, readAt)
  }
  log.info({ seconds: Math.round((performance.now() - stoppingAt) / 100) / 10 }, 'stopped')
}

function tell(log: Log, { dataDir, file, web }: Config, running: RunningDaemon): void {
  for (const { name, timing } of running.schedules) {
    const next = nextSlot(timing, new Date())?.toISOString() ?? 'never'
    log.info({ schedule: name, when: timing.expression, timeZone: timing.timeZone, next }, 'scheduled')
  }
  const settings = file ?? 'from the environment alone'
  const pages = { listen: running.web, publicUrl: web.publicUrl }
  log.info({ version: readVersion(), node: process.versions.node, settings, dataDir, ...pages }, 'running')
}
