/** `leadsheet db`: checks, backs up, restores, copies and prunes the store. */
import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import { checkRules } from '../../../checks/check.ts'
import { prune } from '../../../jobs/schedule/retention.ts'
import { addExamples, showing } from '../../command.ts'
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
    .description('delete data that is older than the retention settings, as each scheduled full sync does')
    .action(showing(terminal, runPrune))
  addExamples(command, ['db prune'])
}

async function runPrune(terminal: Terminal): Promise<Result> {
  const config = await terminal.config()
  await using store = await openDataIfThere(config)
  const pruned = await prune(store, config.retention, { now: () => new Date(), signal: terminal.signal })
  return {
    data: pruned,
    text: [
      table(pruned, [
        { title: 'TABLE', value: (each) => each.table },
        { title: 'OLDER THAN', value: ({ before }) => formatInstant(before) },
        { title: 'DELETED', value: ({ deleted }) => deleted },
      ]),
    ],
  }
}

function defineCheck(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('check')
    .description('check the whole database for damage and broken rules')
    .action(showing(terminal, check))
  addExamples(command, ['db check', 'db check --json'])
}

async function check(terminal: Terminal): Promise<Result> {
  await using store = await openDataIfThere(await terminal.dataConfig())
  const checks = await checkRules(store, { whole: true, now: new Date() })
  terminal.end(STATUS_ENDINGS[worstOf(checks)])
  return { data: checks, text: [checks.map((each) => checkText(terminal, each)).join('\n')] }
}
