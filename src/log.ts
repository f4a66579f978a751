/**
 * The log: JSON lines, or readable lines on a terminal, always on stderr so that stdout stays for results.
 * Secrets are taken out by value before a line is written, whatever field or message they stand in.
 */
import { type LevelWithSilent, type Logger, pino } from 'pino'

export type Log = Logger

export interface LogOptions {
  readonly level: LevelWithSilent
  /** Readable lines in place of JSON. */
  readonly pretty: boolean
  readonly color: boolean
  /** Values that must never appear; also matched base64- and URL-encoded. */
  readonly secrets: readonly string[]
  /** Where lines go; stderr unless told otherwise. */
  readonly write?: (line: string) => void
}

export async function openLog(options: LogOptions): Promise<Log> {
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const redact = redactor(options.secrets)
  const format = options.pretty ? await prettyLine(options.color) : (line: string) => line
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(redact(format(line))) },
  )
}

/** A function that replaces every secret in a text with `[redacted]`. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= 4)
    .flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
    .map((form) => JSON.stringify(form).slice(1, -1))
  const longestFirst = [...new Set([...forms, ...secrets.filter((secret) => secret.length >= 4)])].sort(
    (a, b) => b.length - a.length,
  )
  return (text) => longestFirst.reduce((kept, form) => kept.replaceAll(form, '[redacted]'), text)
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
