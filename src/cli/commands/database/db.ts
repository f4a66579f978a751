/** `leadsheet db`: checks, backs up, restores, copies and prunes the store. */
import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import { checkRules } from '../../../checks/check.ts'
import { shellCommand } from '../../../errors.ts'
import { type Pruned, prune } from '../../../jobs/schedule/retention.ts'
import { addExamples } from '../../command.ts'
import { STATUS_COLORS, STATUS_ENDINGS, worstOf } from '../../exit-status.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { defineBackup, defineRestore } from './backup.ts'
import { defineCopy } from './copy.ts'

export function defineDb(command: Command, terminal: Terminal): void {
  defineCheck(command, terminal)
  defineBackup(command, terminal)
  defineRestore(command, terminal)
  defineCopy(command, terminal)
  definePrune(command, terminal)
}

function definePrune(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('prune')
    .description('delete data that is older than the retention settings; without --yes, only show it')
    .option('--yes', 'delete the data; without it nothing is changed')
    .action((options: { yes?: boolean }) => runPrune(terminal, options.yes !== true))
  addExamples(command, ['db prune', 'db prune --yes'])
}

async function runPrune(terminal: Terminal, isDry: boolean): Promise<void> {
  const config = await terminal.config()
  await using store = await openDataIfThere(config)
  const pruned = await prune(store, config.retention, {
    now: () => new Date(),
    isDry,
    signal: terminal.signal,
  })
  if (terminal.json) terminal.printJson(pruned, { deleted: !isDry })
  else {
    await terminal.printTable<Pruned>(
      [
        { title: 'TABLE', value: ({ table }) => table, isWhole: true },
        { title: 'OLDER THAN', value: ({ before }) => formatInstant(before), isWhole: true },
        { title: isDry ? 'WOULD GO' : 'DELETED', value: ({ deleted }) => deleted },
      ],
      pruned,
    )
  }
  const isAnything = pruned.some(({ deleted }) => deleted > 0)
  if (isDry && isAnything) terminal.note(`nothing was deleted; ${shellCommand('db prune --yes')} does it`)
}

function defineCheck(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('check')
    .description('check the whole database for damage and broken rules')
    .action(() => check(terminal))
  addExamples(command, ['db check', 'db check --json'])
}

async function check(terminal: Terminal): Promise<void> {
  await using store = await openDataIfThere(await terminal.dataConfig())
  const checks = await checkRules(store, { whole: true, now: new Date() })
  terminal.end(STATUS_ENDINGS[worstOf(checks)])
  if (terminal.json) return terminal.printJson(checks)
  for (const { status, found, remedy } of checks) {
    terminal.print(`${terminal.style(STATUS_COLORS[status], status.padEnd(4))}  ${found}`)
    if (remedy !== null) terminal.print(`      ${terminal.style('dim', remedy)}`)
  }
}
