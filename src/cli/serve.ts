/** `leadsheet serve`: the reference service, until Ctrl-C or SIGTERM. */

import { once } from 'node:events'
import { relative } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { CALLED, LeadsheetError } from '../errors.ts'
import { type Faults, readFaults } from '../service/faults/rules.ts'
import { openService, type Service } from '../service/open.ts'
import { wholeNumber } from './arguments.ts'
import { addExamples } from './command.ts'
import { COMPANIES } from './installation.ts'
import { findListenFault } from './listen-fault.ts'
import { SERVICE_DIR, serviceFile } from './service-data.ts'
import type { Terminal } from './terminal.ts'

const DAY_MS = 86_400_000
const SPEED_MAX = 100_000

interface ServeOptions {
  readonly port: number
  readonly host: string
  readonly data: string
  readonly seed: number
  readonly speed: number
  readonly faults?: string
  readonly webhooksToLoopback?: boolean
}

export function defineServe(command: Command, terminal: Terminal): void {
  command
    .option('--port <number>', 'where it listens; 0 takes a free port', wholeNumber(0, 65_535), 8484)
    .option('--host <address>', 'the address it listens on', '127.0.0.1')
    .option('--data <dir>', 'its data directory', SERVICE_DIR)
    .option('--seed <number>', 'what a new history follows from', wholeNumber(0, 2 ** 31), 1)
    .option('--speed <factor>', 'simulated seconds a second', speed, 1)
    .option('--faults <file>', 'faults to have, for rehearsing what a client does: a YAML or JSON file')
    .option('--webhooks-to-loopback', 'send webhooks to this machine too, over http, to try them out')
    .action((options: ServeOptions) => serve(terminal, options))
  addExamples(command, [
    'serve',
    'serve --speed 3600   # an hour a second',
    'serve --port 0 --data /tmp/service --json',
    'serve --faults faults.yaml',
    'serve --webhooks-to-loopback --speed 3600   # what happens is sent to http://127.0.0.1 as well',
  ])
}

async function serve(terminal: Terminal, options: ServeOptions): Promise<void> {
  const file = serviceFile(options.data)
  const faults = options.faults === undefined ? undefined : readFaults(options.faults)
  await using service = await startService(terminal, file, options, faults)
  const key = await service.createKey({ name: 'serve', scope: 'write' })
  if (terminal.json) {
    terminal.printJson({ url: service.url, key, scope: 'write', database: file })
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
      `  ${CALLED} leads list --min-score 90`,
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
  // Before a history is simulated, which takes a while.
  const taken = port === 0 ? null : await findListenFault({ host, port })
  if (taken !== null) {
    throw new LeadsheetError('service_port', `The service cannot listen on ${host}:${port}: ${taken}.`, {
      hint: 'Choose another --port, or 0 for any that is free.',
    })
  }
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
