/** `leadsheet run`: the daemon that syncs and reports as the settings say. */
import type { Command } from 'commander'
import { requireDaemon } from '../config/requirements.ts'
import { nextSlot } from '../schedule/slots.ts'
import { addExamples } from './command.ts'
import { openConfiguredDaemon } from './configured-daemon.ts'
import { openData } from './installation.ts'
import { tryReports } from './report-trial.ts'
import type { Terminal } from './terminal.ts'
import { needsKey, profileOf } from './upstream.ts'

export function defineRun(command: Command, terminal: Terminal): void {
  command.action(() => run(terminal))
  addExamples(command, ['run', 'run --config /etc/leadsheet.yaml'])
}

async function run(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  const log = await terminal.log()
  requireDaemon(config, needsKey(profileOf(config)))
  await using store = await openData(config)
  await tryReports(config, terminal.signal)
  await using daemon = await openConfiguredDaemon(config, store, log)
  await daemon.run(terminal.signal, async ({ schedules, web }) => {
    for (const { name, timing } of schedules) {
      const next = nextSlot(timing, new Date())?.toISOString() ?? 'never'
      log.info({ schedule: name, when: timing.expression, timeZone: timing.timeZone, next }, 'scheduled')
    }
    if (web !== null) log.info({ listen: web, publicUrl: config.web.publicUrl }, 'pages are served')
  })
  log.info('stopped')
}
