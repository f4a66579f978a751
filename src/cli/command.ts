/** What a command file exports, and what such files share. */

import type { Command } from 'commander'
import { CALLED } from '../errors.ts'
import type { Terminal } from './terminal.ts'

/** Gives a command its options, its subcommands, its examples and its action. */
export type DefineCommand = (command: Command, terminal: Terminal) => void

/** Lines to try, below the help of a command. */
export function addExamples(command: Command, examples: readonly string[]): void {
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${CALLED} ${line}`).join('\n')}`)
}
