/** Generates the page of all commands and the man page, from the commands as defined with commander. */
import type { Command, Option } from 'commander'
import { COMMANDS } from '../../src/cli/commands.ts'
import { EXIT_STATUS } from '../../src/cli/exit-status.ts'
import { createProgram } from '../../src/cli/program.ts'
import { CONFIG_VARIABLE, VARIABLES } from '../../src/config/environment.ts'
import { pathText } from '../../src/config/setting-path.ts'
import { CALLED } from '../../src/errors.ts'
import { readVersion } from '../../src/packages.ts'
import { code, fenced, page, sentence, table } from './markdown.ts'

/** The help of a command may print more examples. */
const EXAMPLES_MAX = 2

interface Leaf {
  /** The whole name, such as `report preview`. */
  readonly name: string
  readonly group: string
  readonly command: Command
}

/** Lists the commands that a user can run, without mere parents of subcommands, in the order of `--help`. */
export async function listLeaves(): Promise<Leaf[]> {
  const program = await loadProgram()
  const within = (command: Command, name: string, group: string): Leaf[] =>
    command.commands.length === 0
      ? [{ name, group, command }]
      : command.commands.flatMap((each) => within(each, `${name} ${each.name()}`, group))
  return COMMANDS.flatMap(({ name, group }) =>
    program.commands.filter((each) => each.name() === name).flatMap((each) => within(each, name, group)),
  )
}

function loadProgram(): Promise<Command> {
  return createProgram(new AbortController().signal).loadAll()
}

export async function commandsPage(): Promise<string> {
  const leaves = await listLeaves()
  const groups = [...new Set(leaves.map(({ group }) => group))]
  return page(
    'Commands',
    `Every command of \`${CALLED}\`, with its options and examples. \`--help\` prints the same. An argument in \`[ ]\` may be left out. [Exit status and error codes](exit-and-error-codes.md) says how to read what a command prints.`,
    '## Options of every command',
    optionTable((await loadProgram()).options),
    ...groups.flatMap((group) => [
      `## ${group.replace(':', '')}`,
      ...leaves.filter((leaf) => leaf.group === group).map(commandSection),
    ]),
  )
}

function commandSection({ name, command }: Leaf): string {
  const { examples, note } = helpBelow(command)
  // Neither the bare command nor another with `--json` alone tells more than the options.
  const shown = examples
    .filter((line) => line !== `${CALLED} ${name}`)
    .filter((line) => !line.endsWith(' --json') || !examples.includes(line.replace(/ --json$/, '')))
    .slice(0, EXAMPLES_MAX)
  const rows = [
    ...command.registeredArguments.map((argument) => [
      code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
      argument.description,
    ]),
    ...command.options.map((option) => [code(option.flags), meaningOf(option)]),
  ]
  return [
    `### ${name}`,
    sentence(command.description()),
    ...(rows.length > 0 ? [table(['Option', 'Meaning'], rows)] : []),
    ...(note === '' ? [] : [note]),
    ...(shown.length > 0 ? [fenced('sh', shown.join('\n'))] : []),
  ].join('\n\n')
}

function optionTable(options: readonly Option[]): string {
  return table(
    ['Option', 'Meaning'],
    options.map((option) => [code(option.flags), meaningOf(option)]),
  )
}

function meaningOf({ description, argChoices, defaultValue, defaultValueDescription }: Option): string {
  const usual = defaultValueDescription ?? (typeof defaultValue === 'boolean' ? undefined : defaultValue)
  const choices = argChoices === undefined ? '' : `; one of ${argChoices.map(code).join(', ')}`
  return `${description}${choices}${usual === undefined ? '' : ` (default: ${code(String(usual))})`}`
}

/** Reads the examples and the note that the help of a command prints below its options. */
function helpBelow(command: Command): { readonly examples: string[]; readonly note: string } {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) })
  command.outputHelp()
  const below = help.slice(command.helpInformation().length)
  const examples = [...below.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = '']) => line)
  const note = below
    .replaceAll(/^(?:Examples:| {2}\$ .*)$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return { examples, note }
}

/**
 * Returns the man page in roff: the commands with their options, the environment variables and the exit
 * status.
 */
export async function manPage(): Promise<string> {
  const program = await loadProgram()
  const item = (term: string, text: string) => `.TP\n.B ${roff(term)}\n${roff(text)}`
  const optionItems = (options: readonly Option[]) =>
    options.map((option) => item(option.flags, meaningOf(option).replaceAll('`', '')))
  const commands = (await listLeaves()).flatMap(({ name, command }) => [
    `.SS ${roff(`${name} ${command.usage()}`)}`,
    roff(sentence(command.description())),
    ...optionItems(command.options),
  ])
  return `${[
    `.TH LEADSHEET 1 "" "leadsheet ${readVersion()}" "User Commands"`,
    '.SH NAME',
    'leadsheet \\- keep a local copy of a lead pipeline service and mail reports of it',
    '.SH SYNOPSIS',
    '.B leadsheet\n[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]',
    '.SH DESCRIPTION',
    roff(program.description()),
    '.SH OPTIONS',
    ...optionItems(program.options),
    '.SH COMMANDS',
    ...commands,
    '.SH ENVIRONMENT',
    item(CONFIG_VARIABLE, 'The settings file.'),
    ...Object.entries(VARIABLES).map(([name, path]) => item(name, `The setting ${pathText(path)}.`)),
    '.SH EXIT STATUS',
    ...Object.values(EXIT_STATUS).map(({ status, meaning }) => item(String(status), meaning)),
  ].join('\n')}\n`
}

/**
 * Escapes a text for roff. `npx leadsheet` becomes `leadsheet`, because the man page is for installed
 * programs.
 */
function roff(text: string): string {
  return text
    .replaceAll('npx leadsheet', 'leadsheet')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
}
