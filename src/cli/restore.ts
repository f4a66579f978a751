/** `leadsheet restore`: a backup in the place of the store. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { LeadsheetError } from '../errors.ts'
import { publishSnapshot } from '../jobs/publish.ts'
import { type Restored, restoreBackup } from '../store/restore.ts'
import { contentJson, contentLine } from './backup.ts'
import { addExamples } from './command.ts'
import { requireFile } from './elsewhere.ts'
import { openData, pathsIn } from './installation.ts'
import { configuredPublishing } from './publishing.ts'
import type { Terminal } from './terminal.ts'

export function defineRestore(command: Command, terminal: Terminal): void {
  command
    .argument('<file>', 'a file that `leadsheet backup` has made')
    .action((file: string) => restore(terminal, file))
  addExamples(command, ['restore /backups/leadsheet-2026-11-20.db'])
}

async function restore(terminal: Terminal, file: string): Promise<void> {
  const config = await terminal.config()
  const database = requireFile(config, 'restore')
  const { snapshot } = pathsIn(config.dataDir)
  const restored = await restoreBackup(file, database, new Date(), terminal.signal)
  if (existsSync(snapshot)) await publishRestored(terminal)
  if (terminal.json) terminal.printJson({ file: resolve(file), database, ...restoredJson(restored) })
  else printRestored(terminal, database, restored)
}

/** The snapshot that is there is of the database that is not there any more. */
async function publishRestored(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  await using store = await openData(config)
  try {
    await publishSnapshot(configuredPublishing(config, store, await terminal.log()), terminal.signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || terminal.signal.aborted) throw thrown
    terminal.note(`warning: the snapshot is still that of before: ${thrown.message}`)
    terminal.end('partly')
  }
}

function restoredJson({ content, unknown, before }: Restored) {
  const { letters, schedules } = unknown
  return { before, ...contentJson(content), letters_in_doubt: letters, schedules_from_now: schedules }
}

function printRestored(terminal: Terminal, database: string, { content, unknown, before }: Restored): void {
  terminal.print(`${database}: ${contentLine(content)}`)
  if (before !== null) terminal.note(`what was there before is ${before}`)
  if (unknown.schedules.length > 0) {
    terminal.note('reports go on with their next due time: those since the backup may have been sent already')
  }
  if (unknown.letters > 0) {
    terminal.note(
      `letters that the backup had not sent are in doubt now, and stay unsent: ${unknown.letters}`,
    )
  }
  terminal.note('`leadsheet sync` brings it up to date')
}
