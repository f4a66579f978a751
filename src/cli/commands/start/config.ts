/** `leadsheet config`: prints the settings in force with the origin of each. */
import type { Command } from 'commander'
import { tryMessage } from '../../../app/configured-mail.ts'
import { tryReports } from '../../../app/configured-reports.ts'
import { periodWarnings } from '../../../app/configured-schedules.ts'
import { needsKey, profileOf } from '../../../app/configured-upstream.ts'
import { tryGroup } from '../../../app/publishing.ts'
import { effectiveSettings, lackOfDaemon, requireSettings } from '../../../config/config.ts'
import { isAboutDashboard } from '../../../config/schema-web.ts'
import { shellCommand } from '../../../errors.ts'
import { refuseUnsendable } from '../../../upstream/client/authorize.ts'
import { addExamples, showing } from '../../command.ts'
import { webhookWarnings } from '../../installation-checks.ts'
import { table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

export function defineConfig(command: Command, terminal: Terminal): void {
  const check = command
    .command('check')
    .description('check the settings, and print each value in force with its source; secrets stay hidden')
    .action(showing(terminal, checkSettings))
  addExamples(check, ['config check', 'config check --config deploy/leadsheet.yaml --json'])
}

async function checkSettings(terminal: Terminal): Promise<Result> {
  const config = await terminal.config()
  requireSettings(config)
  const settings = effectiveSettings(config)
  const ofWebhooks = webhookWarnings(config)
  refuseUnsendable(profileOf(config), config.api.key?.reveal() ?? '')
  const kinds = await tryReports(config, terminal.signal)
  await tryMessage(config)
  await tryGroup(config)
  const aboutDashboard = config.warnings.filter(isAboutDashboard)
  const notLogged = [...aboutDashboard, ...ofWebhooks, ...periodWarnings(config, kinds, new Date())]
  const lack = lackOfDaemon(config, needsKey(profileOf(config)))
  if (lack !== null) notLogged.push(`${shellCommand('run')} needs more: ${lack}`)
  const warnings = [...config.warnings.filter((warning) => !isAboutDashboard(warning)), ...notLogged]
  if (warnings.length > 0) terminal.end(lack === null ? 'partly' : 'usage')
  return {
    data: { file: config.file, settings, warnings },
    text: [
      table(settings, [
        { title: 'SETTING', value: ({ setting }) => setting },
        { title: 'VALUE', value: ({ value }) => valueText(value) },
        { title: 'FROM', value: ({ source }) => source },
      ]),
    ],
    // The other warnings were logged while the settings were read.
    notes: notLogged.map((warning) => `warning: ${warning}`),
  }
}

function valueText(value: unknown): string | null {
  if (value === null) return null
  if (!Array.isArray(value)) return typeof value === 'object' ? JSON.stringify(value) : String(value)
  return value.length === 0 ? null : value.join(', ')
}
