/** `leadsheet backup`: the whole store as one file. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { counted } from '../report/words/numbers.ts'
import { makeBackup } from '../store/backup/backup.ts'
import type { BackupContent } from '../store/backup/backup-check.ts'
import { addExamples } from './command.ts'
import { backupElsewhere } from './elsewhere.ts'
import { storePlaceOf } from './installation.ts'
import { formatInstant } from './table.ts'
import type { Terminal } from './terminal.ts'

export function defineBackup(command: Command, terminal: Terminal): void {
  command
    .argument('<file>', 'the file to write')
    .option('--force', 'replace the file if it is there')
    .action((file: string, options: { force?: boolean }) => backup(terminal, file, options.force === true))
  addExamples(command, ['backup /backups/leadsheet-$(date +%F).db', 'backup leadsheet-backup.db --force'])
}

async function backup(terminal: Terminal, file: string, replaces: boolean): Promise<void> {
  const place = storePlaceOf(await terminal.config())
  if (place.kind === 'postgres') throw backupElsewhere(place)
  const database = place.file
  if (!existsSync(database)) {
    throw new LeadsheetError('report_no_data', `there is no database ${database} to back up`, {
      hint: `Set data_dir (LEADSHEET_DATA_DIR), or run ${shellCommand('sync')} first.`,
    })
  }
  const content = await makeBackup(database, file, { replaces, signal: terminal.signal })
  if (terminal.json) terminal.printJson({ file: resolve(file), ...contentJson(content) })
  else terminal.print(`${resolve(file)}: ${contentLine(content)}; checked`)
}

export function contentJson({ schema, runId, leadsAsOf, rows }: BackupContent) {
  return { run_id: runId, leads_as_of: leadsAsOf, schema, rows }
}

/** `3,003 leads, 9,120 versions, 12 reports, as of 2026-11-21 06:00Z` */
export function contentLine({ leadsAsOf, rows }: BackupContent): string {
  const rowsOf = (table: string, noun: string) => counted(rows[table] ?? 0, noun)
  const asOf = leadsAsOf === null ? 'before the first whole sync' : `as of ${formatInstant(leadsAsOf)}`
  return [
    rowsOf('lead', 'lead'),
    rowsOf('lead_version', 'version'),
    rowsOf('report_edition', 'report'),
    asOf,
  ].join(', ')
}
