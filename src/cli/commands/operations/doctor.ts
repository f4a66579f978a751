/**
 * `leadsheet doctor`: checks everything that a sync and a report need, and says how to fix what is missing.
 */
import type { Command } from 'commander'
import type { CheckResult } from '../../../checks/check.ts'
import { requireSettings } from '../../../config/requirements.ts'
import { STATUS_COLORS, STATUS_ENDINGS, worstOf } from '../../checks/check-status.ts'
import { examine } from '../../checks/run-checks.ts'
import { addExamples } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly whole?: boolean
}

export function defineDoctor(command: Command, terminal: Terminal): void {
  command
    .option('--whole', 'check the whole database even if it is large')
    .action((options: Options) => runDoctor(terminal, options))
  addExamples(command, [
    'doctor',
    'doctor --whole',
    'doctor --json | jq \'.data.checks[] | select(.status != "ok")\'',
  ])
}

async function runDoctor(terminal: Terminal, options: Options): Promise<void> {
  // Invalid settings are not thrown here, because the first check reports them.
  const config = await terminal.config().catch(() => null)
  if (config !== null) requireSettings(config)
  const checks: CheckResult[] = []
  for await (const check of examine(terminal, { whole: options.whole === true })) {
    checks.push(check)
    if (!terminal.json) printCheck(terminal, check)
  }
  const status = worstOf(checks)
  if (terminal.json) terminal.printJson('doctor', { status, checks })
  terminal.end(STATUS_ENDINGS[status])
}

function printCheck(terminal: Terminal, { what, status, found, remedy }: CheckResult): void {
  const mark = terminal.style(STATUS_COLORS[status], status.padEnd(4))
  terminal.print(`${mark}  ${what.padEnd(14)}  ${found.replaceAll('\n', ' ')}`)
  if (remedy !== null) terminal.print(`${' '.repeat(22)}${terminal.style('dim', remedy)}`)
}
