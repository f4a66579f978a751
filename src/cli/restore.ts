/** `leadsheet restore`: a backup in the place of the store. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { restoreBackup } from '../store/restore.ts'
import { contentJson, contentLine } from './backup.ts'
import { addExamples } from './command.ts'
import { pathsIn } from './installation.ts'
import type { Terminal } from './terminal.ts'

export function defineRestore(command: Command, terminal: Terminal): void {
  command
    .argument('<file>', 'a file that `leadsheet backup` has made')
    .action((file: string) => restore(terminal, file))
  addExamples(command, ['restore /backups/leadsheet-2026-11-20.db'])
}

async function restore(terminal: Terminal, file: string): Promise<void> {
  const { database } = pathsIn((await terminal.config()).dataDir)
  const { content, unknown, before } = await restoreBackup(file, database, new Date(), terminal.signal)
  if (terminal.json) {
    const { letters, schedules } = unknown
    const doubts = { letters_in_doubt: letters, schedules_from_now: schedules }
    terminal.printJson({ file: resolve(file), database, before, ...contentJson(content), ...doubts })
    return
  }
  terminal.print(`${database}: ${contentLine(content)}`)
  if (before !== null) terminal.note(`what was there before is ${before}`)
  if (unknown.schedules.length > 0) {
    terminal.note('reports go on with the next due time: those since the backup may have been sent already')
  }
  if (unknown.letters > 0) {
    terminal.note(
      `letters that the backup had not sent are in doubt now, and stay unsent: ${unknown.letters}`,
    )
  }
  terminal.note('`leadsheet sync` brings it up to date, and makes a new snapshot')
}
