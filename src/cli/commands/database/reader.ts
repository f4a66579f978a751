/** `leadsheet reader`: a role for analysts in the PostgreSQL that has the store. */
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import { errorText, LeadsheetError } from '../../../errors.ts'
import { nameOf } from '../../../store/db/place.ts'
import { describeReader, makeReader } from '../../../store/postgres/analyst-role.ts'
import { PUBLISHED } from '../../../store/schema/published.ts'
import { VIEWS } from '../../../store/schema/views.ts'
import { addExamples } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly passwordFile?: string
  readonly print?: boolean
}

export function defineReader(command: Command, terminal: Terminal): void {
  command
    .argument('<role>', 'its name; made if it is not there, else brought to what it should read')
    .option('--password-file <file>', 'a file with the password that it logs in by')
    .option('--print', 'print the SQL, for who runs it with other rights; nothing is changed')
    .action((role: string, options: Options) => runReader(terminal, role, options))
  addExamples(command, [
    'reader analysts --password-file /run/secrets/analysts',
    'reader analysts --print | psql -U postgres -d leads',
  ])
}

async function runReader(terminal: Terminal, role: string, options: Options): Promise<void> {
  const password = options.passwordFile === undefined ? null : await readPassword(options.passwordFile)
  await using store = await openDataIfThere(await terminal.config())
  if (options.print) {
    const { statements } = await describeReader(store, { role, password })
    if (terminal.json) terminal.printJson({ role, statements })
    else terminal.print(...statements.map((statement) => `${statement};`))
    return
  }
  const { isNew } = await makeReader(store, { role, password })
  const [tables, views] = [Object.keys(PUBLISHED).length, Object.keys(VIEWS).length]
  if (terminal.json) terminal.printJson({ role, is_new: isNew, tables, views })
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
