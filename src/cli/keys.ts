/** `leadsheet keys`: the API keys of the reference service, whether it runs or not. */
import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { type ApiKey, type Keyring, openKeyring } from '../service/keyring.ts'
import { addExamples } from './command.ts'
import { SERVICE_DIR, serviceFile } from './service-data.ts'
import { type Column, formatInstant } from './table.ts'
import type { Terminal } from './terminal.ts'

interface DataOption {
  readonly data: string
}

interface CreateOptions extends DataOption {
  readonly name: string
  readonly scope: 'read' | 'write'
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { title: 'ID', value: (key) => key.id, isWhole: true },
  { title: 'NAME', value: (key) => key.name },
  { title: 'SCOPE', value: (key) => key.scope },
  { title: 'KEY', value: (key) => `${key.prefix}…` },
  { title: 'CREATED', value: (key) => formatInstant(key.createdAt.toISOString()) },
  { title: 'REVOKED', value: (key) => key.revokedAt && formatInstant(key.revokedAt.toISOString()) },
]

export function defineKeys(command: Command, terminal: Terminal): void {
  const create = command
    .command('create')
    .description('create a key; it is shown this once')
    .addOption(dataOption())
    .option('--name <name>', 'who or what uses it', 'unnamed')
    .addOption(new Option('--scope <scope>', 'what it may do').choices(['read', 'write']).default('read'))
    .action((options: CreateOptions) => createKey(terminal, options))
  addExamples(create, ['keys create --name sync', 'keys create --name admin --scope write --json'])

  const list = command
    .command('list')
    .description('list the keys, revoked ones included')
    .addOption(dataOption())
    .action((options: DataOption) => listKeys(terminal, options))
  addExamples(list, ['keys list', 'keys list --data ./data/service'])

  const revoke = command
    .command('revoke')
    .description('revoke a key; it is refused from the next request on')
    .argument('<key>', 'its id, or its beginning as the list shows it')
    .addOption(dataOption())
    .action((key: string, options: DataOption) => revokeKey(terminal, key, options))
  addExamples(revoke, ['keys revoke key_0123456789ab'])
}

function dataOption(): Option {
  return new Option('--data <dir>', 'data directory of the service').default(SERVICE_DIR)
}

async function createKey(terminal: Terminal, { data, name, scope }: CreateOptions): Promise<void> {
  await using keyring = await openKeyring(serviceFile(data))
  const key = await keyring.create({ name, scope })
  if (terminal.json) terminal.printJson({ key, name, scope })
  else terminal.print(key)
}

async function listKeys(terminal: Terminal, { data }: DataOption): Promise<void> {
  await using keyring = await openExisting(data)
  const keys = await keyring.list()
  if (terminal.json) {
    terminal.printJson({
      data: keys.map(({ createdAt, revokedAt, ...key }) => ({
        ...key,
        created_at: createdAt,
        revoked_at: revokedAt,
      })),
    })
  } else if (keys.length === 0) {
    terminal.note('There are no keys yet.')
  } else {
    await terminal.printTable(COLUMNS, keys)
  }
}

async function revokeKey(terminal: Terminal, key: string, { data }: DataOption): Promise<void> {
  await using keyring = await openExisting(data)
  const revoked = await keyring.revoke(key.replace(/…$/, ''))
  if (revoked === 0) {
    throw new LeadsheetError('usage_invalid', `there is no key ${key} that could be revoked`, {
      hint: `${shellCommand('keys list')} shows the keys and those that were revoked before.`,
    })
  }
  if (terminal.json) terminal.printJson({ revoked })
  else terminal.note(revoked === 1 ? 'Revoked.' : `Revoked ${revoked} keys.`)
}

/** Looking at keys must not make a service where there is none. */
async function openExisting(data: string): Promise<Keyring> {
  const file = serviceFile(data)
  if (existsSync(file)) return openKeyring(file)
  throw new LeadsheetError('usage_invalid', `there is no service in ${data}: ${file} does not exist`, {
    hint: `Name its directory with --data, or make one with ${shellCommand('serve')}.`,
  })
}
