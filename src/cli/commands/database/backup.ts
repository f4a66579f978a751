/** `leadsheet db backup` and `restore`: copies the whole store into one file, and back. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { openData, pathsIn, storePlaceOf } from '../../../app/installation.ts'
import { configuredPublishing } from '../../../app/publishing.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { publishSnapshot } from '../../../jobs/snapshot/publish-snapshot.ts'
import { counted } from '../../../report/words/numbers.ts'
import { makeBackup } from '../../../store/backup/backup.ts'
import type { BackupContent } from '../../../store/backup/backup-check.ts'
import { repairAfterRestore, restoreBackup, type Unknown } from '../../../store/backup/restore.ts'
import type { PostgresPlace } from '../../../store/db/postgres.ts'
import { isStoreThere } from '../../../store/db/store-exists.ts'
import { addExamples, showing } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

export function defineBackup(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('backup')
    .description('back up the whole database, private data included, to one file and check it')
    .argument('<file>', 'file to write')
    .option('-f, --force', 'replace the file if it exists')
    .action(showing(terminal, backup))
  addExamples(command, ['db backup /backups/leadsheet-$(date +%F).db', 'db backup leadsheet-backup.db -f'])
}

async function backup(
  terminal: Terminal,
  file: string,
  { force = false }: { force?: boolean },
): Promise<Result> {
  const place = storePlaceOf(await terminal.dataConfig())
  if (place.kind === 'postgres') throw backupElsewhere(place)
  const database = place.file
  if (!existsSync(database)) {
    throw new LeadsheetError('report_no_data', `there is no database ${database} to back up`, {
      hint: `Set data_dir (LEADSHEET_DATA_DIR), or run ${shellCommand('sync')} first.`,
    })
  }
  const content = await makeBackup(database, file, { replaces: force, signal: terminal.signal })
  return {
    data: { file: resolve(file), ...contentJson(content) },
    text: [`${resolve(file)}: ${contentLine(content)}; checked`],
  }
}

function contentJson({ schema, runId, leadsAsOf, rows }: BackupContent) {
  return { run_id: runId, leads_as_of: leadsAsOf, schema, rows }
}

/** Formats the content of a backup: `3,003 leads, 9,120 versions, 12 reports, as of 2026-11-21 06:00Z`. */
function contentLine({ leadsAsOf, rows }: BackupContent): string {
  const rowsOf = (table: string, noun: string) => counted(rows[table] ?? 0, noun)
  const asOf = leadsAsOf === null ? 'before the first whole sync' : `as of ${formatInstant(leadsAsOf)}`
  return [
    rowsOf('lead', 'lead'),
    rowsOf('lead_version', 'version'),
    rowsOf('report_issue', 'report'),
    asOf,
  ].join(', ')
}

/**
 * Defines `leadsheet db restore`. For SQLite, the command replaces the store by a backup file. For
 * PostgreSQL, it prepares the data that pg_restore has restored.
 */
export function defineRestore(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('restore')
    .description('replace the database with a backup')
    .argument('[file]', `file that ${shellCommand('db backup')} made; leave it out after pg_restore`)
    .action(showing(terminal, restore))
  addExamples(command, ['db restore /backups/leadsheet-2026-11-20.db', 'db restore'])
}

async function restore(terminal: Terminal, file: string | undefined): Promise<Result> {
  const config = await terminal.config()
  const place = storePlaceOf(config)
  if (place.kind === 'postgres') {
    if (file !== undefined) throw restoreElsewhere(place)
    return repair(terminal, place)
  }
  if (file === undefined) {
    throw new LeadsheetError('usage_invalid', 'the file to restore is not named', {
      hint: `Name a file that ${shellCommand('db backup')} has made.`,
    })
  }
  const database = place.file
  const { snapshot } = pathsIn(config.dataDir)
  const restored = await restoreBackup(file, database, new Date(), terminal.signal)
  if (existsSync(snapshot)) await publishRestored(terminal)
  const { content, unknown, before } = restored
  return {
    data: { file: resolve(file), database, before, ...contentJson(content), ...unknownJson(unknown) },
    text: [`${database}: ${contentLine(content)}`],
    notes: [...(before === null ? [] : [`what was there before is ${before}`]), ...unknownNotes(unknown)],
  }
}

/**
 * Prepares a store that pg_restore has filled, so that daemons can be started without mailing anything twice.
 */
async function repair(terminal: Terminal, place: PostgresPlace): Promise<Result> {
  if (!(await isStoreThere(place))) {
    throw new LeadsheetError('report_no_data', `there is nothing yet in ${place.name}`, {
      hint: restoreElsewhere(place).hint ?? '',
    })
  }
  const config = await terminal.config()
  await using store = await openData(config)
  const unknown = await repairAfterRestore(store, 'a dump', new Date())
  if (existsSync(pathsIn(config.dataDir).snapshot)) await publishRestored(terminal)
  return {
    data: { database: place.name, ...unknownJson(unknown) },
    text: [`${place.name}: workers may be started`],
    notes: unknownNotes(unknown),
  }
}

/** Publishes the snapshot again, because the old snapshot shows the database from before the restore. */
async function publishRestored(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  await using store = await openData(config)
  try {
    await publishSnapshot(configuredPublishing(config, store), terminal.signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || terminal.signal.aborted) throw thrown
    terminal.note(`warning: the snapshot is still that of before: ${thrown.message}`)
    terminal.end('partly')
  }
}

function unknownJson({ messages, schedules }: Unknown) {
  return { unconfirmed_messages: messages, schedules_from_now: schedules }
}

function unknownNotes({ schedules, messages }: Unknown): string[] {
  const reports =
    'reports go on with their next scheduled run: those since the backup may have been sent already'
  const unsent = `messages that the backup had not sent are unconfirmed now, and stay unsent: ${messages}`
  return [
    ...(schedules.length > 0 ? [reports] : []),
    ...(messages > 0 ? [unsent] : []),
    `${shellCommand('sync')} brings it up to date`,
  ]
}

/**
 * Returns the error that refuses a backup of a PostgreSQL store and names the pg_dump command instead. The
 * command has no password; pg_dump asks for it, or reads PGPASSWORD or ~/.pgpass.
 */
function backupElsewhere(place: PostgresPlace): LeadsheetError {
  return new LeadsheetError(
    'store_elsewhere',
    `${shellCommand('db backup')} is for a store in a file; this one is ${place.name}`,
    {
      hint: `Call pg_dump --format=custom --schema=${place.schema} --file=leadsheet.dump '${addressOf(place)}'`,
    },
  )
}

function restoreElsewhere(place: PostgresPlace): LeadsheetError {
  return new LeadsheetError(
    'store_elsewhere',
    `${shellCommand('db restore FILE')} is for a store in a file; this one is ${place.name}`,
    {
      hint: `Stop all workers, call pg_restore --clean --if-exists --single-transaction --dbname='${addressOf(place)}' leadsheet.dump, and then ${shellCommand('db restore')} without a file, so that nothing is mailed twice.`,
    },
  )
}

/**
 * Returns the database URL without its password and without the parameter that pg_dump and pg_restore do not
 * know.
 */
function addressOf({ url }: PostgresPlace): string {
  const address = new URL(url)
  address.password = ''
  address.searchParams.delete('uselibpqcompat')
  return address.href
}
