/** Checks that the arguments and variables in a file for operators exist. */
import { CONFIG_VARIABLE, VARIABLES } from '../../../src/config/environment.ts'
import { findCommand } from '../../support/docs/commands.ts'

/** Returns the unknown commands and options among the arguments of `leadsheet`. */
export async function unknownArguments(words: readonly string[]): Promise<string[]> {
  const called = await findCommand(words)
  if (called === undefined) return words.slice(0, 1)
  return called.rest.filter((word) => word.startsWith('-') && !called.options.includes(word))
}

export function unknownVariables(names: readonly string[]): string[] {
  const known = [...Object.keys(VARIABLES), CONFIG_VARIABLE]
  return names.filter((name) => name.startsWith('LEADSHEET_') && !known.includes(name))
}
