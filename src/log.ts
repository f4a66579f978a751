/** The log: JSON lines, or readable lines on a terminal. Secrets are removed from each line. */
import type { Logger } from 'pino'
import { pino } from 'pino'
import { printable, printableJson } from './printable.ts'
import { redactor, withoutLearnedSecrets, withoutNamedSecrets } from './redaction.ts'

export type Log = Logger

interface LogOptions {
  readonly level: Logger['level']
  /** Tells whether to write lines for people instead of JSON. */
  readonly pretty: boolean
  readonly color: boolean
  /** The secrets to remove from each line, or a function that removes them, if secrets may be added later. */
  readonly secrets: readonly string[] | ((text: string) => string)
  /** Writes one line of the log; if absent, lines go to stderr. */
  readonly write?: (line: string) => void
}

export async function openLog(options: LogOptions): Promise<Log> {
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const { secrets } = options
  const redact = typeof secrets === 'function' ? secrets : redactor(secrets)
  const format = options.pretty ? await prettyLine(options.color) : printableJson
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    // Removes secrets before the line is formatted, because formatting undoes some JSON escapes and the
    // secrets would then no longer be found.
    { write: (line: string) => write(format(redact(withoutLearnedSecrets(withoutNamedSecrets(line))))) },
  )
}

/** Loads the formatter only when it is needed, because no other import of the program is as slow. */
async function prettyLine(color: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({
    colorize: color,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    singleLine: true,
  })
  // The escapes of JSON become characters here, so they are cleaned first. The colours are added after that.
  return (line: string) => format(printable(line.replace(/\\(?:u00[019][\da-f]|u007f|.)/gi, spaceForControl)))
}

function spaceForControl(escaped: string): string {
  return /^\\(?:u|[bfr])/.test(escaped) ? ' ' : escaped
}
