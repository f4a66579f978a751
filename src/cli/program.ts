/** The command line: global options, the commands of `commands.ts`, and errors for mistyped arguments. */

import { Command, CommanderError } from 'commander'
import { nearest } from '../config/setting-path.ts'
import { CALLED, LeadsheetError } from '../errors.ts'
import { readVersion } from '../packages.ts'
import { COMMANDS } from './commands.ts'
import { EXIT_STATUS } from './exit-status.ts'
import { type FrameTerminal, type GlobalFlags, openTerminal } from './terminal/terminal.ts'

/** @param signal is aborted when the process should stop */
export function createProgram(signal: AbortSignal): {
  program: Command
  terminal: FrameTerminal
  loadAll: () => Promise<Command>
} {
  const program = new Command(CALLED)
  const terminal = openTerminal(() => program.opts<GlobalFlags>(), signal)
  program
    .description(
      'Keeps a local, queryable copy of a lead pipeline service and mails people a report that they read.',
    )
    .version(readVersion(), '-V, --version', 'print the version')
    .option('--config <file>', 'settings file (default: LEADSHEET_CONFIG, or leadsheet.yaml if it exists)')
    .option('--json', 'print the result as {"data": …}, and errors as {"error": {…}}')
    .option('-q, --quiet', 'show results and errors alone: no progress, no notes, and no other log')
    .option('-v, --verbose', 'also log details that help to find a problem')
    .option('--no-color', 'print no colours; setting NO_COLOR does the same')
    .helpOption('-h, --help', 'show help for leadsheet, or for one command')
    .helpCommand(false)
    .configureHelp({
      showGlobalOptions: true,
      // The help of a subcommand such as `webhooks list` shows the options of the program, not of `webhooks`.
      visibleGlobalOptions: ({ parent }) => (parent ? [...program.options] : []),
    })
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .addHelpText('after', `\n${exitStatusHelp()}`)
  for (const { name, summary, group } of COMMANDS)
    program.command(name).helpGroup(group).description(summary).helpCommand(false)
  const loaded = new Set<Command>()
  async function load(command: Command): Promise<void> {
    if (loaded.has(command)) return
    loaded.add(command)
    const entry = COMMANDS.find(({ name }) => name === command.name())
    const define = await entry?.load()
    define?.(command, terminal)
  }
  async function loadAll(): Promise<Command> {
    for (const command of program.commands) await load(command)
    return program
  }
  program.hook('preSubcommand', (_, command) => load(command))
  return { program, terminal, loadAll }
}

/**
 * Parses the arguments and runs their command.
 * @throws LeadsheetError usage_invalid, and whatever the command throws
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<void> {
  const [first, ...rest] = args
  const isKnown = rest.length === 0 || program.commands.some((command) => command.name() === rest[0])
  const asked = first !== 'help' ? args : isKnown ? [...rest, '--help'] : rest
  try {
    await program.parseAsync(asked, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw usageError(error, program, args)
  }
}

/**
 * Matches an option that would hold a secret. No command has such an option, because every user of a machine
 * can read the arguments of a process.
 */
const SECRET_OPTION = /^--[a-z-]*(?:key|token|password|secret)(?==|$)/i

/** Matches what commander says of a value that is none of the choices of an argument or option. */
const WRONG_CHOICE =
  /^(?:command-argument value '(.*)' is invalid for argument '(.*)'|option '(?:-\w, )?(\S+).*' argument '(.*)' is invalid)\. Allowed choices are (.*)\.$/

function usageError(error: CommanderError, program: Command, args: readonly string[]): LeadsheetError {
  const [secretOption] = args.flatMap((arg) => SECRET_OPTION.exec(arg) ?? [])
  if (error.code === 'commander.unknownOption' && secretOption !== undefined) {
    const text = `${secretOption}: no secret is taken from the command line, which every user of this machine can read`
    return new LeadsheetError('usage_invalid', text, {
      hint: 'Name a file that holds it, such as by LEADSHEET_API_KEY_FILE, and take another one: this one has been shown.',
    })
  }
  const [, message = error.message, suggestion] =
    /^(?:error: )?(.*?)(?:\n\((.*)\))?$/s.exec(error.message) ?? []
  const { command, called, word } = findCalled(program, args)
  const others = `\`${called} --help\` shows what there is.`
  if (error.code === 'commander.excessArguments' && word !== null) {
    const meant = nearest(
      word,
      command.commands.map((each) => each.name()),
    )
    return new LeadsheetError('usage_invalid', `unknown command '${word}'`, {
      hint: meant === null ? others : `Did you mean ${meant}?`,
    })
  }
  const found = message.replace(WRONG_CHOICE, '$2$3: found $1$4, expected one of $5')
  const text = error.code === 'commander.help' ? 'a command is missing' : found
  const hint = isNear(message, suggestion) ? suggestion : others
  return new LeadsheetError('usage_invalid', text, { hint, cause: error })
}

/**
 * Returns true if commander's suggestion resembles the mistyped word. Without this check, the suggestion for
 * `--period` would be `--version`.
 */
function isNear(message: string, suggestion: string | undefined): suggestion is string {
  const [, found = ''] = /'([^']+)'/.exec(message) ?? []
  const [, meant] = /^Did you mean (\S+)\?$/.exec(suggestion ?? '') ?? []
  return meant !== undefined && nearest(found, [meant]) !== null
}

/** Finds the command that the arguments name, and the word after it if it may be a mistyped subcommand. */
function findCalled(program: Command, args: readonly string[]) {
  let command = program
  const words = [program.name()]
  for (const word of args.filter((arg) => !arg.startsWith('-'))) {
    const inner = command.commands.find((each) => each.name() === word)
    if (inner === undefined && command !== program)
      return { command, called: words.join(' '), word: command.commands.length > 0 ? word : null }
    command = inner ?? command
    if (inner !== undefined) words.push(word)
  }
  return { command, called: words.join(' '), word: null }
}

function exitStatusHelp(): string {
  const lines = Object.values(EXIT_STATUS).map(
    ({ status, meaning }) => `  ${String(status).padStart(3)}  ${meaning}`,
  )
  return ['Exit status:', ...lines].join('\n')
}
