/** `leadsheet service`: runs the reference service (our implementation of the API). */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { COMPANIES } from '../../../app/installation.ts'
import { CALLED, faultText, LeadsheetError } from '../../../errors.ts'
import { type Faults, readFaults } from '../../../service/faults/rules.ts'
import { openService, type Service } from '../../../service/open.ts'
import { makeFolder } from '../../../store/db/file-system.ts'
import { DAY_MS } from '../../../time.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import { findListenFault } from '../../installation-checks.ts'
import { fields } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const SPEED_MAX = 100_000

interface ServeOptions {
  readonly port: number
  readonly host: string
  readonly data: string
  readonly keyFile?: string
  readonly seed: number
  readonly speed: number
  readonly faults?: string
  readonly webhooksToLoopback?: boolean
}

export function defineService(command: Command, terminal: Terminal): void {
  const run = command
    .command('run')
    .description('run the reference service')
    .option('--port <number>', 'port to listen on; 0 picks a free port', wholeNumber(0, 65_535), 8484)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <dir>', 'data directory of the service', './data/service')
    .option('--key-file <file>', 'also write the API key into this file, for this user alone')
    .option(
      '--seed <number>',
      'seed of a new history; the same seed gives the same history',
      wholeNumber(0, 2 ** 31),
      1,
    )
    .option('--speed <factor>', 'simulated seconds per second', speed, 1)
    .option('--faults <file>', 'YAML or JSON file of faults that the service simulates, to test a client')
    .option('--webhooks-to-loopback', 'allow webhooks to this machine over http, for trying them out')
    .action((options: ServeOptions) => serve(terminal, options))
  addExamples(run, [
    'service run',
    'service run --speed 3600   # one simulated hour per second',
    'service run --port 0 --data /tmp/service --json',
    'service run --faults faults.yaml',
    'service run --webhooks-to-loopback --speed 3600   # also sends events to http://127.0.0.1',
  ])
}

async function serve(terminal: Terminal, options: ServeOptions): Promise<void> {
  const file = resolve(options.data, 'service.db')
  const faults = options.faults === undefined ? undefined : readFaults(options.faults)
  await using service = await startService(terminal, file, options, faults)
  const key = await service.createKey({ name: 'service run', scope: 'write' })
  if (options.keyFile !== undefined) await writeKey(options.keyFile, key)
  const webhooks = options.webhooksToLoopback ? ', and to this machine' : ''
  const trying = [
    terminal.style('bold', 'Try it, in another terminal'),
    `  export LEADSHEET_API_URL=${service.url} LEADSHEET_API_KEY=${key}`,
    `  ${CALLED} leads list --remote --min-score 90`,
    `  ${CALLED} sync`,
    `  ${CALLED} init      # or settings that stay, in a terminal without these variables`,
  ]
  terminal.show({
    data: { url: service.url, key, scope: 'write', database: file },
    text: [
      fields({
        Service: service.url,
        Database: relative('', file),
        Webhooks: `sent to public addresses${webhooks}`,
        Faults: faults && `${faults.faults.length} of ${options.faults}`,
        'API key': `${key}  (read and write; shown this once; keys of earlier starts stay valid)`,
      }),
      trying.join('\n'),
      'Ctrl-C stops it; its data stays.',
    ],
  })
  if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
}

/** @throws LeadsheetError usage_invalid if the file cannot be written */
async function writeKey(file: string, key: string): Promise<void> {
  try {
    await writeFile(file, `${key}\n`, { mode: 0o600 })
  } catch (cause) {
    throw new LeadsheetError('usage_invalid', `--key-file ${file} cannot be written: ${faultText(cause)}`, {
      hint: 'Name a file in a folder that this user may write to.',
      cause,
    })
  }
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
