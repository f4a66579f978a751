/** `leadsheet run`: the daemon that syncs and reports as the settings say. */
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { requireDaemon } from '../config/requirements.ts'
import { isOfWindow } from '../config/web-access.ts'
import type { Log } from '../log.ts'
import { nextSlot } from '../schedule/slots.ts'
import { addExamples } from './command.ts'
import type { RunningDaemon } from './configured-daemon.ts'
import { onHangUp } from './hang-up.ts'
import { openData } from './installation.ts'
import { type ReloadDeps, runThroughReloads } from './reloads.ts'
import type { Terminal } from './terminal.ts'
import { needsKey, profileOf } from './upstream.ts'
import { readVersion } from './version.ts'

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
  for (const warning of config.warnings.filter(isOfWindow)) telling.log.warn(warning)
  // While it starts, the settings are just being read.
  let reload = (): void => {}
  using _hangUp = onHangUp(() => reload())
  const takeReload = (poke: () => void): void => {
    reload = poke
  }
  // Before there is anything on the disk.
  requireDaemon(config, needsKey(profileOf(config)))
  await using store = await openData(config, { ...telling, signal: terminal.signal })
  await runThroughReloads({ ...telling, terminal, store, takeReload }, config, readAt)
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
