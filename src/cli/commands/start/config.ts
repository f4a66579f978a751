/** `leadsheet config`: prints the settings in force with the origin of each. */
import type { Command } from 'commander'
import { tryMessage } from '../../../app/configured-mail.ts'
import { tryReports } from '../../../app/configured-reports.ts'
import { periodWarnings, scheduleWarnings } from '../../../app/configured-schedules.ts'
import { needsKey, profileOf } from '../../../app/configured-upstream.ts'
import { effectiveSettings, lackOfDaemon, requireSettings } from '../../../config/config.ts'
import { isAboutDashboard } from '../../../config/schema-web.ts'
import { shellCommand } from '../../../errors.ts'
import { refuseUnsendable } from '../../../upstream/client/authorize.ts'
import { addExamples } from '../../command.ts'
import { webhookWarnings } from '../../installation-checks.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export function defineConfig(command: Command, terminal: Terminal): void {
  const check = command
    .command('check')
    .description('check the settings, and print each value in force with its source; secrets stay hidden')
    .action(() => checkSettings(terminal))
  addExamples(check, ['config check', 'config check --config deploy/leadsheet.yaml --json'])
}

async function checkSettings(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  requireSettings(config)
  const settings = effectiveSettings(config)
  const ofWebhooks = webhookWarnings(config)
  refuseUnsendable(profileOf(config), config.api.key?.reveal() ?? '')
  const kinds = await tryReports(config, terminal.signal)
  await tryMessage(config)
  const aboutDashboard = config.warnings.filter(isAboutDashboard)
  const now = new Date()
  const ofSchedules = [...scheduleWarnings(config, now), ...periodWarnings(config, kinds, now)]
  const notLogged = [...aboutDashboard, ...ofWebhooks, ...ofSchedules]
  const warnings = [...config.warnings.filter((warning) => !isAboutDashboard(warning)), ...notLogged]
  if (terminal.json) {
    terminal.printJson({ file: config.file, settings, warnings })
  } else {
    await terminal.printTable(
      [
        { title: 'SETTING', value: ({ setting }) => setting, isWhole: true },
        { title: 'VALUE', value: ({ value }) => valueText(value) },
        { title: 'FROM', value: ({ source }) => source },
      ],
      settings,
    )
  }
  // The other warnings are not printed here, because they were logged while the settings were read.
  for (const warning of notLogged) terminal.note(`warning: ${warning}`)
  const lack = lackOfDaemon(config, needsKey(profileOf(config)))
  // This is only a note, because an installation that runs no daemon needs fewer settings.
  if (lack !== null) terminal.note(`${shellCommand('run')} needs more: ${lack}`)
  if (warnings.length > 0) terminal.end('partly')
}

function valueText(value: unknown): string | null {
  if (!Array.isArray(value)) return value === null ? null : String(value)
  return value.length === 0 ? null : value.join(', ')
}
