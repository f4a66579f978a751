/**
 * Gives a command its settings, log, output, progress bar and stop signal. Results go to stdout, everything
 * else to stderr. Modules are loaded when they are needed.
 */

import { clearLine, cursorTo } from 'node:readline'
import type { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import type { Config } from '../../config/config.ts'
import type { NeededSetting } from '../../config/load.ts'
import { LeadsheetError, withPlaces } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { printableJson } from '../../printable.ts'
import { redactor, withoutLearnedSecrets, withoutNamedSecrets } from '../../redaction.ts'
import { englishCount } from '../../report/words/numbers.ts'
import type { Ending } from '../exit-status.ts'
import { type Page, type Paragraph, plainText, styledText } from './table.ts'

/** The options that every command takes. */
export interface GlobalFlags {
  readonly config?: string
  readonly json?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
  readonly color: boolean
}

/** The result of a command. It is printed as JSON, or as text for people. */
export interface Result {
  /** The value that `--json` prints as `{"data": …}`. */
  readonly data: unknown
  /** Facts about a whole list, such as its total, which `--json` prints beside `data`. */
  readonly meta?: object
  /** The same for people, with an empty line between the paragraphs. */
  readonly text?: readonly Paragraph[]
  /** Lines on stderr for people, such as a hint on what to do next. `--quiet` leaves them out. */
  readonly notes?: readonly string[]
}

/** A terminal with further members, which only the code that starts the commands uses. */
export type FrameTerminal = ReturnType<typeof openTerminal>
export type Terminal = Omit<FrameTerminal, 'ending' | 'hintOf' | 'redact'>

/**
 * @param flags returns the options of the command line. `openTerminal` itself does not call it, because the
 * arguments are not parsed yet at that time.
 */
export function openTerminal(flags: () => GlobalFlags, signal: AbortSignal) {
  const { stdout, stderr } = process
  let ending: Ending = 'done'
  let loaded: Promise<{ config: Config; log: Log }> | null = null
  let sources: Config['sources'] = {}
  const secrets = new Set<string>()
  let withoutKnown = redactor([])
  let webhookSecrets = (): readonly string[] => []
  let isBarShown = false

  const hasColor = (stream: WriteStream) => flags().color && stream.isTTY === true && stream.hasColors()
  const style: Page['style'] = (format, text) =>
    hasColor(stdout) ? styleText(format, text, { validateStream: false }) : text

  const note = (text: string): void => {
    if (!flags().quiet) stderr.write(`${plainText(text)}\n`)
  }

  const levelFor = ({ logLevel }: Config) => (flags().quiet ? 'error' : flags().verbose ? 'debug' : logLevel)
  let needed: readonly NeededSetting[] | undefined
  async function readConfig(): Promise<Config> {
    const [{ loadConfig }, { secretsOf }, { webhookSecretsOf }] = await Promise.all([
      import('../../config/load.ts'),
      import('../../config/config.ts'),
      import('../../app/configured-upstream.ts'),
    ])
    const config = loadConfig({ file: flags().config, needed })
    sources = config.sources
    for (const secret of secretsOf(config)) secrets.add(secret)
    withoutKnown = redactor([...secrets])
    webhookSecrets = webhookSecretsOf(config)
    return config
  }
  /**
   * Hides the secrets in a text. Webhook secrets are read each time, because other commands can register
   * webhooks while a daemon runs.
   */
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
      // A function is passed, because more secrets may be known when a line is written.
      secrets: redact,
      // A log line first clears the progress bar, which is then drawn again.
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
    /** True if the result is printed as JSON. */
    get json(): boolean {
      return flags().json === true
    },
    get ending(): Ending {
      return ending
    },
    /** Aborted by Ctrl-C or SIGTERM. The reason is a LeadsheetError run_interrupted. */
    signal,
    /**
     * Returns the settings. The first call logs warnings about the settings, except those about the dashboard.
     * @throws LeadsheetError config_invalid
     */
    config: async (): Promise<Config> => (await loadOnce()).config,
    /**
     * Returns the settings for a command that only reads. Wrong settings are left out with a warning, unless
     * they say where the data are or are among the needed settings.
     * @throws LeadsheetError config_invalid
     */
    async dataConfig(...settings: readonly NeededSetting[]): Promise<Config> {
      needed = settings
      return (await loadOnce()).config
    },
    log: async (): Promise<Log> => (await loadOnce()).log,
    /** Prints the result of a command, on stdout. */
    show({ data, meta, text = [], notes = [] }: Result): void {
      if (flags().json) {
        stdout.write(`${printableJson(JSON.stringify({ data, meta }, null, 2))}\n`)
        return
      }
      // The number of columns is 0 if the size of the terminal is unknown.
      const page: Page = { width: stdout.columns || Number.POSITIVE_INFINITY, style }
      const shown = text
        .map((part) => (typeof part === 'string' ? styledText(part) : part(page)))
        .filter((part) => part !== '')
      if (shown.length > 0) stdout.write(`${shown.join('\n\n')}\n`)
      notes.forEach(note)
    },
    /** Prints lines on stdout before the result is known. */
    print: (...lines: readonly string[]) => void stdout.write(`${styledText(lines.join('\n'))}\n`),
    /** Prints a line on stderr, such as a hint on what to do next. Prints nothing with `--quiet`. */
    note,
    /** Adds a style if stdout shows colours. */
    style,
    /** Shows progress until disposed: `using progress = await terminal.progress('Leads')`. */
    async progress(label: string): Promise<Progress> {
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
    /** Sets how the command ends if it does not throw. The default is `done`. */
    end: (how: Ending): void => {
      ending = how
    },
    /** The hint of an error, with the places of the loaded settings. */
    hintOf: ({ hint }: LeadsheetError): string | undefined => hint && withPlaces(hint, sources),
    /** Hides the secrets of the loaded settings in a text. */
    redact: (text: string): string => redact(withoutLearnedSecrets(withoutNamedSecrets(text))),
  }
}

/**
 * Makes sure that a change of data is wanted.
 * @throws LeadsheetError usage_invalid without `--yes`
 */
export function requireYes(terminal: Terminal, question: string, isYes: boolean): void {
  if (!isYes) throw new LeadsheetError('usage_invalid', question, { hint: 'Add --yes to confirm.' })
  terminal.note(question)
}

export interface Progress extends Disposable {
  /**
   * @param total null if unknown
   * @param detail a few more words, such as `12 pages`
   */
  update(done: number, total: number | null, detail?: string): void
}

/** A clock that returns the milliseconds since some fixed moment. */
export type Clock = () => number

const LOG_EVERY_MS = 5_000
const DRAW_EVERY_MS = 100
const BAR_CELLS = 24

/** Draws the bar on `stream`, always in the same line, and clears the line on dispose. */
export function openBar(label: string, stream: NodeJS.WritableStream, clock: Clock): Progress {
  let drawnAt = Number.NEGATIVE_INFINITY
  const draw = (line: string) => {
    cursorTo(stream, 0)
    stream.write(line)
    clearLine(stream, 1)
  }
  draw(label)
  return {
    update(done, total, detail) {
      const line = progressLine(label, done, total, detail)
      if (clock() - drawnAt < DRAW_EVERY_MS) return
      drawnAt = clock()
      // The line is cut to the width of the terminal, because a wrapped line could not be overwritten.
      draw('columns' in stream ? line.slice(0, Number(stream.columns) - 1) : line)
    },
    [Symbol.dispose]: () => draw(''),
  }
}

export function openLoggedProgress(label: string, log: Log, clock: Clock): Progress {
  let loggedAt = clock()
  return {
    update(done, total, detail) {
      if (clock() - loggedAt < LOG_EVERY_MS) return
      loggedAt = clock()
      log.info({ done, total }, detail === undefined ? label : `${label}: ${detail}`)
    },
    [Symbol.dispose]: () => {},
  }
}

export const NO_PROGRESS: Progress = { update: () => {}, [Symbol.dispose]: () => {} }

/**
 * Formats `Leads ████████░░░░ 45% 4,500 of 10,000 12 pages`. Unknown parts are left out.
 */
export function progressLine(label: string, done: number, total: number | null, detail?: string): string {
  const share = total === null || total === 0 ? null : Math.min(done / total, 1)
  const filled = Math.round((share ?? 0) * BAR_CELLS)
  return [
    label,
    share !== null && '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled),
    share !== null && `${Math.floor(share * 100)}%`.padStart(4),
    total === null ? englishCount(done) : `${englishCount(done)} of ${englishCount(total)}`,
    detail,
  ]
    .filter((part) => part)
    .join('  ')
}
