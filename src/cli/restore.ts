/** `leadsheet restore`: a backup in the place of the store; in PostgreSQL what is left to do after its own programs. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { publishSnapshot } from '../jobs/snapshot/publish.ts'
import { type Restored, restoreBackup, settleRestored, type Unknown } from '../store/backup/restore.ts'
import type { PostgresPlace } from '../store/db/postgres.ts'
import { isStoreThere } from '../store/db/store-exists.ts'
import { contentJson, contentLine } from './backup.ts'
import { addExamples } from './command.ts'
import { restoreElsewhere } from './elsewhere.ts'
import { openData, pathsIn, storePlaceOf } from './installation.ts'
import { configuredPublishing } from './publishing.ts'
import type { Terminal } from './terminal.ts'

export function defineRestore(command: Command, terminal: Terminal): void {
  command
    .argument('[file]', `a file that ${shellCommand('backup')} has made; none after pg_restore`)
    .action((file: string | undefined) => restore(terminal, file))
  addExamples(command, ['restore /backups/leadsheet-2026-11-20.db', 'restore'])
}

async function restore(terminal: Terminal, file: string | undefined): Promise<void> {
  const config = await terminal.config()
  const place = storePlaceOf(config)
  if (place.kind === 'postgres') {
    if (file !== undefined) throw restoreElsewhere(place)
    return settle(terminal, place)
  }
  if (file === undefined) {
    throw new LeadsheetError('usage_invalid', 'the file to restore is not named', {
      hint: `Name a file that ${shellCommand('backup')} has made.`,
    })
  }
  const database = place.file
  const { snapshot } = pathsIn(config.dataDir)
  const restored = await restoreBackup(file, database, new Date(), terminal.signal)
  if (existsSync(snapshot)) await publishRestored(terminal)
  if (terminal.json) terminal.printJson({ file: resolve(file), database, ...restoredJson(restored) })
  else printRestored(terminal, database, restored)
}

/** What pg_restore has put there is made such that workers may be started. */
async function settle(terminal: Terminal, place: PostgresPlace): Promise<void> {
  if (!(await isStoreThere(place))) {
    throw new LeadsheetError('report_no_data', `there is nothing yet in ${place.name}`, {
      hint: restoreElsewhere(place).hint ?? '',
    })
  }
  const config = await terminal.config()
  await using store = await openData(config)
  const unknown = await settleRestored(store, 'a dump', new Date())
  if (existsSync(pathsIn(config.dataDir).snapshot)) await publishRestored(terminal)
  if (terminal.json) terminal.printJson({ database: place.name, ...unknownJson(unknown) })
  else {
    terminal.print(`${place.name}: workers may be started`)
    noteUnknown(terminal, unknown)
  }
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
  return { before, ...contentJson(content), ...unknownJson(unknown) }
}

function unknownJson({ letters, schedules }: Unknown) {
  return { letters_in_doubt: letters, schedules_from_now: schedules }
}

function printRestored(terminal: Terminal, database: string, { content, unknown, before }: Restored): void {
  terminal.print(`${database}: ${contentLine(content)}`)
  if (before !== null) terminal.note(`what was there before is ${before}`)
  noteUnknown(terminal, unknown)
}

function noteUnknown(terminal: Terminal, unknown: Unknown): void {
  if (unknown.schedules.length > 0) {
    terminal.note('reports go on with their next due time: those since the backup may have been sent already')
  }
  if (unknown.letters > 0) {
    terminal.note(
      `letters that the backup had not sent are in doubt now, and stay unsent: ${unknown.letters}`,
    )
  }
  terminal.note(`${shellCommand('sync')} brings it up to date`)
}
