/**
 * Parts that all command files share: the type of their define function, examples in the help, and parsers of
 * option values.
 */
import { type Command, InvalidArgumentError } from 'commander'
import { CALLED } from '../errors.ts'
import type { Result, Terminal } from './terminal/terminal.ts'

/** Defines the options, subcommands, examples and action of a command. */
export type DefineCommand = (command: Command, terminal: Terminal) => void

/** Adds example command lines below the help of a command. */
export function addExamples(command: Command, examples: readonly string[]): void {
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${CALLED} ${line}`).join('\n')}`)
}

/** Returns the action of a command that shows what `find` returns. */
export function showing<Args extends readonly unknown[]>(
  terminal: Terminal,
  find: (terminal: Terminal, ...args: Args) => Promise<Result>,
): (...args: Args) => Promise<void> {
  return async (...args) => terminal.show(await find(terminal, ...args))
}

/** Returns a parser for commander that accepts a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
  }
}

/** Parses `2026-11-20` (midnight UTC) or a time with a zone. Returns the time in UTC, with milliseconds. */
export function instant(value: string): string {
  const isInstant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/i.test(value)
  const ms = isInstant && isDate(value.slice(0, 10)) ? Date.parse(value) : Number.NaN
  if (Number.isFinite(ms)) return new Date(ms).toISOString()
  throw new InvalidArgumentError(
    'Expected a date such as 2026-11-20, or a time such as 2026-11-20T08:15:00Z.',
  )
}

/** Parses a day such as `2026-11-20` and returns it unchanged. */
export function day(value: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(value) && isDate(value)) return value
  throw new InvalidArgumentError('Expected a date such as 2026-11-20.')
}

/** Collects the values of an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Returns true if the date exists. Without this check, `Date.parse` would read 30 February as 2 March. */
function isDate(text: string): boolean {
  const ms = Date.parse(text)
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text)
}
