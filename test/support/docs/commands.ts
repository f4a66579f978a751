/**
 * Lists the existing commands and options, to check every text that names them: the README, hints and files
 * for operators.
 */
import type { Command } from 'commander'
import { createProgram } from '../../../src/cli/program.ts'

/**
 * Finds the command that words call. `rest` are the words after its name, `options` all its options, such as `--report`
 * and `-q`.
 * @returns undefined if the first word names no command
 */
export async function findCommand(words: readonly string[]) {
  const program = await loadProgram()
  const [first, ...others] = words
  const found = program.commands.find((each) => each.name() === first)
  if (found === undefined) return undefined
  const innerOf = (outer: Command, name: unknown) => outer.commands.find((each) => each.name() === name)
  let command: Command = found
  let rest = others
  for (let inner = innerOf(command, rest[0]); inner !== undefined; inner = innerOf(command, rest[0])) {
    command = inner
    rest = rest.slice(1)
  }
  const called = innerOf(command, Reflect.get(command, '_defaultCommandName')) ?? command
  const options = [...program.options, ...called.options].flatMap(({ long, short }) => [long, short])
  return { command: called, rest, options }
}

/** Returns the unknown commands and options among the arguments of `leadsheet`. */
export async function unknownArguments(words: readonly string[]): Promise<string[]> {
  const called = await findCommand(words)
  if (called === undefined) return words.slice(0, 1)
  return called.rest.filter((word) => word.startsWith('-') && !called.options.includes(word))
}

export function loadProgram(): Promise<Command> {
  return createProgram(new AbortController().signal).loadAll()
}

/** Lists every command that does something, inner commands included, such as `report preview`. */
export async function listCommands(): Promise<{ readonly name: string; readonly command: Command }[]> {
  const within = (command: Command, path: string): { name: string; command: Command }[] =>
    command.commands.flatMap((each) => {
      const name = `${path}${each.name()}`
      return each.commands.length === 0 ? [{ name, command: each }] : within(each, `${name} `)
    })
  return within(await loadProgram(), '')
}
