/**
 * Lists the existing commands and options, to check every text that names them: the README, hints and files
 * for operators.
 */
import type { Command } from 'commander'
import { createProgram } from '../../../src/cli/program.ts'

export interface CalledCommand {
  readonly command: Command
  /** The words after the name of the command. */
  readonly rest: readonly string[]
  /** All options of the command, such as `--report` and `-q`. */
  readonly options: readonly string[]
}

/** @returns undefined if the first word names no command */
export async function findCommand(words: readonly string[]): Promise<CalledCommand | undefined> {
  const program = await loadProgram()
  const [first, ...others] = words
  const found = program.commands.find((each) => each.name() === first)
  if (found === undefined) return undefined
  let command: Command = found
  let rest = others
  for (;;) {
    const inner: Command | undefined = command.commands.find((each) => each.name() === rest[0])
    if (inner === undefined) break
    command = inner
    rest = rest.slice(1)
  }
  const standard = command.commands.find((each) => each.name() === defaultName(command))
  const called = standard ?? command
  const options = [...program.options, ...called.options].flatMap(({ long, short }) => [
    ...(long ? [long] : []),
    ...(short ? [short] : []),
  ])
  return { command: called, rest, options }
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

function defaultName(command: Command): unknown {
  return Reflect.get(command, '_defaultCommandName')
}
