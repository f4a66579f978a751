/** `leadsheet prune`: lets go what the settings do not want to be kept any longer; shows it first. */

import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import { shellCommand } from '../../../errors.ts'
import { type Pruned, prune } from '../../../jobs/schedule/retention.ts'
import { addExamples } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export function definePrune(command: Command, terminal: Terminal): void {
  command
    .option('--yes', 'delete it; without this nothing is changed')
    .action((options: { yes?: boolean }) => runPrune(terminal, options.yes !== true))
  addExamples(command, ['prune', 'prune --yes'])
}

async function runPrune(terminal: Terminal, isDry: boolean): Promise<void> {
  const config = await terminal.config()
  await using store = await openDataIfThere(config)
  const pruned = await prune(store, config.retention, {
    now: () => new Date(),
    isDry,
    signal: terminal.signal,
  })
  if (terminal.json) terminal.printJson({ deleted: !isDry, tables: pruned.map(prunedJson) })
  else {
    await terminal.printTable<Pruned>(
      [
        { title: 'TABLE', value: ({ table }) => table, isWhole: true },
        { title: 'OLDER THAN', value: ({ before }) => formatInstant(before), isWhole: true },
        { title: 'ROWS', value: ({ read }) => read },
        { title: isDry ? 'WOULD GO' : 'GONE', value: ({ gone }) => gone },
        { title: 'STAY', value: ({ read, gone }) => read - gone },
      ],
      pruned,
    )
  }
  const isAnything = pruned.some(({ gone }) => gone > 0)
  if (isDry && isAnything) terminal.note(`nothing was deleted; ${shellCommand('prune --yes')} does it`)
}

function prunedJson({ table, before, read, gone }: Pruned) {
  return { table, before, rows: read, gone }
}
