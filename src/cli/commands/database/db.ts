/**
 * `leadsheet db`: checks, backs up, restores, copies and prunes the store, and lets a PostgreSQL role read
 * it.
 */
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import { errorText, LeadsheetError, shellCommand } from '../../../errors.ts'
import { type Pruned, prune } from '../../../jobs/schedule/retention.ts'
import { nameOf } from '../../../store/db/place.ts'
import { makeAnalystRole, planAnalystRole } from '../../../store/postgres/analyst-role.ts'
import { PUBLISHED } from '../../../store/schema/published.ts'
import { VIEWS } from '../../../store/schema/views.ts'
import { checkStore } from '../../checks/machine-check.ts'
import { addExamples } from '../../command.ts'
import { STATUS_COLORS, STATUS_ENDINGS, worstOf } from '../../exit-status.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { defineBackup, defineRestore } from './backup.ts'
import { defineCopy } from './copy.ts'

interface Options {
  readonly passwordFile?: string
  readonly print?: boolean
}

export function defineDb(command: Command, terminal: Terminal): void {
  defineCheck(command, terminal)
  defineBackup(command, terminal)
  defineRestore(command, terminal)
  defineCopy(command, terminal)
  defineGrant(command, terminal)
  definePrune(command, terminal)
}

function defineGrant(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('grant')
    .description('let a PostgreSQL role read what the snapshot shows, and nothing else')
    .argument('<role>', 'name of the role; it is created or updated')
    .option('--password-file <file>', 'file with the password of the role')
    .option('--print', 'change nothing; print the SQL, so that somebody with more rights can run it')
    .action((role: string, options: Options) => grant(terminal, role, options))
  addExamples(command, [
    'db grant analysts --password-file /run/secrets/analysts',
    'db grant analysts --print | psql -U postgres -d leads',
  ])
}

async function grant(terminal: Terminal, role: string, options: Options): Promise<void> {
  const password = options.passwordFile === undefined ? null : await readPassword(options.passwordFile)
  await using store = await openDataIfThere(await terminal.dataConfig())
  if (options.print) {
    const { statements } = await planAnalystRole(store, { role, password })
    if (terminal.json) terminal.printJson('db grant', { role, statements })
    else terminal.print(...statements.map((statement) => `${statement};`))
    return
  }
  const { isNew } = await makeAnalystRole(store, { role, password })
  const [tables, views] = [Object.keys(PUBLISHED).length, Object.keys(VIEWS).length]
  if (terminal.json) terminal.printJson('db grant', { role, is_new: isNew, tables, views })
  else {
    const done = isNew ? 'was made' : 'was there, and has been brought up to date'
    terminal.print(
      `${role} ${done}: it reads ${tables} tables and ${views} views in ${nameOf(store.place)}, and nothing else`,
    )
  }
}

async function readPassword(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new LeadsheetError('usage_invalid', `${file} cannot be read: ${errorText(cause)}`, { cause })
  })
  const password = text.replace(/\r?\n$/, '')
  if (password !== '' && !/[\r\n]/.test(password)) return password
  throw new LeadsheetError('usage_invalid', `${file} must hold one line, the password`)
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
  if (terminal.json) terminal.printJson('db prune', pruned, { deleted: !isDry })
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
  const checks = await Array.fromAsync(checkStore(store, { whole: true, now: new Date() }))
  terminal.end(STATUS_ENDINGS[worstOf(checks)])
  if (terminal.json) return terminal.printJson('db check', checks)
  for (const { status, found, remedy } of checks) {
    terminal.print(`${terminal.style(STATUS_COLORS[status], status.padEnd(4))}  ${found}`)
    if (remedy !== null) terminal.print(`      ${terminal.style('dim', remedy)}`)
  }
}
