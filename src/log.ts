/**
 * The log: JSON lines, or readable lines on a terminal, always on stderr so that stdout stays for results.
 * Secrets are taken out by value and by name before a line is written, whatever field or message they stand in.
 */
import { type LevelWithSilent, type Logger, pino } from 'pino'
import { redactor, withoutNamedSecrets } from './redaction.ts'

export type Log = Logger

export interface LogOptions {
  readonly level: LevelWithSilent
  /** Readable lines in place of JSON. */
  readonly pretty: boolean
  readonly color: boolean
  /** Values that must never appear, however they are encoded; or what takes them out, where they change. */
  readonly secrets: readonly string[] | ((text: string) => string)
  /** Where lines go; stderr unless told otherwise. */
  readonly write?: (line: string) => void
}

export async function openLog(options: LogOptions): Promise<Log> {
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const { secrets } = options
  const redact = typeof secrets === 'function' ? secrets : redactor(secrets)
  const format = options.pretty ? await prettyLine(options.color) : (line: string) => line
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    // Before it is made readable, which undoes a part of the escapes of JSON.
    { write: (line: string) => write(format(redact(withoutNamedSecrets(line)))) },
  )
}

/** Loaded only for terminals: it is the slowest import of the program. */
async function prettyLine(color: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty')
  return prettyFactory({
    colorize: color,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    singleLine: true,
  })
}
