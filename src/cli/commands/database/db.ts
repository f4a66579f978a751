/** `leadsheet db`: checks, backs up, restores, copies and prunes the store. */
import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import { checkRules } from '../../../checks/check.ts'
import { shellCommand } from '../../../errors.ts'
import { prune } from '../../../jobs/schedule/retention.ts'
import { addExamples } from '../../command.ts'
import { checkText, STATUS_ENDINGS, worstOf } from '../../exit-status.ts'
import { formatInstant, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
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
    .action(async ({ yes }: { yes?: boolean }) => terminal.show(await runPrune(terminal, yes !== true)))
  addExamples(command, ['db prune', 'db prune --yes'])
}

async function runPrune(terminal: Terminal, isDry: boolean): Promise<Result> {
  const config = await terminal.config()
  await using store = await openDataIfThere(config)
  const pruned = await prune(store, config.retention, {
    now: () => new Date(),
    isDry,
    signal: terminal.signal,
  })
  const isAnything = pruned.some(({ deleted }) => deleted > 0)
  return {
    data: pruned,
    meta: { deleted: !isDry },
    text: [
      table(pruned, [
        { title: 'TABLE', value: (each) => each.table },
        { title: 'OLDER THAN', value: ({ before }) => formatInstant(before) },
        { title: isDry ? 'WOULD GO' : 'DELETED', value: ({ deleted }) => deleted },
      ]),
    ],
    notes: isDry && isAnything ? [`nothing was deleted; ${shellCommand('db prune --yes')} does it`] : [],
  }
}

function defineCheck(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('check')
    .description('check the whole database for damage and broken rules')
    .action(async () => terminal.show(await check(terminal)))
  addExamples(command, ['db check', 'db check --json'])
}

async function check(terminal: Terminal): Promise<Result> {
  await using store = await openDataIfThere(await terminal.dataConfig())
  const checks = await checkRules(store, { whole: true, now: new Date() })
  terminal.end(STATUS_ENDINGS[worstOf(checks)])
  return { data: checks, text: [checks.map((each) => checkText(terminal, each)).join('\n')] }
}
