/** What a command file exports, and what such files share. */
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { CALLED } from '../errors.ts'
import type { Terminal } from './terminal/terminal.ts'

/**
 * Gives a command its options, its subcommands, its examples and its action.
 * @param loadAll gives the program with all its commands, for what is made of them
 */
export type DefineCommand = (command: Command, terminal: Terminal, loadAll: () => Promise<Command>) => void

/** Lines to try, below the help of a command. */
export function addExamples(command: Command, examples: readonly string[]): void {
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${CALLED} ${line}`).join('\n')}`)
}

/* Parsers of option values, for commander: the value, or what was expected. */

export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
  }
}

/** `2026-11-20` (midnight UTC) or a time with its zone; given back in UTC with milliseconds. */
export function instant(value: string): string {
  const isInstant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/i.test(value)
  const ms = isInstant && isDate(value.slice(0, 10)) ? Date.parse(value) : Number.NaN
  if (Number.isFinite(ms)) return new Date(ms).toISOString()
  throw new InvalidArgumentError(
    'Expected a date such as 2026-11-20, or a time such as 2026-11-20T08:15:00Z.',
  )
}

/** A day as it is, `2026-11-20`, since the settings tell its zone; or a time with its own, given back in UTC. */
export function dayOrInstant(value: string): string {
  const at = instant(value)
  return /^\d{4}-\d\d-\d\d$/.test(value) ? value : at
}

/** A day as it is, `2026-11-20`. */
export function day(value: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(value) && isDate(value)) return value
  throw new InvalidArgumentError('Expected a date such as 2026-11-20.')
}

/** Gathers an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** False for 30 February, which `Date.parse` takes for 2 March. */
function isDate(text: string): boolean {
  const ms = Date.parse(text)
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text)
}
