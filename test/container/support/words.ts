/** Whether the arguments and variables that a file for operators names are those of the program. */
import { Command } from 'commander'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { CONFIG_VARIABLE, VARIABLES } from '../../../src/config/environment.ts'

/** Of the arguments of `leadsheet`, those that mean nothing: a command, or an option of it, that there is not. */
export async function unknownArguments([name = '', ...rest]: readonly string[]): Promise<string[]> {
  const entry = COMMANDS.find((command) => command.name === name)
  if (entry === undefined) return [name]
  const command = new Command(name)
  const define = await entry.load()
  const { program, terminal } = createProgram(new AbortController().signal)
  define(command, terminal)
  const called = command.commands.find((child) => child.name() === rest[0]) ?? command
  const known = [...program.options, ...called.options].map((option) => option.long)
  return rest.filter((word) => word.startsWith('--') && !known.includes(word))
}

export function unknownVariables(names: readonly string[]): string[] {
  const known = [...Object.keys(VARIABLES), CONFIG_VARIABLE]
  return names.filter((name) => name.startsWith('LEADSHEET_') && !known.includes(name))
}
