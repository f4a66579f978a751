/**
 * What a command is given to work with: settings, log, output and the signal to stop.
 * Results go to stdout, all else to stderr; nothing is loaded before it is asked for.
 */
import type { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import type { Config } from '../../config/config.ts'
import type { Log } from '../../log.ts'
import { redactor, withoutNamedSecrets } from '../../redaction.ts'
import type { Ending } from '../exit-status.ts'
import { plainText, styledText } from './plain-text.ts'
import { NO_PROGRESS, openBar, openLoggedProgress, type Progress } from './progress.ts'
import type { Column } from './table.ts'

/** The options that every command takes. */
export interface GlobalFlags {
  readonly config?: string
  readonly json?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
  readonly color: boolean
}

export interface Terminal {
  /** Whether the result is wanted as JSON. */
  readonly json: boolean
  /** Aborted by Ctrl-C or SIGTERM, with a LeadsheetError run_interrupted as its reason. */
  readonly signal: AbortSignal
  /**
   * The settings; their warnings are logged when they are first asked for, but for that of the dashboard.
   * @throws LeadsheetError config_invalid
   */
  config(): Promise<Config>
  /**
   * Reads the settings anew. Their secrets are taken out of the log from then on, and those of before still are;
   * `config` goes on to give the first ones.
   * @throws LeadsheetError config_invalid
   */
  readConfigAnew(): Promise<Config>
  /** What is logged from now on is what these settings want, as far as the flags do not say otherwise. */
  logAs(config: Config): Promise<void>
  log(): Promise<Log>
  /** Lines on stdout. */
  print(...lines: readonly string[]): void
  /**
   * Prints `{"data": …}`, the one shape of all results.
   * @param meta what holds for a list as a whole, such as its total; printed beside it
   */
  printJson(data: unknown, meta?: Readonly<Record<string, unknown>>): void
  printTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Promise<void>
  /** Names and values below each other; what is null or absent is left out. */
  printFields(fields: Readonly<Record<string, string | number | null | undefined>>): Promise<void>
  /** A line on stderr beside the result, such as where to go on; nothing with `--quiet`. */
  note(text: string): void
  /** Coloured where stdout shows colours. */
  style(format: 'bold' | 'dim' | 'red' | 'green' | 'yellow', text: string): string
  /** To be disposed: `using progress = await terminal.progress('Leads')`. */
  progress(label: string): Promise<Progress>
  /** How the command ends if it throws nothing; `done` unless told otherwise. */
  end(ending: Ending): void
  /** Names what is under way, for where the process cannot put it down in time. */
  nameHeld(held: () => readonly string[]): void
}

/** A terminal with what only the frame around the commands needs. */
export interface FrameTerminal extends Terminal {
  readonly ending: Ending
  /** Takes out the secrets of the settings, as far as they were loaded. */
  redact(text: string): string
  /** What is under way; empty where nobody has named it. */
  held(): readonly string[]
}

/** @param flags read late: they are known once the arguments are parsed */
export function openTerminal(flags: () => GlobalFlags, signal: AbortSignal): FrameTerminal {
  const { stdout, stderr } = process
  let ending: Ending = 'done'
  let loaded: Promise<{ config: Config; log: Log }> | null = null
  const secrets = new Set<string>()
  let withoutKnown = redactor([])
  let webhookSecrets = (): readonly string[] => []
  let held = (): readonly string[] => []
  let isBarShown = false

  const hasColor = (stream: WriteStream) => flags().color && stream.isTTY === true && stream.hasColors()
  const style: Terminal['style'] = (format, text) =>
    hasColor(stdout) ? styleText(format, text, { validateStream: false }) : text

  const levelFor = ({ logLevel }: Config) => (flags().quiet ? 'error' : flags().verbose ? 'debug' : logLevel)
  async function readConfig(): Promise<Config> {
    const [{ loadConfig }, { secretsOf }, { webhookSecretsOf }] = await Promise.all([
      import('../../config/load.ts'),
      import('../../config/config.ts'),
      import('../../app/webhook-secrets.ts'),
    ])
    const config = loadConfig({ file: flags().config })
    for (const secret of secretsOf(config)) secrets.add(secret)
    withoutKnown = redactor([...secrets])
    webhookSecrets = webhookSecretsOf(config)
    return config
  }
  /** Webhooks are registered while a daemon runs, by commands beside it. */
  function redact(text: string): string {
    const found = webhookSecrets().filter((secret) => !secrets.has(secret))
    if (found.length > 0) {
      for (const secret of found) secrets.add(secret)
      withoutKnown = redactor([...secrets])
    }
    return withoutKnown(text)
  }
  async function load() {
    const config = await readConfig()
    const { openLog } = await import('../../log.ts')
    const { isAboutDashboard } = await import('../../config/schema-web.ts')
    const log = await openLog({
      level: levelFor(config),
      pretty: stderr.isTTY === true,
      color: hasColor(stderr),
      // As it is written: there may be more of them by then.
      secrets: redact,
      // A line in the middle of a bar first clears the bar, which draws itself again.
      write: (line) => void stderr.write(isBarShown ? `\r\x1b[K${line}` : line),
    })
    for (const warning of config.warnings) if (!isAboutDashboard(warning)) log.warn(warning)
    return { config, log }
  }
  const loadOnce = () => {
    loaded ??= load()
    return loaded
  }

  return {
    get json() {
      return flags().json === true
    },
    get ending() {
      return ending
    },
    signal,
    config: async () => (await loadOnce()).config,
    readConfigAnew: readConfig,
    async logAs(config) {
      const { log } = await loadOnce()
      log.level = levelFor(config)
      for (const warning of config.warnings) log.warn(warning)
    },
    log: async () => (await loadOnce()).log,
    print: (...lines) => void stdout.write(`${styledText(lines.join('\n'))}\n`),
    printJson: (data, meta) => void stdout.write(`${JSON.stringify({ data, meta }, null, 2)}\n`),
    async printTable(columns, rows) {
      const { formatTable } = await import('./table.ts')
      // A terminal of unknown size says 0.
      const width = stdout.columns || Number.POSITIVE_INFINITY
      stdout.write(`${formatTable(columns, rows, { width, heading: (title) => style('bold', title) })}\n`)
    },
    async printFields(fields) {
      const { formatFields } = await import('./table.ts')
      stdout.write(`${formatFields(fields, (name) => style('dim', name))}\n`)
    },
    note(text) {
      if (!flags().quiet) stderr.write(`${plainText(text)}\n`)
    },
    style,
    async progress(label) {
      if (flags().quiet) return NO_PROGRESS
      const clock = () => performance.now()
      if (!stderr.isTTY) return openLoggedProgress(label, (await loadOnce()).log, clock)
      const bar = openBar(label, stderr, clock)
      isBarShown = true
      return {
        update: bar.update,
        [Symbol.dispose]: () => {
          isBarShown = false
          bar[Symbol.dispose]()
        },
      }
    },
    end: (how) => {
      ending = how
    },
    nameHeld: (names) => {
      held = names
    },
    redact: (text) => redact(withoutNamedSecrets(text)),
    held: () => held(),
  }
}
