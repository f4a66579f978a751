/** The commands and options that there are, for whatever names them: the README, hints, files for operators. */
import type { Command } from 'commander'
import { createProgram } from '../../../src/cli/program.ts'

export interface CalledCommand {
  readonly command: Command
  /** The words behind those that name the command. */
  readonly rest: readonly string[]
  /** Every option that it takes: `--report`, `-q`. */
  readonly options: readonly string[]
}

/** @returns undefined where the first word names no command */
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

/** Every command that does something, the inner ones included: `report preview`. */
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
