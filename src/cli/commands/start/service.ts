/** `leadsheet service`: runs the reference service (our implementation of the API) and manages its keys. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { InvalidArgumentError, Option } from 'commander'
import { COMPANIES } from '../../../app/installation.ts'
import { CALLED, LeadsheetError, shellCommand } from '../../../errors.ts'
import type { Faults } from '../../../service/faults/rules.ts'
import { readFaults } from '../../../service/faults/rules.ts'
import type { ApiKey, Keyring, Service } from '../../../service/open.ts'
import { openKeyring, openService } from '../../../service/open.ts'
import { readScenario, SCENARIO_NAMES } from '../../../service/simulation/scenario.ts'
import { makeFolder } from '../../../store/db/file-system.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import { findListenFault } from '../../installation-checks.ts'
import type { Column } from '../../terminal/table.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const DAY_MS = 86_400_000
const SPEED_MAX = 100_000

interface ServeOptions {
  readonly port: number
  readonly host: string
  readonly data: string
  readonly seed: number
  readonly speed: number
  readonly faults?: string
  readonly scenario?: string
  readonly webhooksToLoopback?: boolean
}

export function defineService(command: Command, terminal: Terminal): void {
  defineRun(command, terminal)
  defineKeys(
    command.command('keys').description('create, list and revoke API keys of the reference service'),
    terminal,
  )
}

function defineRun(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('run')
    .description('run the reference service')
    .option('--port <number>', 'port to listen on; 0 picks a free port', wholeNumber(0, 65_535), 8484)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <dir>', 'data directory of the service', SERVICE_DIR)
    .option(
      '--seed <number>',
      'seed of a new history; the same seed gives the same history',
      wholeNumber(0, 2 ** 31),
      1,
    )
    .option(
      '--scenario <name>',
      `history with planted changes only: ${SCENARIO_NAMES.join(', ')}, or a YAML or JSON file`,
    )
    .option('--speed <factor>', 'simulated seconds per second', speed, 1)
    .option('--faults <file>', 'YAML or JSON file of faults that the service simulates, to test a client')
    .option('--webhooks-to-loopback', 'allow webhooks to this machine over http, for trying them out')
    .action((options: ServeOptions) => serve(terminal, options))
  addExamples(command, [
    'service run',
    'service run --speed 3600   # one simulated hour per second',
    'service run --port 0 --data /tmp/service --json',
    'service run --faults faults.yaml',
    'service run --webhooks-to-loopback --speed 3600   # also sends events to http://127.0.0.1',
  ])
}

async function serve(terminal: Terminal, options: ServeOptions): Promise<void> {
  const file = serviceFile(options.data)
  const faults = options.faults === undefined ? undefined : readFaults(options.faults)
  await using service = await startService(terminal, file, options, faults)
  const key = await service.createKey({ name: 'service run', scope: 'write' })
  if (terminal.json) {
    terminal.printJson('service run', { url: service.url, key, scope: 'write', database: file })
  } else {
    await terminal.printFields({
      Service: service.url,
      Database: relative('', file),
      Webhooks: options.webhooksToLoopback
        ? 'sent to public addresses, and to this machine'
        : 'sent to public addresses',
      ...(faults && { Faults: `${faults.faults.length} of ${options.faults}` }),
      'API key': `${key}  (read and write; shown this once)`,
    })
    terminal.print(
      ...['', terminal.style('bold', 'Try it, in another terminal')],
      `  export LEADSHEET_API_URL=${service.url} LEADSHEET_API_KEY=${key}`,
      `  ${CALLED} leads list --remote --min-score 90`,
      `  ${CALLED} sync`,
      `  ${CALLED} init      # or settings that stay, in a terminal without these variables`,
      ...['', 'Ctrl-C stops it; its data stays.'],
    )
  }
  if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
}

async function startService(
  terminal: Terminal,
  file: string,
  options: ServeOptions,
  faults: Faults | undefined,
): Promise<Service> {
  const logger = await terminal.log()
  const { host, port } = options
  // The port is checked first, because simulating a history takes a while.
  const taken = port === 0 ? null : await findListenFault({ host, port })
  if (taken !== null) {
    throw new LeadsheetError('service_port', `The service cannot listen on ${host}:${port}: ${taken}.`, {
      hint: 'Choose another --port, or 0 for any that is free.',
    })
  }
  await makeFolder(dirname(file), 'Name a folder that this user may write to with --data.')
  using progress = await terminal.progress('Simulating days')
  return await openService({
    file,
    companiesFile: COMPANIES,
    host,
    port,
    seed: options.seed,
    scenario: options.scenario === undefined ? undefined : readScenario(options.scenario),
    speed: options.speed,
    faults,
    webhooksToLoopback: options.webhooksToLoopback ?? false,
    logger,
    onProgress: (done, total) => progress.update(Math.floor(done / DAY_MS), Math.ceil(total / DAY_MS)),
    signal: terminal.signal,
  })
}

function speed(value: string): number {
  const factor = /^\d+(\.\d+)?$/.test(value) ? Number(value) : 0
  if (factor > 0 && factor <= SPEED_MAX) return factor
  throw new InvalidArgumentError(`Expected a number above 0 and up to ${SPEED_MAX}.`)
}

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

function defineKeys(command: Command, terminal: Terminal): void {
  const create = command
    .command('create')
    .description('create an API key; it is shown only once')
    .addOption(dataOption())
    .option('--name <name>', 'name of the user or program that will use the key', 'unnamed')
    .addOption(
      new Option('--scope <scope>', 'what the key allows').choices(['read', 'write']).default('read'),
    )
    .action((options: CreateOptions) => createKey(terminal, options))
  addExamples(create, [
    'service keys create --name sync',
    'service keys create --name admin --scope write --json',
  ])

  const list = command
    .command('list')
    .description('list the API keys, including revoked ones')
    .addOption(dataOption())
    .action((options: DataOption) => listKeys(terminal, options))
  addExamples(list, ['service keys list', 'service keys list --data ./data/service'])

  const revoke = command
    .command('revoke')
    .description('revoke an API key; the service refuses it from the next request on')
    .argument('<key>', 'id of the key, or the start of the key as shown by `service keys list`')
    .addOption(dataOption())
    .action((key: string, options: DataOption) => revokeKey(terminal, key, options))
  addExamples(revoke, ['service keys revoke key_0123456789ab'])
}

function dataOption(): Option {
  return new Option('--data <dir>', 'data directory of the service').default(SERVICE_DIR)
}

async function createKey(terminal: Terminal, { data, name, scope }: CreateOptions): Promise<void> {
  await using keyring = await openKeyring(serviceFile(data))
  const key = await keyring.create({ name, scope })
  if (terminal.json) terminal.printJson('service keys create', { key, name, scope })
  else terminal.print(key)
}

async function listKeys(terminal: Terminal, { data }: DataOption): Promise<void> {
  await using keyring = await openExisting(data)
  const keys = await keyring.list()
  if (terminal.json) {
    terminal.printJson(
      'service keys list',
      keys.map(({ createdAt, revokedAt, ...key }) => ({
        ...key,
        created_at: createdAt.toISOString(),
        revoked_at: revokedAt?.toISOString() ?? null,
      })),
    )
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
      hint: `${shellCommand('service keys list')} shows the keys and those that were revoked before.`,
    })
  }
  if (terminal.json) terminal.printJson('service keys revoke', { revoked })
  else terminal.note(revoked === 1 ? 'Revoked.' : `Revoked ${revoked} keys.`)
}

/** Opens the keys of an existing service, so that a wrong directory does not create a new service. */
async function openExisting(data: string): Promise<Keyring> {
  const file = serviceFile(data)
  if (existsSync(file)) return openKeyring(file)
  throw new LeadsheetError('usage_invalid', `there is no service in ${data}: ${file} does not exist`, {
    hint: `Name its directory with --data, or make one with ${shellCommand('service run')}.`,
  })
}

/** The default of `--data`, relative to the working directory. */
const SERVICE_DIR = './data/service'

function serviceFile(dataDir: string): string {
  return resolve(dataDir, 'service.db')
}
